"""One pass of EM (log-probabilities, soft-max, statistics) against two scipy.sparse products, on 20 newsgroups."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks.timing import side_by_side, table
from bursty import datasets
from bursty.engines import Chunk
from bursty.families.edcm import EDCMFamily
from bursty.kernels import threads
from bursty.kernels.posterior import posterior


def main() -> None:
    counts = datasets.load("20news-18828").filter_words(min_df=2).counts
    chunk = Chunk(counts)
    pattern = sp.csr_array((np.ones(counts.nnz), counts.indices, counts.indptr), shape=counts.shape)
    family, rng = EDCMFamily(), np.random.default_rng(0)
    rows = []
    for k in (20, 100):
        resp = rng.dirichlet(np.ones(k), size=counts.shape[0])
        params = family.update(family.summarize(chunk, resp))
        log_beta = np.log(params.beta)
        log_weights = np.full(k, -np.log(k))

        def bursty_pass(n_threads, params=params, log_weights=log_weights):
            with threads.using(n_threads):
                log_prob = family.log_prob(chunk, params)
                resp = posterior(log_prob, log_weights, 1.0)[0]
                return family.summarize(chunk, resp)

        def scipy_products(log_beta=log_beta, resp=resp):
            return pattern @ log_beta, pattern.T @ resp

        times = side_by_side(
            {
                "two scipy.sparse products": scipy_products,
                "bursty, 1 thread": lambda: bursty_pass(1),
                "bursty, 2 threads": lambda: bursty_pass(2),
            }
        )
        peer = times["two scipy.sparse products"]
        goals = {"bursty, 1 thread": ">= 1.3", "bursty, 2 threads": ">= 2"}
        rows += [(k, name, 1e3 * t, peer / t, goals.get(name, "")) for name, t in times.items()]
    table("One EDCM pass over 20 newsgroups, float64", rows, ("K", "what", "ms", "times faster", "goal"))


if __name__ == "__main__":
    main()
