"""`bursty infer`, `evaluate` and `report`: uses of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bursty.cli.classify import check_classes
from bursty.cli.evaluation import evaluate_classes, evaluate_clusters
from bursty.cli.options import ModelArgument, Output, PathArgument, Reading
from bursty.cli.reading_models import (
    document_table,
    inferred_columns,
    kind_of,
    load,
    model_input,
    read_for,
    read_to_evaluate,
)
from bursty.cli.results import Results, write_report


def infer(model: ModelArgument, path: PathArgument, reading: Reading, output: Output) -> None:
    """Apply a saved model to new documents: clusters, classes or topics.

    Documents are read with the options of the fit and the vocabulary of the
    model; words that are not in it are ignored, and their number is reported.
    """
    saved = load(model)
    with Results("infer", output) as results:
        corpus = read_for(saved, path, reading)
        results.describe(path, corpus, reading, model=str(model))
        results.tables.append(document_table(corpus, inferred_columns(saved.model, model_input(saved, corpus))))


def evaluate(
    model: ModelArgument,
    reading: Reading,
    output: Output,
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH", help="Labelled documents; by default those saved with the model.", readable=False
        ),
    ] = None,
) -> None:
    """Compare clusters or classes of a saved model with known labels."""
    saved = load(model, "clusters", "classes")
    with Results("evaluate", output) as results:
        if path is None:
            if saved.corpus is None:
                raise ValueError(f"{model} was saved without documents: give some, bursty evaluate MODEL PATH")
            corpus = saved.corpus
        else:
            corpus = read_to_evaluate(saved, path, reading)
        check_classes(corpus, path or model)
        results.describe(path or model, corpus, reading, model=str(model))
        if kind_of(saved.model) == "classes":
            evaluate_classes(saved.model, corpus, results)
            return
        if corpus.is_multilabel:
            raise ValueError("clusters are compared with one label per document, but these documents have several")
        evaluate_clusters(_clusters(saved.model, corpus, path is None), corpus, results)


def report(
    model: ModelArgument,
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Output file.")] = Path("report.html"),
    no_texts: Annotated[bool, typer.Option("--no-texts", help="Leave out excerpts of the texts.")] = False,
) -> None:
    """Write a report on a saved model, one HTML file for any browser."""
    if out.is_dir():
        raise IsADirectoryError(f"--out must be a file, but {out} is a folder: give a name such as report.html")
    saved = load(model)
    write_report(out, saved.model, saved.corpus, saved.run, texts=not no_texts)
    print(out)


def _clusters(model: Any, corpus: Any, of_the_fit: bool) -> Any:
    return model.labels_ if of_the_fit and len(model.labels_) == len(corpus) else model.predict(corpus)
