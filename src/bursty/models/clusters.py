"""Interpretation of clusters: their words, sizes, confidence and most central documents."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bursty.engines import Assignment, Chunk, Documents
from bursty.estimator import CountEstimator
from bursty.inference.posteriors import Places
from bursty.models.contrast import contrast
from bursty.models.groups import GroupReading, Merge
from bursty.models.summary import document_share, example_names, has_words, ranked, summary_frame
from bursty.storage.schema import Mismatch
from bursty.typing import Array
from bursty.wording import counted

#: Name of a cluster that has none.
NO_DOCUMENTS = "(no documents)"


def check_members(model: ClusterReading, sizes: dict[str, int]) -> None:
    """Check, in a saved model, that clusters have no more documents than labels, and means that are probabilities."""
    if not hasattr(model, "labels_") or not hasattr(model, "sizes_"):  # in files of earlier versions
        return
    if np.any(model.sizes_ > np.bincount(model.labels_, minlength=sizes["K"])):
        raise Mismatch("a cluster has more documents than labels_ says")
    confidence = model.confidence_[model.sizes_ > 0]
    if not np.all((confidence >= 0) & (confidence <= 1 + 1e-6)):
        raise Mismatch("confidence_ is not made of probabilities")


class ClusterReading(GroupReading, ClusterMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, CountEstimator):
    """Methods for the interpretation of a fitted clustering.

    Results for the documents of the fit are kept, so that they are not computed again.

    Attributes
    ----------
    labels_ : ndarray of shape (n_documents,)
        The cluster of each document.
    probabilities_ : ndarray of shape (n_documents,)
        Posterior probability of that cluster.
    runner_up_, runner_up_probabilities_ : ndarray of shape (n_documents,)
        The second most probable cluster of each document (-1 if there is one cluster), and its posterior probability.
    sizes_ : ndarray of shape (n_components,)
        Number of documents of each cluster; those without words count for none.
    confidence_ : ndarray of shape (n_components,)
        Mean posterior of the documents' own cluster; NaN for a cluster without documents.
    feature_count_ : ndarray of shape (n_components, n_words)
        Sum of the counts of the documents of each cluster, times their weights if there are any.
    """

    components_: Array
    weights_: Array
    _fitted_on: str | None

    @abstractmethod
    def predict_proba(self, X: Any) -> Array:
        """Posterior of each cluster for each document."""

    def transform(self, X: Any) -> Array:
        """Posterior of each cluster for each document, as `predict_proba`."""
        return self.predict_proba(X)

    @property
    def _n_features_out(self) -> int:
        return len(self.weights_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "clusterer"
        return tags

    def _read_clusters(self, documents: Documents, places: Places, sample_weight: Array | None = None) -> None:
        """Keep what was found."""
        labels, probabilities = places.labels, places.probabilities
        self.runner_up_, self.runner_up_probabilities_ = places.seconds, places.second_probabilities
        n_components = len(self.weights_)
        self.labels_, self.probabilities_ = labels, probabilities
        self._fitted_on = documents.fingerprint
        members = documents.collect(has_words) if documents.n_empty else np.ones(len(labels), dtype=bool)
        self.sizes_ = np.bincount(labels[members], minlength=n_components)
        sums = np.bincount(labels[members], weights=probabilities[members], minlength=n_components)
        self.confidence_ = np.divide(sums, self.sizes_, out=np.full(n_components, np.nan), where=self.sizes_ > 0)
        self._document_share = document_share(documents)
        weights = np.ones(len(labels)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        assigned = Assignment(labels.astype(np.int32), n_components, weights)
        self.feature_count_ = np.ascontiguousarray(documents.sum(_sum_tokens, documents.split(assigned)).T)

    def top_words(self, n: int = 10, by: str = "contrast") -> list[list[str]]:
        """The most characteristic words of each cluster.

        Parameters
        ----------
        n : int, default 10
            Number of words per cluster.
        by : {"contrast", "representative", "discriminative", "parameter", "lift"}, default "contrast"
            "parameter": the most probable words of the cluster. "contrast": the same minus what the clusters have in
            common, ``sqrt(p) - f * mean sqrt(p)``, so that function words do not lead. "representative": the words
            that names are made of (`bursty.models.naming`), fewer than n if fewer are more frequent here than
            elsewhere. "lift": the most over-represented words. "discriminative": ``p log(p / q)`` with q the
            mixture of all clusters.

        See Also
        --------
        set_words : Names words that are only numbers, as in a Pipeline: ``pipeline[-1].set_words(pipeline)``.
        """
        check_is_fitted(self)
        scores = self.word_scores(by)
        return ranked(scores, self._words_to_show(), n, by)

    def word_scores(self, by: str = "contrast") -> Array:
        """What `top_words` ranks by: an array of shape (n_components, n_words)."""
        check_is_fitted(self)
        p = self.components_ / np.maximum(self.components_.sum(axis=1, keepdims=True), 1e-300)
        if by == "parameter":
            return p
        if by == "contrast":
            return contrast(np.maximum(p, 0.0))[0]
        if by == "representative":
            return self._representative()
        ratio = np.log(np.maximum(p, 1e-300)) - np.log(np.maximum(self.weights_ @ p, 1e-300))
        if by == "lift":
            return np.exp(ratio)
        if by == "discriminative":
            return p * ratio
        raise ValueError(
            f'by must be "contrast", "representative", "discriminative", "parameter" or "lift", not {by!r}'
        )

    def suggest_names(self, X: Any = None) -> list[str]:
        """Names of two or three words, as `GroupReading.suggest_names`; a cluster without documents says so."""
        names = super().suggest_names(X)
        sizes = getattr(self, "sizes_", np.ones(len(names)))  # models that only saw streams have none
        return [name if size else NO_DOCUMENTS for name, size in zip(names, sizes, strict=True)]

    def summary(self, X: Any = None, *, n_words: int = 10, n_examples: int = 3) -> Any:
        """One row per cluster.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words), optional
            Documents to take examples from, those of the fit or others.
        n_words : int, default 10
            Number of words per cluster.
        n_examples : int, default 3
            Number of documents per cluster.

        Returns
        -------
        DataFrame
            ``number`` (from 1, the row number plus one), ``name`` (see `suggest_names` and `rename`), ``size``
            (number of documents), ``share`` (of the documents of the fit), ``confidence`` (mean posterior of its
            documents), ``words`` and, where X is given, ``examples`` (the most central documents). A pandas frame, or
            one of polars or pyarrow where pandas is not installed.
        """
        check_is_fitted(self)
        examples = None if X is None else example_names(X, self.core_documents(X, n_examples))
        words, more = self.top_words(n_words, by="representative"), self._summary_columns()
        return summary_frame(self._names_for(X), self.sizes_, self._shares(), words, more, examples)

    def _summary_columns(self) -> dict[str, Any]:
        """Columns of `summary` besides size, share and words."""
        return {"confidence": self.confidence_}

    def core_documents(self, X: Any, n: int = 5) -> list[Array]:
        """Rows of the documents that are most typical of each cluster, most typical first.

        Ranked by the cosine of a document's counts with the scores of the words that represent its cluster (those of
        ``word_scores("representative")``, without marking down the words that most documents have). Ranking by how much
        better its own cluster explains a document than the others do would put outliers first: a few texts in another
        language, say, which fit no other cluster at all.
        """
        documents = self._place(X)
        labels = self.label_documents(documents)[0]
        words = np.ascontiguousarray(self._representative(common=True).T)
        typical = documents.collect(_likeness, documents.split(labels), words=words)
        members = [np.flatnonzero((labels == k) & np.isfinite(typical)) for k in range(len(self.weights_))]
        return [rows[np.argsort(-typical[rows], kind="stable")[:n]] for rows in members]

    def label_documents(self, X: Any) -> tuple[Array, Array]:
        """Cluster of each document, and its posterior probability.

        For the documents of the fit these are ``labels_`` and ``probabilities_``, and nothing is computed.
        """
        documents = self._place(X)
        if self.fitted_on(documents):
            return self.labels_, self.probabilities_
        return Places.of(self.predict_proba(documents))[:2]

    def runners_up(self, X: Any) -> tuple[Array, Array]:
        """Second most probable cluster of each document (-1 if there is one cluster), and its posterior probability.

        For the documents of the fit these are ``runner_up_`` and ``runner_up_probabilities_``.
        """
        documents = self._place(X)
        if self.fitted_on(documents) and hasattr(self, "runner_up_"):
            return self.runner_up_, self.runner_up_probabilities_
        return Places.of(self.predict_proba(documents))[2:]

    def _group_words(self) -> tuple[Array, Array]:
        return self._word_proportions(), self.weights_

    def _shares(self) -> Array:
        # Of the documents with words; models that only saw streams, and those of version 0.1, have weights alone.
        sizes = getattr(self, "sizes_", None)
        return super()._shares() if sizes is None else sizes / max(1, int(sizes.sum()))

    def _word_proportions(self) -> Array:
        """Word probabilities of each cluster; the directions of a family of real vectors."""
        p = self.components_
        return p if np.any(p < 0) else p / np.maximum(p.sum(axis=1, keepdims=True), 1e-300)

    def _central_rows(self, X: Any, n: int) -> list[Array] | None:
        return self.core_documents(X, n)

    def _merge_readings(self, merge: Merge) -> None:
        """Results for the documents of the fit, as far as they are known without scoring them again."""
        members = self.sizes_ * np.nan_to_num(self.confidence_)
        self.labels_, self.sizes_ = merge.into[self.labels_], merge.sum(self.sizes_)
        sums = merge.sum(members)
        self.confidence_ = np.divide(sums, self.sizes_, out=np.full(merge.n, np.nan), where=self.sizes_ > 0)
        if hasattr(self, "feature_count_"):  # not in models of version 0.1
            self.feature_count_ = merge.sum(self.feature_count_, axis=0)
        self._fitted_on = None
        for name in ("runner_up_", "runner_up_probabilities_"):
            self.__dict__.pop(name, None)


def known_labels(y: Any, n_documents: int) -> tuple[Array, Array] | None:
    """The classes, and the number of each labelled document's class (-1: none); None where y says nothing."""
    if y is None:
        return None
    values = np.asarray(y)
    if values.shape != (n_documents,):
        raise ValueError(
            f"y has shape {values.shape} for {counted(n_documents, 'document')}: give one label per document"
        )
    if values.dtype.kind not in "iu" or np.all(values == -1):
        return None
    classes = np.unique(values[values != -1])
    return classes, np.where(values == -1, -1, np.searchsorted(classes, values)).astype(np.int32)


def _sum_tokens(chunk: Chunk, assigned: Assignment) -> Array:
    return chunk.sum_tokens(assigned)


def _likeness(chunk: Chunk, labels: Array, words: Array) -> Array:
    """Cosine of each document with the words of its cluster, up to a factor per cluster; -inf without words."""
    norms = chunk.norms
    own = chunk.tokens(words)[np.arange(len(labels)), labels]
    return np.divide(own, norms, out=np.full(len(labels), -np.inf), where=norms > 0)
