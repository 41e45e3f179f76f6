"""DCMLDA: topics whose words come in bursts ([Doyle2009]).

The model is told in `bursty.samplers.dcmlda`, its fitting in `bursty.inference.mcem`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.families.dcm import DCMFamily, DCMParameters
from bursty.inference import heldout, mcem
from bursty.models.topics import TopicModel, check_hyperparameter
from bursty.samplers import dcmlda

Array = np.ndarray[Any, Any]


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
    learn_hyperparameters : bool, default True
        Learn alpha and beta by Monte Carlo EM. The topics of this model are its beta, so without learning, beta has to
        be given.
    n_iter : int, default 200
        Iterations of Monte Carlo EM, at most.
    n_sweeps : int, default 5
        Gibbs sweeps in each iteration, the last of which is the sample that alpha and beta are learned from.
    burn_in : int, default 20
        Sweeps before alpha and beta are learned for the first time.
    n_samples : int, default 10
        Sweeps at the end, whose mean gives ``doc_topic_`` and the final alpha and beta.
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
        Weights of the topics.
    beta_ : ndarray of shape (n_components, n_words)
        Weights of the words in each topic; they do not sum to one.
    s_ : ndarray of shape (n_components,)
        Sum of each row of ``beta_``: the smaller, the burstier the topic.
    components_ : ndarray of shape (n_components, n_words)
        ``beta_`` over ``s_``: the expected word probabilities of each topic.
    doc_topic_ : ndarray of shape (n_documents, n_components)
        Topic mixtures of the documents of the fit; rows sum to one.
    trace_ : dict of arrays
        iteration, sweep, log_likelihood (of words and topics, per word) and tokens_per_second.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether the log-likelihood had stopped growing.

    Notes
    -----
    Each topic spreads a share of 0.001 of its ``s_`` evenly over all words, so that a word it has lost may come back
    and unseen words have a small probability. A topic that loses all its tokens keeps its last ``beta_`` and a small
    ``alpha_``.

    Examples
    --------
    >>> from bursty import datasets
    >>> from bursty.models.dcmlda import DCMLDA
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
        learn_hyperparameters: bool = True,
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

    def _method(self) -> mcem.DCMLDAMethod:
        return mcem.DCMLDAMethod(bool(self.learn_hyperparameters))

    def _start(self, chains: mcem.Chains) -> dcmlda.Hyperparameters:
        """As given; else even topics, and betas around the DCM of the whole corpus."""
        n_topics, n_words = chains.n_topics, chains.documents.n_words
        alpha = 1.0 if self.alpha is None else self.alpha
        alpha = check_hyperparameter("alpha", alpha, ((n_topics,),))
        if self.beta is not None:
            beta = check_hyperparameter("beta", self.beta, ((n_topics, n_words), (n_words,)))
            return dcmlda.Hyperparameters(alpha, np.ascontiguousarray(beta.T))
        if not self.learn_hyperparameters:
            raise ValueError("DCMLDA's topics are its beta: give beta, or leave learn_hyperparameters=True")
        return mcem.start_dcmlda(chains, alpha, n_words)

    def _finish(self, result: mcem.Result[dcmlda.Hyperparameters]) -> None:
        self.alpha_ = result.params.alpha
        self.beta_ = np.ascontiguousarray(result.params.beta.T)
        self.s_ = result.params.totals
        self.components_ = self.beta_ / self.s_[:, None]

    def _model(self) -> heldout.Model:
        return self._params

    def _sample_words(self, topic: int, lengths: Array, rng: np.random.Generator) -> sp.csr_array:
        return DCMFamily().sample(DCMParameters(self.beta_[topic][:, None]), lengths, rng)
