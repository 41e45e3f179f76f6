"""Mixtures against scikit-learn's KMeans, exact DCM against EDCM, and time against size."""

from __future__ import annotations

import time
import tracemalloc
import warnings
from functools import partial

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import TfidfTransformer

from benchmarks.timing import side_by_side, table
from bursty import Mixture, datasets
from bursty.engines import LocalEngine
from bursty.families import get_family
from bursty.inference import em
from bursty.inference.runs import advance
from bursty.inference.starts import perturb
from bursty.inference.stopping import RelativeChange


def dcm_against_edcm(rounds=9):
    rows = []
    for name, k in (("classic400", 3), ("nips391", 9)):
        corpus = datasets.load(name)
        models = {f: Mixture.from_paper("elkan2006", k, family=f, random_state=0) for f in ("edcm", "dcm")}
        times = side_by_side({f: partial(model.fit, corpus) for f, model in models.items()}, rounds)
        rows.append((name, 1e3 * times["edcm"], 1e3 * times["dcm"], times["dcm"] / times["edcm"], "<= 3"))
    table("Clustering to convergence", rows, ("corpus", "EDCM ms", "DCM ms", "DCM / EDCM", "goal"))


def problem_of(counts, k, n_jobs=None):
    documents = LocalEngine(n_jobs).place(counts)
    return em.Problem(documents, get_family("edcm"), documents.split(None), k, 0.05)


def iteration(problem, state, n_iter=1):
    """EM iterations: E step, statistics, M step."""
    schedule = em.Schedule((1.0,), n_iter, RelativeChange(-1.0))
    return advance(em.Run(problem, schedule, state)).state


def against_kmeans(counts, rounds=9):
    directions = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    rows = []
    for k in (20, 100):
        problem = problem_of(counts, k)
        first = iteration(problem, perturb(problem, np.random.default_rng(0)))
        later = iteration(problem, first, 6)
        centres = directions[:k].toarray()

        def lloyd(n_iter, k=k, centres=centres):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                return KMeans(k, init=centres, n_init=1, max_iter=n_iter, tol=0.0, algorithm="lloyd").fit(directions)

        times = side_by_side(
            {
                "six": lambda: lloyd(6),
                "one": lambda: lloyd(1),
                **{
                    f"{n}, {name}": partial(iteration, problem, state, n)
                    for n in (6, 1)
                    for name, state in (("first", first), ("later", later))
                },
            },
            rounds,
        )
        lloyds = (times["six"] - times["one"]) / 5
        for name in ("first", "later"):  # documents become certain of their component, and then cost less
            em_step = (times[f"6, {name}"] - times[f"1, {name}"]) / 5
            rows.append((k, name, 1e3 * lloyds, 1e3 * em_step, lloyds / em_step, ">= 3"))
    header = ("K", "iterations", "Lloyd ms", "EDCM EM ms", "times faster", "goal")
    table("One iteration on 20 newsgroups", rows, header)

    times = side_by_side(
        {
            "KMeans(n_init=1)": lambda: KMeans(20, n_init=1, random_state=0).fit(directions),
            "Mixture(20)": lambda: Mixture(20, random_state=0).fit(counts),
        },
        rounds=1,
    )
    rows = [(name, t, t / times["KMeans(n_init=1)"], "<= 1" if "Mix" in name else "") for name, t in times.items()]
    table("Whole fit on 20 newsgroups, K = 20", rows, ("what", "seconds", "x KMeans", "goal"))


def growth(counts):
    """Time of an iteration against documents and against K, over two decades each."""
    rows = []
    for n in (188, 1882, 18828):
        problem = problem_of(counts[:n], 20)
        rows.append(_growth_row(f"{n} documents", counts[:n].nnz, 20, problem))
    for k in (2, 20, 200):
        rows.append(_growth_row(f"{k} components", counts[:4000].nnz, k, problem_of(counts[:4000], k)))
    table("An iteration against size", rows, ("what", "non-zeros x K", "ms", "ns per non-zero and component"))


def _growth_row(what, nnz, k, problem):
    state = iteration(problem, perturb(problem, np.random.default_rng(0)))
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        iteration(problem, state)
        seconds.append(time.perf_counter() - start)
    median = float(np.median(seconds))
    return what, nnz * k, 1e3 * median, 1e9 * median / (nnz * k)


def memory(counts, k=20):
    """Peak of what Python allocates in a fit beyond the data, in tables of words x components."""
    one_table = counts.shape[1] * k * 8
    data = counts.data.nbytes + counts.indices.nbytes + counts.indptr.nbytes
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        Mixture.from_paper("elkan2006", k, random_state=0, max_iter=2).fit(counts)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    rows = [(data / 2**20, one_table / 2**20, peak / 2**20, (peak - data) / one_table)]
    table(
        "Memory of a fit on 20 newsgroups, K = 20",
        rows,
        ("data MB", "W x K table MB", "peak beyond the input MB", "less one copy of the data, in tables"),
    )


def main() -> None:
    dcm_against_edcm()
    counts = sp.csr_array(datasets.load("20news-18828").filter_words(min_df=2).counts)
    against_kmeans(counts)
    growth(counts)
    memory(counts)


if __name__ == "__main__":
    main()
