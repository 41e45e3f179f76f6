"""`bursty topics`: topics of documents, several per document."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bursty.cli.options import Checkpointing, Fitting, Output, PathArgument, Reading, Report
from bursty.cli.reading_models import document_table, topic_columns, topic_table, word_table
from bursty.cli.results import Results

TOPICS = ("dcmlda", "lda")


def topics(
    path: PathArgument,
    reading: Reading,
    fitting: Fitting,
    checkpointing: Checkpointing,
    output: Output,
    page: Report,
    k: Annotated[int, typer.Option("--k", min=1, metavar="N", help="Number of topics.")] = 10,
    model: Annotated[str, typer.Option("--model", metavar="NAME", help="dcmlda or lda.")] = "dcmlda",
    iterations: Annotated[
        int, typer.Option("--iterations", min=1, metavar="N", help="Maximum number of iterations.")
    ] = 200,
) -> None:
    """Find topics; each document is a mixture of them."""
    if model not in TOPICS:
        raise ValueError(f"--model must be dcmlda or lda, not {model!r}")
    with Results("topics", output, report=page.report) as results:
        corpus = reading.open(path)
        results.describe(path, corpus, reading, fitting.seed, k=k, model=model, iterations=iterations)
        run = fitting.parameters() | checkpointing.parameters()
        fitted = topic_model(model)(k, n_iter=iterations, **run).fit(corpus)
        results.facts |= {
            "topics": k,
            "iterations": fitted.n_iter_,
            "log_likelihood_per_word": fitted.trace_["log_likelihood"][-1],
        }
        mixtures = document_table(corpus, topic_columns(fitted.doc_topic_), shown=False)
        results.tables += [topic_table(fitted), mixtures, word_table(fitted, "topic")]
        results.keep(fitted, corpus)


def topic_model(name: str) -> Any:
    """The estimator class of this name."""
    from bursty.models.dcmlda import DCMLDA
    from bursty.models.lda import LDA

    return {"dcmlda": DCMLDA, "lda": LDA}[name]
