"""`bursty classify train`, `predict` and `evaluate`: classes of documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bursty.cli.evaluation import evaluate_classes
from bursty.cli.examples import epilog
from bursty.cli.groups import Command, Group, verb
from bursty.cli.messages import phase, say
from bursty.cli.options import Family, Fitting, ModelArgument, Output, PathArgument, Reading, Report
from bursty.cli.reading_models import document_table, inferred_columns, load, model_input, read_for, read_to_evaluate
from bursty.cli.results import Results
from bursty.wording import counted

if TYPE_CHECKING:
    from bursty.corpus import Corpus


def train(
    path: PathArgument,
    reading: Reading,
    fitting: Fitting,
    output: Output,
    page: Report,
    family: Family = "dcm",
    method: Annotated[
        str | None, typer.Option("--method", metavar="NAME", help="Method from the papers, such as C-DCM.")
    ] = None,
    hold_out: Annotated[
        float, typer.Option("--hold-out", min=0.0, max=0.9, metavar="SHARE", help="Share of the documents to hold out.")
    ] = 0.2,
) -> None:
    """Train a classifier on labelled documents, and evaluate it on others.

    Part of the documents is held out: measures, tables and report describe
    these. With --hold-out 0 the model is trained on every document.
    """
    with Results("classify train", output, report=page.report) as results:
        corpus = reading.read(path)
        check_classes(corpus, path)
        results.describe(path, corpus, reading, fitting.seed, family=family, method=method, hold_out=hold_out)
        train_part, held = _split(corpus, hold_out, fitting.seed)
        model = _classifier(family, method, fitting.jobs)
        with phase("learning"):
            model.fit(train_part, targets(train_part))
        results.facts |= {"classes": len(model.classes_), "documents_learned_from": len(train_part)}
        if held is not None:
            results.facts["documents_held_out"] = len(held)
            evaluate_classes(model, held, results)
            results.tables.append(document_table(held, inferred_columns(model, held), shown=False))
        results.keep(model, held)


def predict(model: ModelArgument, path: PathArgument, reading: Reading, output: Output) -> None:
    """Predict the classes of new documents."""
    saved = load(model, "classes")
    with Results("classify predict", output) as results:
        corpus = read_for(saved, path, reading)
        results.describe(path, corpus, reading, model=str(model))
        results.tables.append(document_table(corpus, inferred_columns(saved.model, model_input(saved, corpus))))


def evaluate(model: ModelArgument, path: PathArgument, reading: Reading, output: Output) -> None:
    """Compare predicted classes with known ones."""
    saved = load(model, "classes")
    with Results("classify evaluate", output) as results:
        corpus = read_to_evaluate(saved, path, reading)
        check_classes(corpus, path)
        results.describe(path, corpus, reading, model=str(model))
        evaluate_classes(saved.model, corpus, results)
        results.tables.append(document_table(corpus, inferred_columns(saved.model, corpus), shown=False))


def check_classes(corpus: Corpus, path: Path) -> None:
    """Raise an error for documents without classes, saying how to provide them."""
    if corpus.label_names is None:
        raise ValueError(
            f"the documents of {path} have no classes: name the column with --label, give a file with --labels, "
            "or put the documents into one folder per class"
        )


def targets(corpus: Corpus) -> Any:
    """Classes in the form that the classifier takes: names, or sets of names."""
    import numpy as np

    names = np.asarray(corpus.label_names)
    if corpus.is_multilabel and corpus.label_matrix is not None:
        table = corpus.label_matrix
        return [set(names[table.indices[a:b]]) for a, b in zip(table.indptr[:-1], table.indptr[1:], strict=True)]
    return names[corpus.labels]


def _classifier(family: str, method: str | None, jobs: int | None) -> Any:
    from bursty.models.classify import BayesClassifier

    if method is not None:
        return BayesClassifier.from_name(method, n_jobs=jobs)
    return BayesClassifier(family, n_jobs=jobs)


def _split(corpus: Corpus, share: float, seed: int) -> tuple[Corpus, Corpus | None]:
    """Training and held-out documents; documents without a class are in neither."""
    import numpy as np

    from bursty.corpus.splitting import split_rows

    if corpus.labels is not None and (corpus.labels < 0).any():
        without = int((corpus.labels < 0).sum())
        say(f"{counted(without, 'document without a class is', 'documents without a class are')} ignored")
        corpus = corpus.select(corpus.labels >= 0)
    if not share:
        return corpus, None
    labels = None if corpus.labels is None else np.asarray(corpus.labels)
    learned, held = split_rows(len(corpus), share, None, labels, seed)
    if labels is not None:
        # A class whose documents were all held out could not be learned.
        alone = ~np.isin(labels[held], labels[learned])
        learned, held = np.sort(np.append(learned, held[alone])), held[~alone]
    if not len(held):
        say("too few documents to hold any out: the model is trained on all of them and not evaluated")
        return corpus, None
    return corpus.select(learned), corpus.select(held)


def make_app() -> typer.Typer:
    """The three verbs."""
    app = typer.Typer(
        cls=Group, no_args_is_help=True, help="Train a classifier, and predict the classes of new documents."
    )
    for function in (train, predict, evaluate):
        app.command(cls=Command, epilog=epilog(f"classify {function.__name__}"))(verb(function))
    return app
