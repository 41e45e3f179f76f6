"""Iterations of EM for mixtures on a card, for `benchmarks.gpu`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import cuda

from benchmarks.timing import median
from bursty import Mixture
from bursty.engines import Assignment, Documents, LocalEngine
from bursty.engines.card import on_card
from bursty.engines.cuda import CudaEngine
from bursty.families import get_family
from bursty.families.shared import Shared
from bursty.inference import cuda_em, em
from bursty.inference.starts import perturb

# Rows like embeddings: number of rows and of coordinates, and of groups that they are drawn from.
_ROWS, _COORDINATES, _GROUPS = 113_000, 384, 50


def steps(counts: sp.csr_array) -> Iterator[tuple[str, dict[str, float]]]:
    """Milliseconds of the steps of each family, and what its sums reach, with six copies of the counts."""
    documents = CudaEngine(None).place(sp.csr_array(sp.vstack([counts] * 6, format="csr")))
    for n_components in (20, 100):
        for family in ("edcm", "dcm"):
            found, state = _steps(documents, family, n_components)
            if family == "edcm":
                found |= _sums_of_counts(documents, state, n_components)
            yield f"{family}, K = {n_components}", found
    rows = embeddings(_ROWS, _COORDINATES, _GROUPS)
    for n_components in (20, 100):
        documents = CudaEngine(None).place(rows)
        found, state = _steps(documents, "vonmisesfisher", n_components)
        found |= _products_of_rows(documents, state, n_components)
        found |= {f"{name}, on the processor": ms for name, ms in _steps(
            LocalEngine(None).place(rows), "vonmisesfisher", n_components, rounds=2)[0].items()}  # fmt: skip
        yield f"vonmisesfisher, K = {n_components}", found


def embeddings(n_rows: int, n_coordinates: int, n_groups: int) -> Any:
    """Directions around some means, in single precision."""
    rng = np.random.default_rng(0)
    means = rng.standard_normal((n_groups, n_coordinates), dtype=np.float32)
    rows = means[rng.integers(n_groups, size=n_rows)]
    rows += rng.standard_normal(rows.shape, dtype=np.float32)
    return rows


def _steps(
    documents: Documents, name: str, n_components: int, rounds: int = 5
) -> tuple[dict[str, float], em.MixtureState]:
    problem = em.Problem(documents, get_family(name), documents.split(None), n_components, 0.05)
    state = perturb(problem, np.random.default_rng(0))
    everyone = documents.split(Assignment.single(np.ones(documents.n_documents)))
    prior = None
    if problem.family.can_share:
        stats = documents.sum(problem.family.summarize, everyone)
        prior = Shared.of(problem.family, stats, documents.n_documents, Mixture().shrinkage)
    found = {}
    # The default comes last: its state is returned.
    for title, own in (("maximum likelihood", None), ("the shared prior", prior)):
        problem = replace(problem, prior=own)
        for _ in range(3):
            stats = problem.step(state, 1.0, None)[1].expectation
            state = problem.maximise(stats, state.params)

        def expectation(problem: em.Problem = problem, state: em.MixtureState = state) -> None:
            state.params.forget()
            problem.step(state, 1.0, None)

        def maximise(problem: em.Problem = problem, state: em.MixtureState = state, stats: Any = stats) -> None:
            problem.maximise(stats, state.params)

        found["E step, ms"] = 1e3 * _waited(expectation, rounds)
        found[f"M step of {title}, ms"] = 1e3 * _waited(maximise, rounds)
    return found, documents.fetch(state)


def _sums_of_counts(documents: Any, state: em.MixtureState, n_components: int) -> dict[str, float]:
    """The two sums of an EDCM pass: bytes of rows and indices that they read."""
    card = cuda_em.CardChunk(documents.chunks[0])
    resp = on_card(np.random.default_rng(0).random((documents.n_documents, n_components), dtype=np.float32))
    table, n_bytes = on_card(state.params.rounded.log_table), 4 * (n_components + 1) * documents.n_cells
    found = {}
    for name, rows in (("words", table), ("by word", resp)):
        pattern = card.pattern(name)
        seconds = _waited(lambda p=pattern, r=rows: p.sum_rows(r))
        found |= {f"sums {name}, ms": 1e3 * seconds, f"sums {name}, GB/s": n_bytes / seconds / 1e9}
    return found


def _products_of_rows(documents: Any, state: em.MixtureState, n_components: int) -> dict[str, float]:
    """The two products of a von Mises-Fisher pass: their operations, and the bytes of the rows."""
    points, found = cuda_em.CardChunk(documents.chunks[0]).points, {}
    resp = on_card(np.random.default_rng(0).random((documents.n_documents, n_components), dtype=np.float32))
    table, constants = on_card(state.params.mu * state.params.kappa), on_card(np.zeros(n_components))
    n_cells = documents.n_documents * documents.n_words
    for name, part in (
        ("rows by table", lambda: points.products(table, constants)),
        ("rows by responsibilities", lambda: points.sum_rows(resp)),
    ):
        seconds = _waited(part)
        found[f"{name}, ms"] = 1e3 * seconds
        found[f"{name}, G operations/s"] = 2 * n_components * n_cells / seconds / 1e9
        found[f"{name}, GB/s of rows"] = 4 * n_cells / seconds / 1e9
    return found


def _waited(part: Callable[[], Any], rounds: int = 5) -> float:
    return median(lambda: (part(), cuda.synchronize()), rounds)
