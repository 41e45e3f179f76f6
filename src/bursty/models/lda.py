"""LDA, by an exact sampler that runs on any number of threads, with hyperparameters fixed or learned.

`bursty.samplers.lda` describes the model, and `bursty.inference.topics.lda` how it is fitted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from bursty.families.multinomial import MultinomialFamily, MultinomialParameters
from bursty.inference import mcem
from bursty.inference.topics.lda import LDAStatistics, Method
from bursty.kernels import streams
from bursty.models.topics import STORED, TopicModel, check_hyperparameter, documented
from bursty.samplers import lda
from bursty.storage.schema import storable
from bursty.typing import Array


@storable("LDA", **STORED)
@documented
class LDA(TopicModel):
    r"""Latent Dirichlet allocation: every document is a mixture of topics that all documents share.

    Parameters
    ----------
    (number of topics)
    alpha : float or array of shape (n_components,), optional
        Prior weights of the topics in a document; 50 / K by default (Griffiths and Steyvers 2004). If they
        are learned, these are the initial values.
    beta : float or array of shape (n_words,), optional
        Prior weights of the words in a topic; 0.01 by default. If they are learned, these are the
        initial values.
    learn_hyperparameters : {"symmetric", True, False}, optional
        "symmetric", the default: learn one number for alpha and one for beta. True: learn an alpha for each topic and a
        beta for each word. False: keep them fixed.
    (shared parameters)

    Attributes
    ----------
    alpha_ : ndarray of shape (n_components,)
        Prior weights of the topics.
    beta_ : ndarray of shape (n_components, n_words)
        Prior weights of the words, the same for all topics.
    components_ : ndarray of shape (n_components, n_words)
        Word probabilities of each topic; rows sum to one.
    (shared attributes)

    See Also
    --------
    DCMLDA : Topics with bursts, which predict better.
    bursty.metrics.document_completion : How well topics predict.

    Notes
    -----
    Topics and documents are drawn by

    .. math::

       \phi_k \sim \mathrm{Dir}(\beta), \quad \theta_d \sim \mathrm{Dir}(\alpha), \quad z_{di} \sim \theta_d, \quad
       w_{di} \sim \phi_{z_{di}}

    Examples
    --------
    >>> from bursty import LDA, datasets
    >>> corpus, _ = datasets.make_bursty_mixture(100, 50, 2, random_state=0)
    >>> model = LDA(2, random_state=0).fit(corpus)
    >>> model.components_.shape, model.transform(corpus).shape
    ((2, 50), (100, 2))
    """

    _citation = (
        "D. M. Blei, A. Y. Ng and M. I. Jordan. Latent Dirichlet allocation. Journal of Machine Learning Research 3, "
        "pages 993-1022, 2003."
    )
    _learn: ClassVar[dict[Any, Any]] = {
        **{None: "symmetric", "symmetric": "symmetric"},
        **{True: "all", False: "nothing"},
    }
    _statistics = LDAStatistics

    def empirical_likelihood(
        self,
        X: Any,
        *,
        n_pseudo: int = 1000,
        random_state: Any = None,
        return_error: bool = False,
        topics: str = "fitted",
    ) -> Any:
        """Log-likelihood of each document by empirical likelihood.

        Parameters
        ----------
        X, n_pseudo, random_state, return_error
            As for `DCMLDA`.
        topics : {"fitted", "prior"}
            Word probabilities of the topics: "fitted" are ``components_``; "prior" are drawn once from their Dirichlet
            prior, so that nothing of the fit is used but ``alpha_`` and ``beta_``, the likelihood p(w | alpha, beta).
        """
        if topics not in ("fitted", "prior"):
            raise ValueError(f'topics must be "fitted" or "prior", not {topics!r}')
        if topics == "fitted":
            args = {"n_pseudo": n_pseudo, "random_state": random_state, "return_error": return_error}
            return super().empirical_likelihood(X, **args)
        seed = self._seed_for(random_state)
        phi = lda.draw_phi(np.zeros(self.components_.shape[::-1]), self.beta_[0], seed, streams.PRIOR)
        return self._empirical_likelihood(X, lda.Topics(self.alpha_, phi), seed, n_pseudo, return_error)

    def _method(self) -> Method:
        return Method(self._learn[self.learn_hyperparameters])

    def _method_for_new_documents(self) -> Method:
        return replace(self._method(), phi=np.ascontiguousarray(self.components_.T, dtype=np.float32))

    def _start(self, chains: mcem.Chains) -> lda.Hyperparameters:
        n_topics, n_words = chains.n_topics, chains.documents.n_words
        alpha = 50.0 / n_topics if self.alpha is None else self.alpha
        beta = 0.01 if self.beta is None else self.beta
        return lda.Hyperparameters(
            check_hyperparameter("alpha", alpha, ((n_topics,),)), check_hyperparameter("beta", beta, ((n_words,),))
        )

    def _set_topics(self, params: lda.Hyperparameters, stats: LDAStatistics) -> None:
        self.alpha_ = params.alpha
        self.beta_ = np.tile(params.beta, (len(self.alpha_), 1))
        self.components_ = np.ascontiguousarray(lda.mean_phi(stats.word_topics, params.beta).T)

    def _model(self) -> lda.Topics:
        return lda.Topics(self.alpha_, np.ascontiguousarray(self.components_.T))

    def _sample_words(self, topic: int, lengths: Array, rng: np.random.Generator) -> sp.csr_array:
        return MultinomialFamily().sample(MultinomialParameters(self.components_[topic][:, None]), lengths, rng)
