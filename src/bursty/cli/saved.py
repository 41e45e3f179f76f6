"""`bursty infer`, `evaluate` and `report`: what a saved model is good for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bursty.cli.classify import check_classes
from bursty.cli.delivery import Delivery, write_report
from bursty.cli.evaluation import evaluate_classes, evaluate_clusters
from bursty.cli.options import ModelArgument, Output, PathArgument, Reading
from bursty.cli.reading_models import document_table, inferred_columns, kind_of, load, read_for


def infer(model: ModelArgument, path: PathArgument, reading: Reading, output: Output) -> None:
    """Apply a saved model to new documents: clusters, classes or topics.

    Documents are read as those of the fit were, and counted in the words of
    the model; words that it does not know are left out, and their number said.
    """
    saved = load(model)
    with Delivery("infer", output) as results:
        corpus = read_for(saved, path, reading)
        results.describe(path, corpus, reading, model=str(model))
        results.tables.append(document_table(corpus, inferred_columns(saved.model, corpus)))


def evaluate(
    model: ModelArgument,
    reading: Reading,
    output: Output,
    path: Annotated[
        Path | None,
        typer.Argument(metavar="PATH", help="Documents with labels; those of the model if not given.", readable=False),
    ] = None,
) -> None:
    """Compare clusters or classes of a saved model with known labels."""
    saved = load(model, "clusters", "classes")
    with Delivery("evaluate", output) as results:
        if path is None:
            if saved.corpus is None:
                raise ValueError(
                    f"{model} has no documents in it: say which to evaluate on, bursty evaluate MODEL PATH"
                )
            corpus = saved.corpus
        else:
            corpus = read_for(saved, path, reading)
        check_classes(corpus, path or model)
        results.describe(path or model, corpus, reading, model=str(model))
        if kind_of(saved.model) == "classes":
            evaluate_classes(saved.model, corpus, results)
            return
        if corpus.is_multilabel:
            raise ValueError("clusters are compared with one label a document, and these documents have several")
        evaluate_clusters(_clusters(saved.model, corpus, path is None), corpus, results)


def report(
    model: ModelArgument,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page.")] = Path("report.html"),
) -> None:
    """Write one page about a saved model: open it in a browser, send it on."""
    if out.is_dir():
        raise IsADirectoryError(f"--out is a file here, and {out} is a folder: give a name such as report.html")
    saved = load(model)
    write_report(out, saved.model, saved.corpus, saved.run)
    print(out)


def _clusters(model: Any, corpus: Any, of_the_fit: bool) -> Any:
    return model.labels_ if of_the_fit and len(model.labels_) == len(corpus) else model.predict(corpus)
