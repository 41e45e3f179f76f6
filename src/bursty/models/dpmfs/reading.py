"""What a fitted DPMFS says about documents, words and its clusters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted

from bursty.engines import Documents
from bursty.families import get_family
from bursty.inference.posteriors import Places
from bursty.models.clusters import ClusterReading
from bursty.models.dpmfs import estimate
from bursty.models.groups import Merge
from bursty.typing import Array


class DPMFSReading(ClusterReading):
    """Methods of a fitted DPMFS: prediction, discriminative words, merging of clusters."""

    family_: str
    discriminative_: Array
    classes_: Array
    _components: estimate.Components

    def predict(self, X: Any) -> Array:
        """The most probable cluster of each document."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> Array:
        """Posterior of each cluster for each document, given the partition `labels_`."""
        return self._place(X).collect(estimate.posterior, components=self._components)

    def top_words(self, n: int = 10, by: str = "contrast") -> list[list[str]]:
        """The discriminative words most typical of each cluster; see `word_scores`."""
        check_is_fitted(self)
        return super().top_words(min(n, int(np.count_nonzero(self.discriminative_))), by)

    def word_scores(self, by: str = "contrast") -> Array:
        """What `top_words` ranks by: an array of shape (n_clusters, n_words), -inf for other words."""
        return np.where(self.discriminative_, super().word_scores(by), -np.inf)

    def _summary_columns(self) -> dict[str, Any]:
        """The largest R-hat and the smallest effective sample size of `diagnostics_`, the same in all rows."""
        found = list(getattr(self, "diagnostics_", {}).values())
        r_hat = max((facts["r_hat"] for facts in found), default=math.nan)
        ess = min((facts["ess"] for facts in found), default=math.nan)
        n = len(self.sizes_)
        return {**super()._summary_columns(), "r_hat": np.full(n, r_hat), "ess": np.full(n, ess)}

    def _set_components(self, components: estimate.Components) -> None:
        self._components, self.weights_ = components, components.prior
        self.n_clusters_, urns = len(components.prior), components.weights
        self.components_ = np.zeros((self.n_clusters_, self.n_features_in_))
        self.components_[:, self.discriminative_] = (urns / np.maximum(urns.sum(axis=0), 1e-300)).T

    def _read(self, documents: Documents, labels: Array, sample_weight: Array | None = None) -> None:
        """Keep probabilities, runners-up and sums for the documents of the fit, whose clusters are given."""
        log_prob = documents.collect(estimate.log_prob, components=self._components)
        places = Places.of(estimate.share_out(log_prob, self.weights_), labels)
        self._read_clusters(documents, places, sample_weight)

    def _merge(self, merge: Merge, X: Any) -> None:
        documents = None if X is None else self._place(X)
        bursty = get_family(self.family_).draws == "tables"
        self._set_components(self._components.merged(merge.into, bursty))
        if hasattr(self, "classes_"):
            del self.classes_
        self._merge_readings(merge)
        if documents is not None:
            self._read(documents, self.labels_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks ask for it of whatever takes sparse input and has predict_proba.
        tags.classifier_tags = ClassifierTags()
        return tags
