"""Prediction with fitted mixtures: components and likelihoods of documents, and samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from bursty.engines import Documents
from bursty.estimator import check_lengths, generator
from bursty.families.base import Family, log_coefficient
from bursty.families.estimator import check_coefficient, check_perplexity, get_family
from bursty.inference.posteriors import MixtureState, certainties
from bursty.typing import Array


class MixturePrediction:
    """Methods of a fitted mixture that take new documents, or draw them."""

    _place: Any
    _perplexity: Any
    family: Any
    weights_: Array
    _state: MixtureState
    # Whether the posterior is tempered: not in models saved by version 0.1, which do not have it.
    _tempered: bool = False

    @property
    def _family(self) -> Family[Any, Any]:
        """The family of the fit; models saved by version 0.1 only have the parameter."""
        return get_family(getattr(self, "family_", self.family))

    def predict(self, X: Any) -> Array:
        """The most probable component of each document."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> Array:
        """Posterior of each component for each document; calibrated if the fit is tempered (see Notes)."""
        return self._posterior(self._place(X), self._family, self._tempered)[0]

    def score_samples(self, X: Any, *, normalized: bool = False, coefficient: bool = False) -> Array:
        """Log-likelihood of each document.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        normalized : bool, default False
            Divide each component's probabilities by their exact sum (EDCM only; the others sum to one).
        coefficient : bool, default False
            If False, the probability of one sequence of words; if True, that of the counts, which is larger by the
            multinomial coefficient. Densities have none.
        """
        documents, family = self._place(X), self._family
        if coefficient:
            check_coefficient(family)
        if normalized:
            if family.is_normalised:
                raise ValueError(f"normalized=True is for EDCM components; {family.title} is already normalised")
            family = family.normalised()
        log_prob = self._posterior(documents, family, tempering=False)[1]
        return log_prob + documents.collect(log_coefficient) if coefficient else log_prob

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of the documents. Higher is better."""
        return float(np.mean(self.score_samples(X)))

    def perplexity(self, X: Any, *, normalized: bool = False) -> float:
        """Perplexity per word, ``exp(-sum_d log p(x_d) / sum_d n_d)``. Lower is better; densities have none."""
        documents = self._place(X)
        check_perplexity(self._family, "a mixture")
        return self._perplexity(documents, self.score_samples(documents, normalized=normalized))

    def sample(self, lengths: Any, random_state: Any = None) -> tuple[Any, Array]:
        """Draw one document of each length, and return them with their components."""
        check_is_fitted(self)
        rng, family = generator(random_state), self._family
        sizes = check_lengths(lengths)
        labels = rng.choice(len(self.weights_), size=len(sizes), p=self.weights_)
        order = np.argsort(labels, kind="stable")
        parts = [
            family.sample(self._state.params.component(k), sizes[labels == k], rng)
            for k in range(len(self.weights_))
            if np.any(labels == k)
        ]
        documents = sp.csr_array(sp.vstack(parts)) if sp.issparse(parts[0]) else np.vstack(parts)
        return documents[np.argsort(order)], labels

    def _posterior(self, documents: Documents, family: Family[Any, Any], tempering: bool) -> tuple[Array, Array]:
        shared = {"family": family, "state": self._state, "tempering": tempering}
        return documents.collect(certainties, documents.split(None), **shared)
