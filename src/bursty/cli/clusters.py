"""`bursty cluster` and `bursty discover`: groups of documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bursty.cli.hints import hint_common_words
from bursty.cli.messages import say
from bursty.cli.options import FAMILY_HELP, Checkpointing, Fitting, Output, PathArgument, Reading, Report, number_of
from bursty.cli.reading_models import cluster_table, document_table, name_column, numbers_tried, word_table
from bursty.cli.results import Results
from bursty.cli.tables import Table
from bursty.wording import counted

if TYPE_CHECKING:
    from bursty.corpus import Corpus, ShardedCorpus

# Default number of clusters: enough to see structure, few enough to read.
_USUAL = 8
_LEAST_FOR_AUTO = 6


def cluster(
    path: PathArgument,
    reading: Reading,
    fitting: Fitting,
    checkpointing: Checkpointing,
    output: Output,
    page: Report,
    k: Annotated[
        str | None, typer.Option("--k", metavar="N|auto", help="Number of clusters, 8 by default; auto selects it.")
    ] = None,
    family: Annotated[str, typer.Option("--family", metavar="NAME", help=f"auto, {FAMILY_HELP}")] = "auto",
    init: Annotated[
        str, typer.Option("--init", metavar="NAME", help="Initialisation: auto, lsa, hellinger, kmeans or perturb.")
    ] = "auto",
    starts: Annotated[int, typer.Option("--starts", min=1, metavar="N", help="Number of runs; the best is kept.")] = 1,
    iterations: Annotated[
        int, typer.Option("--iterations", min=1, metavar="N", help="Maximum number of iterations.")
    ] = 500,
) -> None:
    """Cluster documents that use the same words."""
    chosen = number_of(k)
    with Results("cluster", output, report=page.report) as results:
        corpus = _read_several(reading, path)
        n_components = min(_USUAL, len(corpus) // 2) if chosen is None else chosen
        if n_components == "auto" and len(corpus) < _LEAST_FOR_AUTO:
            raise ValueError(
                f"{path} has {counted(len(corpus), 'document')}, too few for --k auto: give the number, such as --k 2"
            )
        from bursty.models.mixture import Mixture

        results.describe(path, corpus, reading, fitting.seed, k=n_components, family=family, init=init, starts=starts)
        if n_components == "auto":
            say("selecting the number of clusters; --k N sets it and saves this time")
        elif chosen is None:
            say(f"{counted(n_components, 'cluster')}; --k N sets another number, --k auto selects one")
        hint_common_words(corpus)
        run = fitting.parameters() | checkpointing.parameters()
        model = Mixture(n_components, family=family, init=init, n_init=starts, max_iter=iterations, **run).fit(corpus)
        results.facts |= {
            "clusters": int((model.sizes_ > 0).sum()),
            "iterations": model.n_iter_,
            "log_likelihood_per_document": model.lower_bound_,
        }
        if not model.sizes_.all():
            results.facts["clusters_without_documents"] = int((model.sizes_ == 0).sum())
        if n_components == "auto":
            results.tables.append(numbers_tried(model.selection_, "Held-out log-likelihood, by number of clusters"))
        results.tables += _tables(model, corpus)
        results.keep(model, corpus)


def discover(
    path: PathArgument,
    reading: Reading,
    fitting: Fitting,
    checkpointing: Checkpointing,
    output: Output,
    page: Report,
    max_k: Annotated[
        int | None,
        typer.Option("--max-k", min=1, metavar="N", help="Upper bound on the number of clusters."),
    ] = None,
    family: Annotated[
        str,
        typer.Option("--family", metavar="NAME", help="dcm or multinomial; auto is dcm, except with --sampler paper."),
    ] = "auto",
    sampler: Annotated[str, typer.Option("--sampler", metavar="NAME", help="collapsed or paper.")] = "collapsed",
    iterations: Annotated[
        int | None,
        typer.Option("--iterations", min=2, metavar="N", help="Number of sweeps; by default until the chains settle."),
    ] = None,
) -> None:
    """Find clusters, their number, and their discriminative words."""
    with Results("discover", output, report=page.report) as results:
        corpus = _read_several(reading, path)
        from bursty.models.dpmfs import DPMFS

        chosen: dict[str, Any] = {} if iterations is None else {"n_iter": iterations, "burn_in": iterations // 2}
        results.describe(path, corpus, reading, fitting.seed, max_k=max_k, family=family, sampler=sampler, **chosen)
        hint_common_words(corpus)
        chosen |= fitting.parameters() | checkpointing.parameters()
        model = DPMFS(max_k, family=family, sampler=sampler, **chosen).fit(corpus)
        results.facts |= {
            "clusters": int(model.n_clusters_),
            "sweeps": int(model.n_iter_),
            "settled": bool(model.converged_),
            "discriminative_words": int(model.discriminative_.sum()),
            "words": corpus.n_words,
        }
        results.tables += [*_tables(model, corpus), _chosen_words(model, corpus)]
        results.keep(model, corpus)


def _read_several(reading: Reading, path: Path) -> Corpus | ShardedCorpus:
    corpus = reading.open(path)
    if len(corpus) < 2:
        raise ValueError(f"{path} has one document: clusters need at least two")
    return corpus


def _tables(model: Any, corpus: Corpus | ShardedCorpus) -> list[Table]:
    """Tables of clusters, documents and words; documents are assigned as in the fit."""
    model.rename(model.suggest_names(corpus))
    names = name_column(model, model.labels_)
    columns = {"cluster": model.labels_, "name": names, "probability": model.probabilities_}
    return [cluster_table(model), document_table(corpus, columns, shown=False), word_table(model, "cluster")]


def _chosen_words(model: Any, corpus: Corpus | ShardedCorpus) -> Table:
    columns = {
        "word": corpus.vocabulary,
        "inclusion_probability": model.inclusion_prob_,
        "log_bayes_factor": model.log_bayes_factor_,
        "discriminative": model.discriminative_,
    }
    return Table("word_selection", columns, shown=False)
