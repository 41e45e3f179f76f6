"""`bursty compare`: which model describes the documents of a corpus best?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bursty.cli.messages import interrupts
from bursty.cli.options import Fitting, Output, PathArgument, Reading
from bursty.cli.results import Results
from bursty.cli.tables import Table
from bursty.cli.topics import TOPICS, topic_model
from bursty.progress import Report, progress

if TYPE_CHECKING:
    from bursty.corpus import Corpus

_LEAST = 8
# The verdict on burstiness compares these two.
_PLAIN, _BURSTY = "multinomial", "dcm"


def compare(
    path: PathArgument,
    reading: Reading,
    fitting: Fitting,
    output: Output,
    k: Annotated[int, typer.Option("--k", min=1, metavar="N", help="Number of topics of LDA and DCMLDA.")] = 10,
    hold_out: Annotated[
        float,
        typer.Option("--hold-out", min=0.05, max=0.9, metavar="SHARE", help="Share of the documents to hold out."),
    ] = 0.2,
    iterations: Annotated[
        int, typer.Option("--iterations", min=1, metavar="N", help="Iterations of the topic models.")
    ] = 100,
) -> None:
    """Compare all families and topic models on held-out documents."""
    with Results("compare", output) as results:
        corpus = reading.read(path)
        if len(corpus) < _LEAST:
            raise ValueError(f"{path} has fewer than {_LEAST} documents, too few to compare models on")
        results.describe(path, corpus, reading, fitting.seed, k=k, hold_out=hold_out, iterations=iterations)
        learned, held = _split(corpus, path, hold_out, fitting.seed)
        models = _models(k, iterations, fitting)
        found = {}
        n_steps = len(models) + iterations * sum(name in TOPICS for name in models)
        with progress("comparing models", n_steps, True) as report:
            for name, perplexity in models.items():
                found[name] = perplexity(learned, held, report)
                report(name)
                interrupts.check()
        results.facts |= {"documents_learned_from": len(learned), "documents_compared_on": len(held)}
        results.tables.append(_ranking(found))
        results.verdict = verdict(found)


def _split(corpus: Corpus, path: Path, share: float, seed: int) -> tuple[Corpus, Corpus]:
    """Training and held-out documents; words found only in the latter are dropped, as no model could predict them."""
    learned, held = corpus.drop_empty().split(test_size=share, random_state=seed)
    seen = learned.counts.sum(axis=0) > 0
    learned, held = learned.select_words(seen), held.select_words(seen).drop_empty()
    if not held.counts.nnz:
        raise ValueError(f"the documents of {path} share too few words for a comparison")
    return learned, held


def _models(k: int, iterations: int, fitting: Fitting) -> dict[str, Callable[[Corpus, Corpus, Report], float]]:
    """Functions of a training and a test corpus that return the perplexity of the latter; topic models report steps."""
    from bursty.families import FAMILIES

    def family(name: str) -> Callable[[Corpus, Corpus, Report], float]:
        kind, of_family = FAMILIES[name], FAMILIES[name]._family
        settings: dict[str, Any] = {"smoothing": 0.01} if of_family.smooths else {}
        options: dict[str, Any] = {} if of_family.is_normalised else {"normalized": True}
        return lambda learned, held, report: (
            kind(**settings, n_jobs=fitting.jobs).fit(learned).perplexity(held, **options)
        )

    def topics(name: str) -> Callable[[Corpus, Corpus, Report], float]:
        settings = {"n_iter": iterations, "tol": 0.0, "random_state": fitting.seed, "n_jobs": fitting.jobs}

        def perplexity(learned: Corpus, held: Corpus, report: Report) -> float:
            model = topic_model(name)(min(k, learned.n_words), **settings)
            model._on_iteration = lambda trace: report(name)
            return float(model.fit(learned).perplexity(held))

        return perplexity

    families = [name for name, kind in FAMILIES.items() if kind._family.has_perplexity]
    return {name: family(name) for name in families} | {name: topics(name) for name in TOPICS}


def _ranking(found: dict[str, float]) -> Table:
    import math

    order = sorted(found, key=found.__getitem__)
    columns = {
        "model": order,
        "perplexity": [found[name] for name in order],
        "log_likelihood_per_word": [-math.log(found[name]) for name in order],
        "against_multinomial": [found[name] / found[_PLAIN] - 1.0 for name in order],
    }
    return Table("models", columns, "Perplexity of held-out documents (lower is better)")


def verdict(found: dict[str, float]) -> str:
    """The comparison in words."""
    best = min(found, key=found.__getitem__)
    gain = 1.0 - found[_BURSTY] / found[_PLAIN]
    if gain > 0.02:
        bursts = f"Words come in bursts here: allowing for that (DCM) cuts the uncertainty about a word by {gain:.0%}."
    elif gain > -0.02:
        bursts = "Words hardly come in bursts here: the DCM and the multinomial describe the documents equally well."
    else:
        bursts = "Words do not come in bursts here: the multinomial describes the documents better than the DCM."
    alone = min(perplexity for name, perplexity in found.items() if name not in TOPICS)
    topics = min(found[name] for name in TOPICS) / alone - 1.0
    if topics < -0.02:
        bursts += f" Topics help too: {-topics:.0%} less than the best single distribution."
    advice = f"topics --model {best}" if best in TOPICS else f"cluster --family {best}"
    return f"{bursts} Best of {len(found)} models: {best}; 'bursty {advice}' fits this corpus."
