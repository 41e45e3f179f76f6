"""DCMLDA: topics whose words come in bursts ([Doyle2009]).

The model is told in `bursty.samplers.dcmlda`, its fitting in `bursty.inference.topics.dcmlda`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from bursty.families.dcm import DCMFamily, DCMParameters
from bursty.inference import mcem
from bursty.inference.topics.dcmlda import DCMLDAStatistics, Method, start
from bursty.models.topics import STORED, TopicModel, check_hyperparameter, documented
from bursty.samplers import dcmlda
from bursty.storage.schema import storable

Array = np.ndarray[Any, Any]

# Pairs of a word and a topic are numbered in 31 bits.
_MAX_PAIRS = 2**31


@storable("DCMLDA", **STORED)
@documented
class DCMLDA(TopicModel):
    """Topics of documents whose words come in bursts.

    As in LDA, every document is a mixture of topics. But each document draws its own word probabilities for each topic,
    around those the topic has in the corpus: if a sports document says "rugby" once it will say it again, rather than
    "hockey".

    Parameters
    ----------
    n_components : int, default 10
        Number of topics, K.
    alpha : float or array of shape (n_components,), optional
        Weights of the topics; where they are learned, what to start from.
    beta : float, array of shape (n_words,) or (n_components, n_words), optional
        Weights of the words in each topic; where they are learned, what to start from.
    learn_hyperparameters : bool, optional
        True, the default: learn alpha and beta by Monte Carlo EM. The topics of this model are its beta, so without
        learning, beta has to be given.
    (shared parameters)

    Attributes
    ----------
    alpha_ : ndarray of shape (n_components,)
        Weights of the topics.
    beta_ : ndarray of shape (n_components, n_words)
        Weights of the words in each topic; they do not sum to one.
    s_ : ndarray of shape (n_components,)
        Sum of each row of ``beta_``: the smaller, the burstier the topic.
    components_ : ndarray of shape (n_components, n_words)
        ``beta_`` over ``s_``: the expected word probabilities of each topic.
    (shared attributes)

    Notes
    -----
    Each topic gives a share of its ``s_`` to words that it has not had, more to those that many topics have: every one
    of its words gives up the part of a draw that words lose when they are met again (Kneser and Ney 1995). A topic that
    loses all its tokens keeps its last ``beta_`` and a small ``alpha_``.

    Examples
    --------
    >>> from bursty import datasets
    >>> from bursty.models.dcmlda import DCMLDA
    >>> corpus, _ = datasets.make_bursty_mixture(100, 50, 2, random_state=0)
    >>> model = DCMLDA(2, random_state=0).fit(corpus)
    >>> model.beta_.shape, model.transform(corpus).shape
    ((2, 50), (100, 2))
    """

    _learn: ClassVar[dict[Any, Any]] = {None: True, True: True, False: False}
    _statistics = DCMLDAStatistics

    def _method(self) -> Method:
        return Method(self._learn[self.learn_hyperparameters])

    def _start(self, chains: mcem.Chains) -> dcmlda.Hyperparameters:
        """As given; else even topics, and betas around the DCM of the whole corpus."""
        n_topics, n_words = chains.n_topics, chains.documents.n_words
        if n_topics * n_words >= _MAX_PAIRS:
            raise ValueError(
                f"{n_topics} topics x {n_words} words are more than the {_MAX_PAIRS:,} pairs there can be: take fewer "
                "topics, or leave rare words out"
            )
        alpha = 1.0 if self.alpha is None else self.alpha
        alpha = check_hyperparameter("alpha", alpha, ((n_topics,),))
        if self.beta is not None:
            beta = check_hyperparameter("beta", self.beta, ((n_topics, n_words), (n_words,)))
            return dcmlda.Hyperparameters(alpha, np.ascontiguousarray(beta.T))
        if not self._learn[self.learn_hyperparameters]:
            raise ValueError("DCMLDA's topics are its beta: give beta, or leave learn_hyperparameters=True")
        return start(chains, alpha, n_words)

    def _set_topics(self, params: dcmlda.Hyperparameters, stats: DCMLDAStatistics) -> None:
        self.alpha_ = params.alpha
        self.beta_ = params.beta.T
        self.s_ = params.totals
        self.components_ = self.beta_ / self.s_[:, None]

    def _model(self) -> dcmlda.Hyperparameters:
        return self._params

    def _sample_words(self, topic: int, lengths: Array, rng: np.random.Generator) -> sp.csr_array:
        return DCMFamily().sample(DCMParameters(self.beta_[topic][:, None]), lengths, rng)
