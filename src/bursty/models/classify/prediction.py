"""Predictions of a fitted classifier, and their explanations."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, logsumexp
from sklearn.utils.validation import check_is_fitted

from bursty import markup
from bursty.engines import Chunk, Documents
from bursty.estimator import NAMELESS, CountEstimator
from bursty.families.base import Parameters
from bursty.families.estimator import get_family
from bursty.models.classify import explain as explaining
from bursty.models.classify import priors
from bursty.models.classify.calibration import Temperature
from bursty.models.classify.evidence import drop_words
from bursty.models.classify.layout import Layout
from bursty.models.classify.refinement import Refinement
from bursty.models.classify.scoring import Model, Scorer, score
from bursty.models.classify.settings import Settings
from bursty.models.classify.smoothing import Smoothing
from bursty.models.classify.training import TrainingSummary
from bursty.models.classify.transforms import Transform
from bursty.models.contrast import contrast
from bursty.typing import Array
from bursty.wording import counted


class ClassPrediction(CountEstimator):
    """Predictions of `BayesClassifier`, and their explanations."""

    family: Any
    complement: bool
    classes_: Array
    class_count_: Array
    class_log_prior_: Array
    parameters_: Parameters
    smoothing_: Smoothing
    temperature_: Temperature | None
    refinement_: Refinement | None
    _layout: Layout
    _transform: Transform
    _seen: TrainingSummary | None

    def predict(self, X: Any, *, threshold: Any = 0.5) -> Array:
        """The most probable class of each document; a 0/1 table in the multi-label case.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        threshold : float, or array of shape (n_classes,), default 0.5
            In the multi-label case, the probability above which a document has a class.
        """
        logits = self.predict_joint_log_proba(X)
        if not self._layout.multilabel:
            return self.classes_[np.argmax(logits, axis=1)]
        least = np.asarray(threshold, dtype=np.float64)
        if least.shape not in ((), self.classes_.shape) or np.any(~((least >= 0) & (least <= 1))):
            raise ValueError(f"threshold must be a probability, or one per class, not {threshold!r}")
        return (expit(logits) > least).astype(np.int64)

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class: an array of shape (n_documents, n_classes)."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Log-probability of each class: an array of shape (n_documents, n_classes)."""
        logits, refined = self._logits(X)
        if self._layout.multilabel:
            return log_expit(logits)
        refinement, log_proba = self._refinement, _normalised(logits)
        if refinement is not None:
            log_proba[refined] = refinement.allow_for_strays(log_proba[refined])
        return log_proba

    def predict_joint_log_proba(self, X: Any) -> Array:
        """``log p(k) + score_k(x) / T(x)``, refined if the classifier is: an array of shape (n_documents, n_classes).

        Without refinement, calibration (T = 1) and complement, this is log p(x, k) of one sequence of words. In the
        multi-label case it is the log odds of each class. Unlike `predict_proba` of a refined classifier, it does not
        allow for labels that no word explains (``refinement_.stray_share``).
        """
        return self._logits(X)[0]

    def _logits(self, X: Any) -> tuple[Array, Array]:
        """What `predict_joint_log_proba` returns, and for which documents the linear model is used."""
        check_is_fitted(self, "parameters_")
        documents = self._place(X)
        scores, heat = self._scores(documents)
        scores /= heat[:, None]
        scores += priors.to_offset(self.class_log_prior_, self._layout)
        refinement = self._refinement
        if refinement is None:
            return scores, np.zeros(len(scores), dtype=bool)
        linear = documents.collect(_linear, refinement=refinement)
        return refinement.combine(scores, linear), ~np.isnan(linear).any(axis=1)

    def scores(self, X: Any) -> Array:
        """Scores of the classes without priors, calibration and refinement: an array of shape (n_documents, n_classes).

        In the multi-label case they rank the documents within a class, as `bursty.metrics.break_even` needs it.
        """
        check_is_fitted(self, "parameters_")
        return self._scores(self._place(X))[0]

    def count_unseen(self, X: Any) -> Array:
        """Number of tokens of each document that are ignored because no training document has their word."""
        check_is_fitted(self, "parameters_")
        documents = self._place(X)
        return documents.collect(_unseen, known=self._scorer().known)

    def explain(self, X: Any, *, against: Any = "runner-up", top: int = 10) -> list[explaining.Explanation]:
        """Explain the predicted class of each document: contributions of words, by first occurrence and repeats.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        against : "runner-up", "average" or a class
            What the class is compared with: the next best, the mean of all others, or one of ``classes_``, which may be
            given by its name.
        top : int, default 10
            Number of words, those with the largest contributions (for or against) first.
        """
        check_is_fitted(self, "parameters_")
        return explaining.explain(self, self._place(X).counts(), against, top)

    def _scores(self, documents: Documents) -> tuple[Array, Array]:
        """The score of each class, and the temperature of each document."""
        scores, heat = documents.collect(score, scorer=self._scorer())
        lost = ~np.isfinite(scores).any(axis=1) if not self._layout.multilabel else np.isnan(scores).any(axis=1)
        if lost.any():
            warnings.warn(
                f"{counted(int(lost.sum()), 'document')} cannot come from any class (smoothing is 0 and no class has "
                "all the words): the prior decides; fit with smoothing, e.g. smoothing=0.01",
                UserWarning,
                stacklevel=4,
            )
            scores[lost] = 0.0
        return scores, heat

    def _scorer(self) -> Scorer:
        seen, power = self._seen, getattr(self.smoothing_, "idf", 0.0)
        assert seen is not None
        idf = seen.idf if power or self.temperature_ is not None else None
        model = Model(Settings.of(self), self.parameters_, idf**power if idf is not None and power else None)
        known = seen.document_frequency > 0
        return Scorer(model, self._layout, self._transform, known, idf, self.temperature_)

    def _class_words(self) -> Array | None:
        """How well words represent classes (n_classes x n_words), by contrast; None if the family cannot say."""
        table = np.asarray(self.parameters_.table, dtype=np.float64)
        n_classes = len(self.classes_)
        if table.shape[1] != n_classes or not get_family(self.family).is_per_word:
            return None
        p = table / np.maximum(table.sum(axis=0), 1e-300)
        if self.complement:  # the tables are those of all other classes: their mean less each is like a class
            p = np.maximum(p.sum(axis=1, keepdims=True) - (n_classes - 1) * p, 0.0)
        return contrast(p.T)[0]

    def _summary_html(self) -> str:
        if not hasattr(self, "parameters_"):
            return ""
        columns: dict[str, Any] = {"class": explaining.class_names(self), "documents": self.class_count_}
        scores = self._class_words()
        if scores is not None:
            words = getattr(self, "feature_names_in_", np.arange(scores.shape[1]))
            best = np.argsort(-scores, axis=1, kind="stable")[:, :6]
            columns["words"] = [
                ", ".join(str(words[w]) for w in row if own[w] > 0) for own, row in zip(scores, best, strict=True)
            ]
        named = scores is None or hasattr(self, "feature_names_in_")
        return markup.table(columns) + ("" if named else f"<p>{NAMELESS}</p>")

    @property
    def _refinement(self) -> Refinement | None:
        """None in files of versions that did not refine."""
        return getattr(self, "refinement_", None)


def _linear(chunk: Chunk, refinement: Refinement) -> Array:
    return refinement.linear(chunk.counts)


def _unseen(chunk: Chunk, known: Array) -> Array:
    """Number of tokens of each document whose words are not known."""
    return chunk.lengths - Chunk(drop_words(chunk.counts, known)).lengths


def _normalised(logits: Array) -> Array:
    return logits - logsumexp(logits, axis=1, keepdims=True)
