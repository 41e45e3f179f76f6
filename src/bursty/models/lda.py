"""LDA, by an exact sampler that runs on any number of threads, with hyperparameters fixed or learned.

The model is told in `bursty.samplers.lda`, its fitting in `bursty.inference.mcem`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.families.multinomial import MultinomialFamily, MultinomialParameters
from bursty.inference import heldout, mcem
from bursty.models.topics import TopicModel, check_hyperparameter
from bursty.samplers import lda

Array = np.ndarray[Any, Any]

_LEARN = {False: "nothing", "symmetric": "symmetric", True: "all"}


class LDA(TopicModel):
    """Latent Dirichlet allocation: every document is a mixture of topics that all documents share.

    Parameters
    ----------
    n_components : int, default 10
        Number of topics, K.
    alpha : float or array of shape (n_components,), optional
        Prior weights of the topics in a document; 50 / K by default (Griffiths and Steyvers 2004). Where they are
        learned, what to start from.
    beta : float or array of shape (n_words,), optional
        Prior weights of the words in a topic; 0.01 by default. Where they are learned, what to start from.
    learn_hyperparameters : {"symmetric", True, False}, default "symmetric"
        "symmetric": learn one number for alpha and one for beta. True: learn an alpha for each topic and a beta for
        each word. False: keep them as they are.
    n_iter : int, default 200
        Iterations, at most.
    n_sweeps : int, default 5
        Gibbs sweeps in each iteration, after the last of which alpha and beta are learned.
    burn_in : int, default 20
        Sweeps before alpha and beta are learned for the first time.
    n_samples : int, default 10
        Sweeps at the end, whose mean gives ``doc_topic_`` and ``components_``.
    tol : float, default 1e-3
        The fit ends when the log-likelihood per word, averaged over ten iterations, grows by less than this in relative
        terms. 0 runs all of ``n_iter``.
    warm_start : bool, default False
        Go on from where the last fit ended.
    random_state : int, Generator or RandomState, optional
        The same seed gives the same bits, whatever the number of threads.
    checkpoint : str, path or Checkpoint, optional
        A file that is written as the fit goes on. A fit that finds it there, of the same documents and parameters,
        goes on from it to the same bits; it is removed when the fit is done.
    engine : {"local", "dask"}, Dask client or Engine
        Where chunks of documents run.
    n_jobs : int, optional
        Threads; None means all cores.
    verbose : int, default 0
        Show progress.

    Attributes
    ----------
    alpha_ : ndarray of shape (n_components,)
        Prior weights of the topics.
    beta_ : ndarray of shape (n_components, n_words)
        Prior weights of the words, the same for all topics.
    components_ : ndarray of shape (n_components, n_words)
        Word probabilities of each topic; rows sum to one.
    doc_topic_ : ndarray of shape (n_documents, n_components)
        Topic mixtures of the documents of the fit; rows sum to one.
    trace_ : dict of arrays
        iteration, sweep, log_likelihood (of words and topics, per word) and tokens_per_second.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether the log-likelihood had stopped growing.
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        alpha: Any = None,
        beta: Any = None,
        learn_hyperparameters: bool | str = "symmetric",
        n_iter: int = 200,
        n_sweeps: int = 5,
        burn_in: int = 20,
        n_samples: int = 10,
        tol: float = 1e-3,
        warm_start: bool = False,
        random_state: Any = None,
        checkpoint: Any = None,
        engine: Any = "local",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.learn_hyperparameters = learn_hyperparameters
        self.n_iter = n_iter
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose

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
        # Sweeps and pseudo documents are numbered from 0: this draw is none of them.
        phi = lda.draw_phi(np.zeros(self.components_.shape[::-1]), self.beta_[0], seed, 2**62)
        return self._empirical_likelihood(X, heldout.Mixture(self.alpha_, phi), seed, n_pseudo, return_error)

    def _method(self) -> mcem.LDAMethod:
        return mcem.LDAMethod(_LEARN[self.learn_hyperparameters])

    def _check_parameters(self) -> mcem.Schedule:
        if not isinstance(self.learn_hyperparameters, bool | str) or self.learn_hyperparameters not in _LEARN:
            raise ValueError(
                f'learn_hyperparameters must be "symmetric", True or False, not {self.learn_hyperparameters!r}'
            )
        return super()._check_parameters()

    def _start(self, chains: mcem.Chains) -> lda.Hyperparameters:
        n_topics, n_words = chains.n_topics, chains.documents.n_words
        alpha = 50.0 / n_topics if self.alpha is None else self.alpha
        beta = 0.01 if self.beta is None else self.beta
        return lda.Hyperparameters(
            check_hyperparameter("alpha", alpha, ((n_topics,),)), check_hyperparameter("beta", beta, ((n_words,),))
        )

    def _finish(self, result: mcem.Result[lda.Hyperparameters]) -> None:
        self.alpha_ = result.params.alpha
        self.beta_ = np.tile(result.params.beta, (len(self.alpha_), 1))
        self.components_ = np.ascontiguousarray(lda.mean_phi(result.stats.word_topics, result.params.beta).T)

    def _model(self) -> heldout.Model:
        return heldout.Mixture(self.alpha_, np.ascontiguousarray(self.components_.T))

    def _sample_words(self, topic: int, lengths: Array, rng: np.random.Generator) -> sp.csr_array:
        return MultinomialFamily().sample(MultinomialParameters(self.components_[topic][:, None]), lengths, rng)
