"""The panel common to all pages: facts about the run, its convergence, citations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import bursty
from bursty.families import family_of
from bursty.inference.stopping import LEAST_ESS, MOST_R_HAT
from bursty.plot import traces
from bursty.plot.selection import score_title
from bursty.report import charts
from bursty.report.content import Content, Panel
from bursty.report.source import ReportSource
from bursty.report.text import LONGEST_NAME, clean, duration, numbers, value
from bursty.wording import counted

_KEYS = ("command", "data", "parameters", "seed", "versions", "started", "seconds")
_MOST_POINTS = 400
# Quantities that show convergence; a trace without any of them is shown in full.
_TRACED = ("log_likelihood", "log_joint", "n_clusters", "n_words")


def check_run(run: Any) -> dict[str, Any]:
    """Facts about a run, all optional."""
    if run is None:
        return {}
    if not isinstance(run, Mapping):
        raise TypeError(f"run must be a dictionary of facts, not {type(run).__name__}")
    unknown = sorted(set(run) - set(_KEYS))
    if unknown:
        raise ValueError(
            f"run has unknown keys {', '.join(map(repr, unknown))}; the keys are {', '.join(map(repr, _KEYS))}"
        )
    return dict(run)


def add_run(content: Content, source: ReportSource, run: dict[str, Any]) -> None:
    """Add the last panel."""
    convergence = _convergence(content, source.model)
    facts = {
        "run": _facts(source, run),
        "parameters": _pairs(run.get("parameters", source.model.get_params(deep=False))),
        "corpus": _corpus(source),
        "versions": _pairs(run.get("versions", bursty._versions())),
        "tried": _numbers_tried(source.model),
        "convergence": convergence,
        "ended": _ended(source.model),
        "citations": citations(source.model),
    }
    content.panels.append(Panel("run", "The run", "run.html", facts))


def citations(model: Any) -> list[str]:
    """Citations of the model and of this library."""
    paper = getattr(model, "_citation", None)
    if paper is None and (family := family_of(model)) is not None:
        paper = family.citation
    library = (
        "The bursty developers. bursty: statistical models of counts that come in bursts. "
        f"Version {bursty.__version__}."
    )
    return [library, *([] if paper is None else [paper])]


def _facts(source: ReportSource, run: dict[str, Any]) -> list[tuple[str, str]]:
    seed = run.get("seed", getattr(source.model, "random_state", None))
    facts = [("Model", type(source.model).__name__)]
    facts += [(name.capitalize(), clean(run[name], 400)) for name in ("command", "data") if name in run]
    facts.append(("Seed", value(seed) if seed is not None else "none given: runs may differ"))
    if "started" in run:
        facts.append(("Started", clean(run["started"], LONGEST_NAME)))
    if "seconds" in run:
        facts.append(("Took", duration(float(run["seconds"]))))
    return facts


def _corpus(source: ReportSource) -> list[tuple[str, str]]:
    if source.corpus is None:
        return []
    about = source.corpus.describe()
    facts = [
        ("Name", clean(source.corpus.info.get("name", ""), LONGEST_NAME)),
        ("Origin", clean(source.corpus.info.get("origin", ""), 300)),
        ("Documents", f"{about.documents:,}"),
        ("Empty documents", f"{about.empty_documents:,}"),
        ("Words", f"{about.words:,}" + ("" if source.are_named else " (without names)")),
        ("Tokens", f"{about.tokens:,}"),
        ("Mean length", f"{about.mean_length:,.1f} tokens"),
        ("Burstiness", f"{about.burstiness:.2f} tokens per distinct word of a document"),
        ("Classes", f"{about.classes:,}"),
    ]
    return [(name, text) for name, text in facts if text and text != "0"]


def _pairs(facts: Any) -> list[tuple[str, str]]:
    items = facts.items() if isinstance(facts, Mapping) else [("", facts)]
    return [(clean(name, LONGEST_NAME), value(item)) for name, item in items]


def _numbers_tried(model: Any) -> dict[str, Any] | None:
    """Numbers of components that ``"auto"`` compared, and how surely the best is better than the others."""
    selection = getattr(model, "selection_", None)
    if selection is None or model.n_components != "auto":
        return None
    best, errors = np.max(selection.scores), selection.standard_errors
    title = score_title(selection.criterion)
    columns = ["Number", title[0].upper() + title[1:], "Difference from the best"]
    rows = [[f"{k:,}", f"{x:,.4f}", f"{x - best:,.4f}"] for k, x in zip(selection.ks, selection.scores, strict=True)]
    if np.any(errors):
        columns.append("Its standard error")
        rows = [[*row, f"{error:,.4f}"] for row, error in zip(rows, errors, strict=True)]
    chosen = ["chosen" if k == selection.n_components else "" for k in selection.ks]
    rows = [[*row, mark] for row, mark in zip(rows, chosen, strict=True)]
    return {"columns": [*columns, ""], "rows": rows, "have_errors": bool(np.any(errors))}


def unsettled(model: Any) -> str:
    """A sentence about chains that have not settled, if these have not."""
    if not hasattr(model, "diagnostics_") or model.converged_:
        return ""
    return " The chains have not settled: a longer run may find other clusters and words."


def _ended(model: Any) -> str:
    if not hasattr(model, "n_iter_"):
        return ""
    text = f"{counted(int(model.n_iter_), 'iteration')}."
    if getattr(model, "converged_", False):
        text += " It converged."
    elif hasattr(model, "diagnostics_"):
        text += unsettled(model)
    elif hasattr(model, "converged_"):
        text += " It did not converge: raise the limit or tol, or accept the current solution."
    diagnostics = getattr(model, "diagnostics_", None) or {}
    if diagnostics:
        text += f" Settled means an R-hat of at most {MOST_R_HAT:g} and an effective sample size of {LEAST_ESS:g}."
    for name, facts in diagnostics.items():
        text += f" {name.replace('_', ' ')}: R-hat {facts['r_hat']:.2f}, effective sample size {facts['ess']:.0f}."
    overlap = getattr(model, "chain_overlap_", None)
    if overlap is not None and len(overlap) > 1:
        text += f" Any two agree on {overlap.min():.0%} or more of the pairs of documents that either puts together."
    return text


def _convergence(content: Content, model: Any) -> list[str]:
    """One curve per quantity of the trace."""
    entries = getattr(model, "trace_", None)
    if not entries:
        return []
    series = traces.quantities(entries)
    made = []
    for name in [name for name in _TRACED if name in series] or list(series):
        chains = traces.comparable(entries, name)
        length = chains.shape[1]
        shown = np.unique(np.linspace(0, length - 1, min(length, _MOST_POINTS)).astype(int))
        starts = [(float(at) + 1, text) for at, text in traces.phases(entries)]
        title = traces.title(entries, name)
        caption = f"{title[0].upper()}{title[1:]} by iteration." + (" Dashed: phases of annealing." if starts else "")
        if name == "log_likelihood" and getattr(model, "_tempered", False):
            caption += (
                " This is what the fit maximises: the log-likelihood of a document is divided by the square root of"
                f" its number of distinct words. Undivided, its mean is {model.lower_bound_:,.1f} at the end."
            )
        x = [int(i) + 1 for i in shown]
        y = [numbers(values[shown], 8) for values in chains]
        content.charts[f"trace-{name}"] = charts.lines(x, y, ("iteration", title), caption, starts)
        made.append(f"trace-{name}")
    return made
