"""DCMLDA: topics whose words come in bursts ([Doyle2009]).

`bursty.samplers.dcmlda` describes the model, and `bursty.inference.topics.dcmlda` how it is fitted.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from bursty.families.bursts import Burstiness, burstiness_of_pairs
from bursty.families.dcm import DCMFamily, DCMParameters
from bursty.families.priors import UrnPrior, check_prior
from bursty.inference import mcem
from bursty.inference.stream import Stream
from bursty.inference.topics.dcmlda import DCMLDAStatistics, Method, draw_params, start
from bursty.models.topics import STORED, TopicModel, check_hyperparameter, documented
from bursty.samplers import dcmlda
from bursty.storage.schema import storable
from bursty.typing import Array

# Pairs of a word and a topic are numbered in 31 bits.
_MAX_PAIRS = 2**31


@storable("DCMLDA", **STORED)
@documented
class DCMLDA(TopicModel):
    r"""Topics of documents whose words come in bursts.

    As in LDA, every document is a mixture of topics. But each document draws its own word probabilities for each topic,
    around those the topic has in the corpus: a sports document that mentions "rugby" once is likely to mention it
    again, rather than "hockey".

    Parameters
    ----------
    (number of topics)
    alpha : float or array of shape (n_components,), optional
        Weights of the topics; if they are learned, these are the initial values.
    beta : float, array of shape (n_words,) or (n_components, n_words), optional
        Weights of the words in each topic; if they are learned, these are the initial values.
    learn_hyperparameters : bool, optional
        True, the default: learn alpha and beta by Monte Carlo EM. The topics of this model are its beta, so without
        learning, beta has to be given.
    prior : {"auto", None}, default "auto"
        How ``beta_`` is estimated from the final samples. "auto": the proportions of the words are averaged over and
        ``s_`` is shrunk towards a location that the topics share (see `bursty.families.priors`). None: maximum
        likelihood, as in Doyle and Elkan 2009, which puts ``s_`` at infinity where a topic has little evidence.
    n_drawn : int, default 60
        Number of iterations at the beginning (at most a third of ``n_iter``) in which the word proportions of the
        topics are drawn at random, given the topics of the tokens, rather than estimated. Fits end in better optima:
        they predict held-out words slightly better, and common words lead fewer topics. A warm start draws nothing; 0
        is maximum likelihood throughout.
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

    See Also
    --------
    LDA : Topics without bursts.
    Mixture : One cluster per document.
    bursty.metrics.document_completion : How well topics predict.
    bursty.plot.topics_over : Topics over time.

    Notes
    -----
    Every document d draws ([Doyle2009])

    .. math::

       \theta_d \sim \mathrm{Dir}(\alpha), \quad \phi_{dk} \sim \mathrm{Dir}(\beta_k), \quad z_{di} \sim \theta_d, \quad
       w_{di} \sim \phi_{d z_{di}}

    Each topic gives a share of its ``s_`` to words that are new to it, and more to those that many topics have, by
    absolute discounting (Kneser and Ney 1995). A topic that loses all its tokens keeps its last ``beta_`` and a small
    ``alpha_``.

    Examples
    --------
    >>> from bursty import datasets
    >>> from bursty import DCMLDA
    >>> corpus, _ = datasets.make_bursty_mixture(100, 50, 2, random_state=0)
    >>> model = DCMLDA(2, random_state=0).fit(corpus)
    >>> model.beta_.shape, model.transform(corpus).shape
    ((2, 50), (100, 2))
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        alpha: Any = None,
        beta: Any = None,
        learn_hyperparameters: bool | str | None = None,
        prior: str | None = "auto",
        n_drawn: int = 60,
        n_iter: int = 400,
        n_sweeps: int = 5,
        burn_in: int = 20,
        n_samples: int = 10,
        tol: float = 1e-3,
        n_init: int = 1,
        warm_start: bool = False,
        random_state: Any = None,
        checkpoint: Any = None,
        engine: Any = "local",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            n_components,
            alpha=alpha,
            beta=beta,
            learn_hyperparameters=learn_hyperparameters,
            n_iter=n_iter,
            n_sweeps=n_sweeps,
            burn_in=burn_in,
            n_samples=n_samples,
            tol=tol,
            n_init=n_init,
            warm_start=warm_start,
            random_state=random_state,
            checkpoint=checkpoint,
            engine=engine,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.prior = prior
        self.n_drawn = n_drawn

    _citation = (
        "G. Doyle and C. Elkan. Accounting for burstiness in topic models. Proceedings of the 26th International "
        "Conference on Machine Learning (ICML), pages 281-288, 2009."
    )
    _learn: ClassVar[dict[Any, Any]] = {None: True, True: True, False: False}
    _least: ClassVar[dict[str, int]] = {**TopicModel._least, "n_drawn": 0}
    _statistics = DCMLDAStatistics

    def _method(self) -> Method:
        return Method(self._learn[self.learn_hyperparameters], self._prior())

    def _check_parameters(self) -> mcem.Schedule:
        self._prior()
        schedule = super()._check_parameters()
        n_drawn = min(int(self.n_drawn), schedule.n_iter // 3)
        if n_drawn == 0 or self._continues() or not self._learn[self.learn_hyperparameters]:
            return schedule
        rule = replace(schedule.rule, n_skipped=n_drawn)  # type: ignore[type-var]  # topic models use MeanGain
        return replace(schedule, rule=rule, n_drawn=n_drawn, draw=draw_params)

    def _prior(self) -> UrnPrior | None:
        return check_prior(self.prior)

    def _start(self, chains: mcem.Chains) -> dcmlda.Hyperparameters:
        """The given values, or equal topics and the betas of a start by LDA."""
        n_topics, n_words = chains.n_topics, chains.documents.n_words
        if n_topics * n_words >= _MAX_PAIRS:
            raise ValueError(
                f"{n_topics} topics x {n_words} words are more than {_MAX_PAIRS:,} pairs: lower "
                "n_components, or leave out rare words"
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

    def _merged_params(self, params: dcmlda.Hyperparameters, stats: DCMLDAStatistics) -> dcmlda.Hyperparameters:
        return replace(self._method().conclude(stats, params), alpha=params.alpha)

    def burstiness(self) -> Burstiness:
        """How bursty each topic is, from the samples of the fit: s with an interval, a test, and repeats in words."""
        check_is_fitted(self)
        stream = Stream.unpack(DCMLDAStatistics, self._stream)
        stats = stream.mean * stream.n_documents
        return burstiness_of_pairs(stats.words, stats.sizes(), len(self.alpha_))

    def _model(self) -> dcmlda.Hyperparameters:
        return self._params

    def _sample_words(self, topic: int, lengths: Array, rng: np.random.Generator) -> sp.csr_array:
        return DCMFamily().sample(DCMParameters(self.beta_[topic][:, None]), lengths, rng)
