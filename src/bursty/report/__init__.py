"""One self-contained HTML page about a fitted model: what it found, how, and on what.

`render` gives the page as a string, `write` makes a file of it. What a page says is put together by `clusters`,
`topics` and `classifier`, each from a `source.Source`; `run` adds what all pages have; `page` makes the HTML.

This folder may import `bursty.plot`, `bursty.families`, `bursty.corpus`, `bursty.metrics` and `bursty.storage`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from bursty.report.classifier import classifier_content
from bursty.report.clusters import cluster_content
from bursty.report.page import assemble
from bursty.report.run import add_run, check_run
from bursty.report.source import Source
from bursty.report.topics import topic_content
from bursty.storage import replacing

__all__ = ["render", "write"]

# What a fitted model has tells what kind of page it gets.
_KINDS = (("labels_", cluster_content), ("doc_topic_", topic_content), ("class_count_", classifier_content))


def render(model: Any, corpus: Any = None, run: Any = None, *, texts: bool = True) -> str:
    """The report of a fitted model, as one HTML page.

    Parameters
    ----------
    model : fitted Mixture, DPMFS, LDA, DCMLDA or BayesClassifier
    corpus : Corpus, optional
        The documents to show. For clusters and topics: those of the fit, or others with the same vocabulary. For a
        classifier: labelled documents that it was *not* fitted on, by which it is judged. Without it the page has
        what the model alone knows.
    run : dict, optional
        What was run, any of ``command``, ``data``, ``parameters``, ``seed``, ``versions``, ``started``, ``seconds``.
    texts : bool, default True
        Show excerpts where the corpus has its texts. False leaves them out, for data that must not be shown.

    Returns
    -------
    str
    """
    facts = check_run(run)
    check_is_fitted(model)
    for attribute, make in _KINDS:
        if hasattr(model, attribute):
            source = Source.of(model, corpus if texts or corpus is None else _without_texts(corpus))
            content = make(source)
            add_run(content, source, facts)
            return assemble(content, named=source.are_named)
    raise TypeError(
        f"there is no report for {type(model).__name__}: give a Mixture, DPMFS, LDA, DCMLDA or BayesClassifier"
    )


def write(path: str | Path, model: Any, corpus: Any = None, run: Any = None, *, texts: bool = True) -> Path:
    """`render` into a file, which is there whole or not at all.

    Parameters
    ----------
    path : str or Path
        Where to; a file that is there is replaced.
    model, corpus, run, texts
        As in `render`.

    Returns
    -------
    Path
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: name the file too, such as {target / 'report.html'}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist: make it first")
    text = render(model, corpus, run, texts=texts)
    with replacing(target) as file:
        file.write(text.encode("utf-8", errors="replace"))
    return target


def _without_texts(corpus: Any) -> Any:
    return corpus.without_texts() if hasattr(corpus, "without_texts") else corpus
