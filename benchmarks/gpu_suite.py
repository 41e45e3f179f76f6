"""What `benchmarks.gpu` asks of the sampler on a card: the right distribution, the same bits, results as elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest import mock

import numpy as np
import scipy.sparse as sp
from scipy import stats as laws

from bursty.engines import Chunk
from bursty.engines import cuda as engine
from bursty.engines.card import copied
from bursty.engines.cuda import CudaChunk, fetch
from bursty.inference.topics import cuda_dcmlda, cuda_sweeps, dcmlda
from bursty.metrics import document_completion
from bursty.models.dcmlda import DCMLDA
from bursty.samplers.dcmlda import Hyperparameters
from bursty.samplers.tokens import State, Tokens, random_topics

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "kernels"))
import cuda_cases


def stationary(n: int = 50_000) -> dict[str, list[float]]:
    """p of a chi-squared test for each shape: copies of a document after some sweeps, against all its states.

    With sweeps alone, with moves of blocks, and with the document cut.
    """
    oracles, words = cuda_cases.oracles, [0, 0, 0, 1, 3, 3]
    alpha = np.array([0.7, 1.6, 0.4])
    beta = np.array([[0.05, 2.0, 0.3], [1.2, 0.1, 0.3], [0.05, 0.4, 4.0], [0.9, 0.1, 0.3]])
    counts = sp.csr_array(np.tile(np.bincount(words, minlength=4).astype(np.int32), (n, 1)))
    params = Hyperparameters(alpha, beta)
    states = oracles.all_topics(len(words), 3)
    joint = np.exp([oracles.dcmlda_log_joint(words, z, alpha, beta) for z in states])
    expected = n * joint / joint.sum()
    often = expected >= 5
    weights = cuda_dcmlda.CardHyperparameters.of(params).weights
    cut = {"_LONG": 2, "_SIDE_BY_SIDE": 10**9, "_SEGMENT": 2, "_HEAVY": 2}
    found: dict[str, list[float]] = {"sweeps": [], "with moves": [], "cut": []}
    for kind, values in found.items():
        with mock.patch.multiple(engine, **(cut if kind == "cut" else {"_LONG": 512})):
            chunk = CudaChunk(Chunk(counts))
            assert (chunk.on_card.segments is not None) == (kind == "cut")
        for shape in cuda_cases.shapes(3):
            topics = copied(np.random.default_rng(2).integers(0, 3, size=n * len(words), dtype=np.uint8))
            for number in range(60 if kind == "cut" else 25):
                if kind == "with moves" and number % 3 == 0:
                    cuda_sweeps.move_blocks(chunk, 0, topics, weights, 12, number)
                cuda_sweeps.Sweep(chunk, 0, topics, weights, 12, number, None, shape).run()
            codes = fetch(topics).reshape(n, -1).astype(int) @ 3 ** np.arange(len(words))[::-1]
            observed = np.bincount(codes, minlength=len(states))
            both = (np.append(part[often], part[~often].sum()) for part in (observed, expected))
            values.append(float(laws.chisquare(*both).pvalue))
    return found


def same_bits(n_documents: int = 5000, n_topics: int = 100) -> bool:
    """The same seed twice."""
    _, chunk, params, topics = cuda_cases.case(n_documents, n_topics, n_words=300)
    found = []
    for _ in range(2):
        moved, stats = cuda_dcmlda.sweeps(chunk, 0, topics, params, 1, range(3), True)
        found.append((fetch(moved).tobytes(), fetch(stats.words).tobytes(), stats.log_joint))
    return found[0] == found[1]


def every_token_is_visited(n_documents: int = 5000, n_topics: int = 100) -> float:
    """Share of tokens with another topic after sweeps in which all topics are as likely: 1 - 1 / K is expected."""
    _, chunk, _, topics = cuda_cases.case(n_documents, n_topics, n_words=300)
    even = Hyperparameters(np.full(n_topics, 1e6), np.full((300, n_topics), 1e6))
    moved, _ = cuda_dcmlda.sweeps(chunk, 0, topics, even, 1, range(1), True)
    return float(np.mean(fetch(moved) != topics))


def two_samples(n_runs: int = 40) -> dict[str, float]:
    """p of Kolmogorov and Smirnov's test of five statistics after some sweeps, card against processor."""
    rng = np.random.default_rng(3)
    dense = rng.poisson(0.6, size=(300, 50)) * rng.integers(1, 4, size=(300, 50))
    params = dcmlda.Hyperparameters(rng.gamma(1.0, size=10) + 0.1, rng.gamma(0.3, size=(50, 10)) + 0.01)
    chunk = CudaChunk(Chunk(sp.csr_array(dense.astype(np.int32))))
    tokens, found = Tokens.numbered(chunk, 0), {"card": [], "processor": []}
    for run in range(n_runs):
        for place, values in found.items():
            seed = 2 * run + (place == "card")
            topics = random_topics(tokens, 10, seed)
            if place == "card":
                topics = fetch(cuda_dcmlda.sweeps(chunk, 0, topics, params, seed, range(30), True)[0])
            else:
                topics, _ = dcmlda.sweeps(chunk, 0, topics, params, seed, range(30), True)
            own, words = tokens.document_topics(topics, 10), tokens.word_topics(topics, 10)
            log_joint = dcmlda.log_joint(State(tokens, topics), params).sum()
            values.append([log_joint, (own > 0).sum(), (own**2).sum(), (words**2).sum(), own[:, 0].sum()])
    card, processor = np.array(found["card"]), np.array(found["processor"])
    names = "log-likelihood", "topics of documents", "squares of documents", "squares of words", "first topic"
    return {name: float(laws.ks_2samp(card[:, i], processor[:, i]).pvalue) for i, name in enumerate(names)}


def completion(n_fits: int = 6) -> dict[str, list[float]]:
    """Perplexity of held-out halves of new documents, of fits on the card and on the processor."""
    rng = np.random.default_rng(5)
    topics = rng.dirichlet(np.full(200, 0.05), size=8)
    words = np.array([rng.dirichlet(20 * (rng.dirichlet(np.full(8, 0.1)) @ topics) + 1e-3) for _ in range(900)])
    counts = np.array([rng.multinomial(80, row / row.sum()) for row in words])
    found: dict[str, list[float]] = {"cuda": [], "local": []}
    for seed in range(n_fits):
        for name, values in found.items():
            model = DCMLDA(8, engine=name, n_iter=40, tol=0, random_state=seed + 100 * (name == "cuda"))
            model.fit(counts[:700]).set_params(engine="local")
            values.append(float(document_completion(model, counts[700:], random_state=0)))
    return found
