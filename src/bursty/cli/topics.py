"""`bursty topics`: topics of documents, several per document."""

from __future__ import annotations

import pkgutil
import re
from importlib import import_module
from typing import Annotated, Any

import typer

from bursty import models
from bursty.cli.hints import hint_common_words
from bursty.cli.messages import say
from bursty.cli.options import Checkpointing, Fitting, Output, PathArgument, Reading, Report, number_of
from bursty.cli.reading_models import document_table, numbers_tried, topic_columns, topic_table, word_table
from bursty.cli.results import Results
from bursty.inference import topics as methods
from bursty.wording import counted

# A topic model has a module of its name in both folders; neither folder imports anything by itself.
_BOTH = ({module.name for module in pkgutil.iter_modules(folder.__path__)} for folder in (models, methods))
TOPICS = tuple(sorted(set.intersection(*_BOTH)))
_NAMES = " or ".join(TOPICS)
# Default number of topics.
_USUAL = 10


def topics(
    path: PathArgument,
    reading: Reading,
    fitting: Fitting,
    checkpointing: Checkpointing,
    output: Output,
    page: Report,
    k: Annotated[
        str | None, typer.Option("--k", metavar="N|auto", help="Number of topics, 10 by default; auto selects it.")
    ] = None,
    model: Annotated[str, typer.Option("--model", metavar="NAME", help=f"{_NAMES}.")] = "dcmlda",
    iterations: Annotated[
        int, typer.Option("--iterations", min=1, metavar="N", help="Maximum number of iterations.")
    ] = 400,
    engine: Annotated[
        str, typer.Option("--engine", metavar="NAME", help="Execution engine, such as cuda (NVIDIA GPU).")
    ] = "local",
) -> None:
    """Find topics; each document is a mixture of them."""
    if model not in TOPICS:
        raise ValueError(f"--model must be {_NAMES}, not {model!r}")
    check_engine(engine)
    chosen = number_of(k)
    with Results("topics", output, report=page.report) as results:
        corpus = reading.open(path)
        n_topics = min(_USUAL, corpus.n_words, max(1, len(corpus) // 2)) if chosen is None else chosen
        results.describe(path, corpus, reading, fitting.seed, k=n_topics, model=model, iterations=iterations)
        hint_common_words(corpus)
        if n_topics == "auto":
            say("selecting the number of topics; --k N sets it and saves this time")
        elif chosen is None:
            say(f"{counted(n_topics, 'topic')}; --k N sets another number, --k auto selects one")
        run = fitting.parameters() | checkpointing.parameters()
        fitted = topic_model(model)(n_topics, n_iter=iterations, engine=engine, **run).fit(corpus)
        results.facts |= {
            "topics": len(fitted.alpha_),
            "iterations": fitted.n_iter_,
            "log_likelihood_per_word": fitted.trace_["log_likelihood"][-1],
        }
        if n_topics == "auto":
            tried = "Log-probability of a held-out token, by number of topics"
            results.tables.append(numbers_tried(fitted.selection_, tried))
        fitted.rename(fitted.suggest_names(corpus))
        mixtures = document_table(corpus, topic_columns(fitted, fitted.doc_topic_), shown=False)
        results.tables += [topic_table(fitted), mixtures, word_table(fitted, "topic")]
        results.keep(fitted, corpus)


def check_engine(name: str) -> None:
    """Fail before any document is read."""
    from bursty.engines import DEVICES, get_engine  # loads the kernels, which help does not need

    if name not in DEVICES:
        raise ValueError(f"--engine must be {' or '.join(DEVICES)}, not {name!r}")
    try:
        get_engine(name)
    except (ImportError, RuntimeError) as error:
        raise ValueError(re.sub(r'engine="(\w+)"', r"--engine \1", str(error))) from None


def topic_model(name: str) -> Any:
    """The estimator class of this name."""
    module = import_module(f"{models.__name__}.{name}")
    return next(value for key, value in vars(module).items() if key.lower() == name and isinstance(value, type))
