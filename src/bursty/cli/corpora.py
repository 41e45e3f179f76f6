"""`bursty import` writes documents to one file; `bursty info` describes a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bursty.cli.messages import phase, say
from bursty.cli.options import Output, PathArgument, Reading
from bursty.cli.results import Results
from bursty.cli.tables import Table
from bursty.wording import counted

if TYPE_CHECKING:
    from bursty.corpus import Corpus

_BURSTY_WORDS = 10


def import_(
    path: PathArgument,
    reading: Reading,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Default: name of PATH with .bcorpus.")
    ] = None,
    shards: Annotated[
        bool, typer.Option("--shards", help="Write a folder of shards, for corpora larger than memory.")
    ] = False,
) -> None:
    """Read documents and save their word counts to one corpus file.

    Every verb also reads raw input; a corpus file loads faster, and gives
    everyone the same counts. With --shards, tables are read in parts, and
    cluster and topics work on the folder without loading it.
    """
    if shards:
        _import_shards(path, reading, out if out is not None else Path(f"{_stem(path)}.bshards"))
        return
    target = out if out is not None else Path(f"{_stem(path)}.bcorpus")
    if target.is_dir():
        raise IsADirectoryError(f"--out must be a file, but {target} is a folder: give a name such as corpus.bcorpus")
    if target.exists() and path.exists() and target.samefile(path):
        raise ValueError(f"{target} would overwrite its own input: choose another name with --out")
    corpus = reading.read(path)
    with phase("writing"):
        print(corpus.save(target))


def _import_shards(path: Path, reading: Reading, target: Path) -> None:
    from bursty.corpus import read_parts, write_shards

    if target.suffix != ".bshards":
        raise ValueError(f"the name of a folder of shards must end in .bshards, not {target.name}")
    with reading.in_options(), phase(f"reading {path.name} and writing shards"):
        written = write_shards(target, read_parts(path, reading.input_format, **reading.given()))
    sizes = {"document": len(written), "word": written.n_words, "shard": len(written.shards)}
    say(f"{target}: {', '.join(counted(size, what) for what, size in sizes.items())}")
    print(target)


def info(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="Corpus file, raw input or saved model.", readable=False)
    ],
    reading: Reading,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Describe a corpus, raw input or a saved model."""
    from bursty.storage import is_container

    with Results("info", Output(as_json=as_json)) as results:
        if path.is_dir() and (path / "model.bursty").is_file():
            path = path / "model.bursty"
        if path.is_file() and (path.suffix == ".bursty" or is_container(path, "model")):
            _describe_model(path, results)
        else:
            _describe_corpus(path, reading, results)


def _stem(path: Path) -> str:
    name = path.resolve().name
    return name.split(".")[0] or name


def _describe_corpus(path: Path, reading: Reading, results: Results) -> None:
    corpus = reading.read(path)
    results.describe(path, corpus, reading)
    results.facts |= corpus.describe().as_dict()
    for problem in _problems(corpus):
        say(f"warning: {problem}")
    if corpus.has_words and corpus.counts.nnz:
        results.tables.append(_bursty_words(corpus))
    if corpus.label_names is not None and corpus.label_matrix is not None:
        sizes = corpus.label_matrix.sum(axis=0)
        results.tables.append(Table("classes", {"class": corpus.label_names, "documents": sizes}, "Classes"))


def _bursty_words(corpus: Corpus) -> Table:
    """The words repeated most within documents, without very rare and very common words."""
    import numpy as np

    from bursty.metrics import burstiness

    documents = np.bincount(corpus.counts.indices, minlength=corpus.n_words)
    candidates = np.flatnonzero((documents >= min(5, len(corpus))) & (documents <= max(1, len(corpus) // 2)))
    if not len(candidates):
        candidates = np.flatnonzero(documents)
    per_word = burstiness(corpus.counts, axis="word")[candidates]
    best = candidates[np.argsort(-per_word, kind="stable")[:_BURSTY_WORDS]]
    columns = {
        "word": corpus.vocabulary[best],
        "documents": documents[best],
        "times_where_it_occurs": np.sort(-per_word, kind="stable")[:_BURSTY_WORDS] * -1.0,
    }
    return Table("bursty_words", columns, "Burstiest words")


def _problems(corpus: Corpus) -> list[str]:
    """Problems of the corpus that affect results."""
    about, found = corpus.describe(), []
    if about.empty_documents:
        empty = counted(about.empty_documents, "document has", "documents have")
        found.append(f"{empty} no words: rows without words are kept but carry no information")
    if about.documents < 20:
        few = counted(about.documents, "document is", "documents are")
        found.append(f"{few} few: clusters and topics will not be reliable")
    if about.tokens and about.burstiness < 1.05:
        found.append("words hardly ever repeat within a document: bursty models have nothing to gain here")
    if corpus.labels is not None and (corpus.labels < 0).any():
        without = int((corpus.labels < 0).sum())
        found.append(f"{counted(without, 'document has', 'documents have')} no class")
    return found


def _describe_model(path: Path, results: Results) -> None:
    from bursty.persistence import read

    saved = read(path)
    model, run = saved.model, saved.run or {}
    results.facts |= {"model": type(model).__name__, "words": model.n_features_in_}
    for name, attribute in (("clusters", "weights_"), ("clusters", "n_clusters_"), ("topics", "alpha_")):
        value = getattr(model, attribute, None)
        if value is not None and (name != "topics" or hasattr(model, "doc_topic_")):
            results.facts[name] = value if isinstance(value, int) else len(value)
    if hasattr(model, "classes_"):
        results.facts["classes"] = [str(name) for name in model.classes_]
    results.facts["documents_kept"] = 0 if saved.corpus is None else len(saved.corpus)
    results.facts |= {
        name: run[name] for name in ("command", "data", "seed", "started", "seconds") if run.get(name) is not None
    }
    results.facts |= {f"parameter_{name}": _short(value) for name, value in model.get_params(deep=False).items()}


def _short(value: Any) -> Any:
    return value if isinstance(value, str | int | float | None) else " ".join(repr(value).split())[:60]
