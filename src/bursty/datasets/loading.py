"""`load`: corpora by name."""

from __future__ import annotations

import difflib
import importlib
import inspect
from collections.abc import Callable
from typing import Any

from bursty.corpus import Corpus, TextOptions
from bursty.datasets.fetch import check_sha256, find, find_beside
from bursty.datasets.registry import REGISTRY, Dataset

# Options that make a corpus smaller, so that its number of documents cannot be checked.
_SUBSETS = frozenset({"subset", "max_documents"})


def names() -> list[str]:
    """Names of the corpora that `load` can read.

    See Also
    --------
    load

    Examples
    --------
    >>> from bursty.datasets import names
    >>> "classic400" in names()
    True
    """
    return list(REGISTRY)


def load(name: str, *, verify: bool = True, **options: Any) -> Corpus:
    """Load a corpus by name.

    Files are searched in the folder given by the environment variable ``BURSTY_DATA``, then in the cache, and are then
    downloaded if the collection is publicly available.

    Parameters
    ----------
    name : str
        One of `names`.
    verify : bool, default True
        Whether to verify the checksum of the file, if it is known, and the number of documents read.
    **options
        Options of the collection: ``headers`` and ``attachments`` for 20news-18828, ``subset`` and ``title`` for
        reuters21578, ``labels`` for arxiv and sotu, ``max_documents`` for arxiv and cve; and for collections of texts
        everything of `bursty.corpus.TextOptions`, such as ``min_df`` and ``stop_words``.

    Returns
    -------
    Corpus
        ``info`` has its name and origin, and a note to be cited with results, if any.

    See Also
    --------
    names : What can be loaded.
    make_bursty_mixture : Documents that need no download.
    DatasetUnavailable : What is raised where a collection is missing.

    Examples
    --------
    >>> from bursty.datasets import load
    >>> corpus = load("reuters21578", subset="train", stop_words="english")  # doctest: +SKIP
    """
    entry = _entry(name)
    loader = _loader(entry)
    _check_options(entry.name, loader, options)
    if not entry.files:
        corpus = loader(**options)
    else:
        path, file = find(entry)
        beside = find_beside(entry, path)
        if verify:
            check_sha256(path, file, entry.name)
            for other, known in zip(beside, entry.beside, strict=True):
                check_sha256(other, known, entry.name)
        corpus = loader(path, *beside, **options)
        if verify and not _SUBSETS & set(options) and len(corpus) != entry.documents:
            raise ValueError(
                f"{path} has {len(corpus):,} documents, but {entry.name} should have {entry.documents:,}: it is "
                "damaged or another version; pass verify=False to use it anyway"
            )
    info = {"name": entry.name, "origin": entry.origin}
    return corpus.with_info(**(info | ({"note": entry.note} if entry.note else {})))


def _entry(name: str) -> Dataset:
    if name in REGISTRY:
        return REGISTRY[name]
    near = difflib.get_close_matches(name, REGISTRY, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"the corpora are {', '.join(REGISTRY)}"
    raise ValueError(f"there is no corpus {name!r}; {hint}")


def _loader(entry: Dataset) -> Callable[..., Corpus]:
    module, function = entry.loader.split(":")
    loader: Callable[..., Corpus] = getattr(importlib.import_module(f"bursty.datasets.{module}"), function)
    return loader


def _check_options(name: str, loader: Callable[..., Corpus], options: dict[str, Any]) -> None:
    parameters = inspect.signature(loader).parameters.values()
    takes = {p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        takes |= TextOptions.names()
    for option in options:
        if option not in takes:
            known = f"it takes {', '.join(sorted(takes))}" if takes else "it takes none"
            raise TypeError(f"the corpus {name!r} has no option {option!r}; {known}")
