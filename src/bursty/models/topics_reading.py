"""Interpretation of topics: their most characteristic words, and their prevalence."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bursty.corpus.times import as_times, bin_times
from bursty.models.contrast import contrast
from bursty.models.groups import GroupReading
from bursty.models.summary import example_names, ranked, summary_frame
from bursty.typing import Array
from bursty.wording import counted


class TopicReading(GroupReading):
    """Methods for the interpretation of a fitted topic model."""

    alpha_: Array
    components_: Array
    doc_topic_: Array
    fitted_on: Any
    _members: Array | None

    def top_words(self, n: int = 10, by: str = "contrast", weight: float = 0.6) -> list[list[str]]:
        """The most characteristic words of each topic.

        Parameters
        ----------
        n : int
            Number of words per topic.
        by : {"contrast", "representative", "relevance", "probability", "lift"}
            "probability": the most probable words of the topic. "contrast": the same minus what the topics have in
            common, see `word_scores`. "representative": the words that names are made of (`bursty.models.naming`),
            fewer than n if fewer are more frequent here than elsewhere. "lift": the most over-represented words.
            "relevance": between probability and lift, ``weight * log probability + (1 - weight) * log lift`` (Sievert
            and Shirley 2014).
        weight : float
            For "relevance".

        See Also
        --------
        ranking : Describes a ranking of this model in one sentence.
        set_words : Names words that are only numbers, as in a Pipeline: ``pipeline[-1].set_words(pipeline)``.
        """
        scores = self.word_scores(by, weight)
        return ranked(scores, self._words_to_show(), n, by)

    def word_scores(self, by: str = "contrast", weight: float = 0.6) -> Array:
        """What `top_words` ranks by: an array of shape (n_topics, n_words).

        Notes
        -----
        "contrast" is ``sqrt(p_kw) - f * mean_j sqrt(p_jw)``, see `bursty.models.contrast`.
        """
        check_is_fitted(self)
        if by == "contrast":
            return contrast(self.components_)[0]
        if by == "representative":
            return self._representative()
        log_p = np.log(np.maximum(self.components_, 1e-300))
        log_lift = log_p - np.log(np.maximum(self._prevalence() @ self.components_, 1e-300))
        if by == "probability":
            return self.components_
        if by == "lift":
            return np.exp(log_lift)
        if by == "relevance":
            return weight * log_p + (1.0 - weight) * log_lift
        raise ValueError(f'by must be "contrast", "representative", "relevance", "probability" or "lift", not {by!r}')

    def ranking(self, by: str = "contrast", weight: float = 0.6) -> str:
        """What `top_words` ranks the words of this model by, in one sentence."""
        self.word_scores(by, weight)  # refuses what it does not know
        if by == "contrast":
            factor = contrast(self.components_)[1]
            what = "square root of the probability in the topic"
            return f"{what}, less {factor:g} times its mean over all topics" if factor else "probability in the topic"
        return {
            "probability": "probability in the topic",
            "representative": "probability in the topic times lift beyond half of what is possible, less if common",
            "lift": "probability in the topic over that in all topics",
            "relevance": f"{weight:g} log probability in the topic + {1 - weight:g} log lift",
        }[by]

    def summary(self, X: Any = None, *, n_words: int = 10, n_examples: int = 3) -> Any:
        """One row per topic.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words), optional
            The documents of the fit, to take the names of examples from.
        n_words : int, default 10
            Number of words per topic.
        n_examples : int, default 3
            Number of documents per topic.

        Returns
        -------
        DataFrame
            ``number`` (from 1, the row number plus one), ``name`` (see `suggest_names` and `rename`), ``size`` (number
            of documents with words whose largest topic it is), ``share`` (mean share of a document), ``words`` and,
            where X is given, ``examples`` (the documents with most of it). A pandas frame, or one of polars or pyarrow
            where pandas is not installed.
        """
        check_is_fitted(self)
        mixtures = self.doc_topic_
        main = mixtures.argmax(axis=1)
        sizes = np.bincount(main if self._members is None else main[self._members], minlength=mixtures.shape[1])
        examples = None if X is None else example_names(X, self.core_documents(n_examples))
        names, words = self._names_for(X), self.top_words(n_words, by="representative")
        return summary_frame(names, sizes, mixtures.mean(axis=0), words, {}, examples)

    def core_documents(self, n: int = 5) -> list[Array]:
        """Rows of the documents of the fit with the largest shares of each topic, largest first."""
        check_is_fitted(self)
        if not isinstance(n, numbers.Integral):
            raise TypeError(f"n must be an integer, not {type(n).__name__}: the documents are always those of the fit")
        return [np.argsort(-column, kind="stable")[:n] for column in self.doc_topic_.T]

    def prevalence(self, groups: Any, *, unit: str | None = None, return_error: bool = False) -> tuple[Array, ...]:
        """Mean topic mixture of the fitted documents of each group.

        Parameters
        ----------
        groups : array-like of shape (n_documents,)
            A label or a time per document. Dates and timestamps (`datetime` objects, numpy or pandas times, text such
            as ``2024-05-17`` or ``May 17, 2024``) are binned, and documents without one are left out; numbers and
            labels are groups as they stand.
        unit : {"day", "month", "year", "decade"}, optional
            Length of the periods of times; by default the shortest that gives at most 60 of them. With a unit, large
            numbers are times, too (seconds since 1970).
        return_error : bool, default False
            Also return the standard errors of the means.

        Returns
        -------
        groups : ndarray of shape (n_groups,)
            Sorted; of times, the beginning of each period.
        shares : ndarray of shape (n_groups, n_components)
        errors : ndarray of shape (n_groups, n_components)
            Only if ``return_error``; NaN where a group has one document.
        """
        check_is_fitted(self)
        labels = np.asarray(groups)
        if labels.shape != (len(self.doc_topic_),):
            raise ValueError(
                f"groups has shape {labels.shape} for {counted(len(self.doc_topic_), 'document')}: give one each"
            )
        times = as_times(labels, epochs=unit is not None) if unit is not None or labels.dtype.kind in "MOUS" else None
        if times is not None:
            labels = bin_times(times, unit)[0]
        elif unit is not None:
            raise ValueError(f"unit={unit!r} is for times, and groups cannot be read as times")
        names, means, errors = group_means(labels, self.doc_topic_)
        return (names, means, errors) if return_error else (names, means)

    def _group_words(self) -> tuple[Array, Array]:
        return self.components_, self.doc_topic_.mean(axis=0)

    def _central_rows(self, X: Any, n: int) -> list[Array] | None:
        return self.core_documents(n) if self.fitted_on(X) else None

    def _prevalence(self) -> Array:
        return self.alpha_ / self.alpha_.sum()


def group_means(groups: Array, values: Array) -> tuple[Array, Array, Array]:
    """The groups in order, the mean row of each and its standard error; rows of no group (NaT) are left out."""
    if groups.dtype.kind == "M":
        known = ~np.isnat(groups)
        groups, values = groups[known], values[known]
    names, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    means = np.zeros((len(names), values.shape[1]))
    squares = np.zeros_like(means)
    np.add.at(means, codes, values)
    means /= sizes[:, None]
    np.add.at(squares, codes, (values - means[codes]) ** 2)
    few = (sizes < 2)[:, None]
    variance = squares / np.maximum(sizes - 1, 1)[:, None]
    return names, means, np.where(few, np.nan, np.sqrt(variance / sizes[:, None]))
