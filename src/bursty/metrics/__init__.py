"""Metrics of clusterings, classifiers, models and the data itself.

One file per kind of measure: `clustering`, `classification`, `likelihood`, `completion`, `bursts`, `topics` and
`partitions`. Imports only `bursty.validation` from the package, so that every other layer may use it.
"""

from __future__ import annotations

from bursty.metrics.bursts import CountProbabilities, burstiness, count_probabilities
from bursty.metrics.classification import break_even
from bursty.metrics.clustering import match_clusters, mutual_information, normalized_mutual_information
from bursty.metrics.completion import document_completion
from bursty.metrics.likelihood import perplexity
from bursty.metrics.partitions import (
    best_partition,
    effective_sample_size,
    posterior_similarity,
    r_hat,
    variation_of_information,
)
from bursty.metrics.topics import coherence, diversity, empirical_likelihood, left_to_right, match_topics

__all__ = [
    "CountProbabilities",
    "best_partition",
    "break_even",
    "burstiness",
    "coherence",
    "count_probabilities",
    "diversity",
    "document_completion",
    "effective_sample_size",
    "empirical_likelihood",
    "left_to_right",
    "match_clusters",
    "match_topics",
    "mutual_information",
    "normalized_mutual_information",
    "perplexity",
    "posterior_similarity",
    "r_hat",
    "variation_of_information",
]
