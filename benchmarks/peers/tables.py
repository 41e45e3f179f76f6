"""Tables of counts that are no texts: mixtures of DCMs by maximum likelihood, beside R's DirichletMultinomial."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import gammaln, logsumexp

from benchmarks.peers.harness import Case, Column, Contender, clock
from bursty import Mixture, read_corpus

K = 4
#: R measures its own processor time: reading the table is not counted.
SCRIPT = """
suppressMessages(library(DirichletMultinomial))
arguments <- commandArgs(trailingOnly = TRUE)
counts <- as.matrix(read.csv(arguments[1], header = FALSE))
began <- proc.time()
model <- dmn(counts, as.integer(arguments[2]), seed = as.integer(arguments[3]))
used <- proc.time() - began
write.table(fitted(model), arguments[4], sep = ",", row.names = FALSE, col.names = FALSE)
cat(used[["user.self"]] + used[["sys.self"]], mixturewt(model)$pi)
"""


def load(short: bool) -> Any:
    """Counts; a short run has the 20 most common columns of 60 rows."""
    counts = np.asarray(read_corpus(Path(os.environ["BURSTY_DATA"]) / "twins.csv").counts.toarray(), dtype=np.int64)
    if short:
        counts = counts[:60, np.argsort(-counts[:60].sum(axis=0), kind="stable")[:20]]
    return counts


def log_likelihood(counts: Any, alpha: Any, weights: Any) -> float:
    """Of a mixture of DCMs with parameters K x words, by its definition, multinomial coefficients included."""
    lengths = counts.sum(axis=1)
    coefficient = gammaln(lengths + 1) - gammaln(counts + 1).sum(axis=1)
    table = np.empty((len(counts), len(alpha)))
    for k, own in enumerate(alpha):
        seen = own > 0
        inside = gammaln(counts[:, seen] + own[seen]) - gammaln(own[seen])
        table[:, k] = inside.sum(axis=1) + gammaln(own.sum()) - gammaln(own.sum() + lengths)
        table[counts[:, ~seen].sum(axis=1) > 0, k] = -np.inf
    return float((coefficient + logsumexp(table + np.log(weights), axis=1)).sum())


def ours(counts: Any, seed: int, *, n_init: int) -> Mapping[str, float]:
    """Maximum likelihood without smoothing, as the peer's."""
    began = clock()
    options = {"family": "dcm", "prior": None, "tempering": None, "smoothing": 0}
    model = Mixture(K, n_init=n_init, random_state=seed, **options).fit(counts)
    seconds = clock() - began
    return {"seconds": seconds, "likelihood": log_likelihood(counts, model.components_, model.weights_)}


def with_r(counts: Any, seed: int) -> Mapping[str, float]:
    """One start, the only choice that `dmn` has."""
    with tempfile.TemporaryDirectory() as folder:
        table, alpha = Path(folder) / "counts.csv", Path(folder) / "alpha.csv"
        np.savetxt(table, counts, fmt="%d", delimiter=",")
        command = ["Rscript", "-e", SCRIPT, str(table), str(K), str(seed + 1), str(alpha)]
        seconds, *weights = map(
            float, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        )
        found = np.loadtxt(alpha, delimiter=",").T
    return {"seconds": seconds, "likelihood": log_likelihood(counts, found, np.asarray(weights))}


CASES = [
    Case(
        name="tables-twins",
        title="Groups in a table of counts",
        work=f"A mixture of {K} DCMs by maximum likelihood.",
        data="twins: gut microbiomes, 278 samples of 130 genera, from R's package; its starts were chosen on it",
        load=load,
        contenders={
            "Mixture(4), one start": Contender(partial(ours, n_init=1), "bursty"),
            "Mixture(4), 10 starts": Contender(partial(ours, n_init=10), "bursty"),
            "R DirichletMultinomial": Contender(with_r, "R:DirichletMultinomial"),
        },
        columns=(Column("likelihood", "log-likelihood", "high"), Column("seconds", "fit, s", "low", is_time=True)),
        rounds=(3, 1),
    )
]
