"""What the topics of DCMLDA look like on 20 newsgroups and on the State of the Union addresses: their first words.

python -m benchmarks.topics_shown
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.timing import table
from bursty import DCMLDA, datasets
from bursty.metrics.topics import coherence

# Which collection, how it is read, words of so many documents, topics, starts.
SHOWN: tuple[tuple[str, dict[str, Any], int, int, int], ...] = (
    ("20news-18828", {"stop_words": "english", "headers": False, "attachments": False}, 10, 20, 1),
    ("sotu", {"stop_words": "english"}, 10, 8, 3),
)


def main() -> None:
    warnings.simplefilter("ignore", ConvergenceWarning)
    warnings.filterwarnings("ignore", ".*no words", UserWarning)
    for name, options, least_documents, n_topics, n_init in SHOWN:
        corpus = datasets.load(name, **options).filter_words(min_df=least_documents, max_df=0.9)
        model = DCMLDA(n_topics, n_init=n_init, random_state=0).fit(corpus)
        shares, npmi = model.doc_topic_.mean(axis=0), coherence(model, corpus)
        words = model.top_words(8)
        rows = [
            (100 * float(shares[k]), float(model.s_[k]), float(npmi[k]), ", ".join(words[k]))
            for k in np.argsort(-shares)
        ]
        table(f"{name}: {len(corpus)} documents, {n_topics} topics", rows, ("% of a document", "s", "NPMI", "words"))


if __name__ == "__main__":
    main()
