"""Reading topics: the words that say most about each, and how prevalent they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

Array = np.ndarray[Any, Any]


class TopicReading:
    """Methods of a fitted topic model that tell a person what it found."""

    alpha_: Array
    components_: Array
    doc_topic_: Array

    def top_words(self, n: int = 10, by: str = "relevance", weight: float = 0.6) -> list[list[str]]:
        """The words that say most about each topic.

        Parameters
        ----------
        n : int
            Words a topic.
        by : {"relevance", "probability", "lift"}
            "probability": the most likely words of the topic. "lift": those most over-represented in it. "relevance":
            between the two, ``weight * log probability + (1 - weight) * log lift`` (Sievert and Shirley 2014).
        weight : float
            For "relevance".
        """
        scores = self.word_scores(by, weight)
        names = getattr(self, "feature_names_in_", None)
        names = np.arange(scores.shape[1]).astype(str) if names is None else names
        best = np.argsort(-scores, axis=1, kind="stable")[:, : max(0, n)]
        return [[str(names[word]) for word in row] for row in best]

    def word_scores(self, by: str = "relevance", weight: float = 0.6) -> Array:
        """What `top_words` ranks by: topics x words."""
        check_is_fitted(self)
        log_p = np.log(np.maximum(self.components_, 1e-300))
        log_lift = log_p - np.log(np.maximum(self._prevalence() @ self.components_, 1e-300))
        if by == "probability":
            return self.components_
        if by == "lift":
            return np.exp(log_lift)
        if by == "relevance":
            return weight * log_p + (1.0 - weight) * log_lift
        raise ValueError(f'by must be "relevance", "probability" or "lift", not {by!r}')

    def prevalence(self, groups: Any) -> tuple[Array, Array]:
        """Mean topic mixture of the fitted documents of each group (a label, a year): the groups, groups x topics."""
        check_is_fitted(self)
        labels = np.asarray(groups)
        if labels.shape != (len(self.doc_topic_),):
            raise ValueError(f"groups has shape {labels.shape} for {len(self.doc_topic_)} documents: give one each")
        names, codes = np.unique(labels, return_inverse=True)
        return names, np.stack([self.doc_topic_[codes == i].mean(axis=0) for i in range(len(names))])

    def _prevalence(self) -> Array:
        return self.alpha_ / self.alpha_.sum()
