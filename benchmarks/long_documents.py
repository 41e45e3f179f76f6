"""Long documents: seconds for six of a million tokens, beside six of a tenth: ``python -m benchmarks.long_documents``.

Time should grow as the number of tokens does: a ratio far above ten is not linear.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

import bursty


def documents(length: int, n_documents: int, n_words: int = 2_000) -> Any:
    rng = np.random.default_rng(0)
    shares = rng.dirichlet(np.full(n_words, 0.3), n_documents)
    return np.array([rng.multinomial(length, share) for share in shares])


def seconds(work: Any) -> float:
    """Processor time, which other programs do not lengthen."""
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=6)
    parser.add_argument("--iterations", type=int, default=20)
    options = parser.parse_args()
    fits = {
        "LDA": lambda: bursty.LDA(3, n_iter=options.iterations, random_state=0),
        "DCMLDA": lambda: bursty.DCMLDA(3, n_iter=options.iterations, random_state=0),
        "DPMFS": lambda: bursty.DPMFS(n_iter=options.iterations, random_state=0),
    }
    warnings.simplefilter("ignore")
    print("| model | step | 100,000 tokens | 1,000,000 tokens | ratio |\n|---|---|---|---|---|")
    for name, make in fits.items():
        warm = make().fit(documents(1_000, 3))
        if hasattr(warm, "score_samples"):
            warm.score_samples(documents(1_000, 3))
        rows: dict[str, list[float]] = {}
        for length in (100_000, 1_000_000):
            X, model = documents(length, options.documents), make()
            rows.setdefault("fit", []).append(seconds(lambda model=model, X=X: model.fit(X)))
            if hasattr(model, "score_samples"):
                rows.setdefault("score", []).append(seconds(lambda model=model, X=X: model.score_samples(X)))
        for step, (short, long) in rows.items():
            print(f"| {name} | {step} | {short:.1f} s | {long:.1f} s | {long / short:.1f} |", flush=True)


if __name__ == "__main__":
    main()
