"""Clustering with mixtures of any family: each document was made by one of K components.

    log p(x) = log sum_k mu_k p(x | component k)

fitted by EM with deterministic annealing (`bursty.inference.em`) from one of the starts of `bursty.inference.starts`.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted

from bursty.engines import Documents
from bursty.estimator import check_lengths, check_number, check_whole, generator
from bursty.families.base import check_perplexity, get_family
from bursty.inference import em
from bursty.inference.checkpoint import Checkpoint, Keeper
from bursty.inference.em import Problem
from bursty.inference.runs import Outcome, Runner, warn_interrupted
from bursty.inference.starts import STARTS, from_responsibilities, labelled
from bursty.inference.stream import Stream
from bursty.models.clusters import ClusterReading, known_labels
from bursty.models.selection import DEFAULT_KS, Selection, select
from bursty.progress import progress
from bursty.storage.schema import floats, index, integers, items, part, storable, whole
from bursty.validation import check_weights

Array = np.ndarray[Any, Any]


@storable(
    "Mixture",
    weights_=floats("K", low=0, sums=0),
    components_=floats("K", "n_words"),
    _state=part(em.State, K="K"),
    _running=part(em.Expectation, K="K"),
    labels_=index("K", "documents"),
    sizes_=integers("K", low=0),
    probabilities_=floats("documents", low=0),
    _leads=items("documents"),
    confidence_=items("K"),
    log_likelihood_=items("documents"),
    _n_batches=whole(),
)
class Mixture(DensityMixin, ClusterReading):
    """Clusters of documents, by EM for a mixture of multinomial, DCM, EDCM or von Mises-Fisher components.

    Parameters
    ----------
    n_components : int or "auto", default 2
        Number of clusters; "auto" finds it by held-out likelihood (see `select_components`).
    family : {"edcm", "dcm", "multinomial", "vonmisesfisher", "dirichlet"} or family estimator, default "edcm"
        What a component is.
    init : {"kmeans", "perturb"} or array of shape (n_documents, n_components), default "kmeans"
        Where EM starts: the best of several runs of spherical k-means on tf-idf, softened; the one-component fit with a
        little noise for each component (Elkan 2006); or responsibilities.
    temperatures : sequence of float, default (25, 5, 1)
        Phases of the annealing; each divides the log-likelihoods. ``(1,)`` is plain EM.
    perturbation : float, default 0.05
        Standard deviation of the log-normal noise of ``init="perturb"``. With less, EM takes longer to leave the
        one-component fit: lower ``tol`` with it.
    n_init : int, default 1
        Starts; the run of greatest likelihood is kept.
    max_iter : int, default 200
        Iterations at each temperature, at most.
    tol : float, optional
        A phase ends when the log-likelihood changes by less than this, in relative terms. By default 1e-5, and 1e-6 for
        ``init="perturb"``, whose first steps away from the one-component fit are small.
    smoothing : float, default 0.01
        After EM each component takes in this share of its weight from the whole corpus, and words the corpus never had
        get this times the smallest parameter, so that unseen documents have a finite likelihood. 0 for plain maximum
        likelihood.
    warm_start : bool, default False
        Start from where the last fit ended.
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
    labels_ : ndarray of shape (n_documents,)
        The most probable component of each document.
    weights_ : ndarray of shape (n_components,)
        Mixing weights.
    components_ : ndarray of shape (n_components, n_words)
        The parameters of the components: theta, alpha, beta or mu.
    n_iter_ : int
        Iterations, all phases together.
    probabilities_ : ndarray of shape (n_documents,)
        Its posterior probability.
    log_likelihood_ : ndarray of shape (n_documents,)
        Log-likelihood of each document.
    lower_bound_ : float
        Mean log-likelihood of a document.
    converged_ : bool
        Whether every phase ended before ``max_iter``.
    trace_ : dict of arrays
        phase, temperature, iteration, log_likelihood and weights of each iteration of the run that was kept.
    classes_ : ndarray
        The labels that were given, in semi-supervised fits: component i stands for ``classes_[i]``.

    Notes
    -----
    Empty documents get the mixing weights as posterior and keep their row. A component that loses all its documents
    keeps a weight near zero and is never a label.
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        family: Any = "edcm",
        init: Any = "kmeans",
        temperatures: Any = (25, 5, 1),
        perturbation: float = 0.05,
        n_init: int = 1,
        max_iter: int = 200,
        tol: float | None = None,
        smoothing: float = 0.01,
        warm_start: bool = False,
        random_state: Any = None,
        checkpoint: Any = None,
        engine: str = "local",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.family = family
        self.init = init
        self.temperatures = temperatures
        self.perturbation = perturbation
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.smoothing = smoothing
        self.warm_start = warm_start
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        y : array of shape (n_documents,), optional
            Labels of some documents, -1 for the others (semi-supervised EM: labelled documents stay in the component
            of their label, and EM starts from them unless ``init`` is an array). A y without any -1 is ignored, as
            clustering does.
        sample_weight : array-like of shape (n_documents,), optional
            Number of times each document counts; need not be whole. Documents of weight 0 get a label all the same.
        """
        schedule = self._check_parameters()
        documents = self._place_to_fit(X, "there is nothing to cluster")
        weights = None if sample_weight is None else check_weights(sample_weight, documents.n_documents)
        rng = generator(self.random_state)
        labels = self._known_labels(y, documents.n_documents)
        problem = self._problem(documents, labels, weights, self._choose_n_components(documents, weights))
        keeper = Keeper.of(self, documents, y, weights)
        outcome = self._run(problem, labels, rng, schedule, keeper)
        best = outcome.best
        if outcome.interrupted:
            warn_interrupted(len(best.trace), "Set warm_start=True and call fit again to go on")
        elif not best.converged:
            warnings.warn(
                f"EM did not converge within {self.max_iter} iterations at every temperature: "
                "raise max_iter or tol, or take the result as it is",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._n_batches = 0
        self._running = problem.expectation(best.state)
        self._finish(problem, best.state, self._running)
        self.trace_, self.n_iter_ = best.trace.arrays(), len(best.trace)
        self.converged_ = best.converged and not outcome.interrupted
        if not outcome.interrupted:
            keeper.done()
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the clusters and give each document's."""
        return self.fit(X, y, sample_weight).labels_

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a chunk of a stream: online EM with a step that decays as (t + 2)^-0.6.

        The first call fits its documents as `fit` does, so give it enough of them; the following ones mix their
        statistics into those of the stream and update the components once.
        """
        if not hasattr(self, "_state"):
            return self.fit(X, y, sample_weight)
        documents = self._place(X)
        weights = None if sample_weight is None else check_weights(sample_weight, documents.n_documents)
        labels = self._known_labels(y, documents.n_documents)
        problem = self._problem(documents, labels, weights, len(self.weights_))
        if self._n_batches == 0:
            self._running = self._running * (1.0 / float(self._running.resp.sum()))
        stream = Stream(self._running, 0, self._n_batches)
        n_documents = documents.n_documents if weights is None else float(weights.sum())
        stream = stream.mix(problem.expectation(self._state), n_documents)
        self._running, self._n_batches = stream.mean, stream.n_chunks
        self._finish(problem, documents.here(em.maximise, problem.family, self._running), self._running)
        return self

    def predict(self, X: Any) -> Array:
        """The most probable component of each document."""
        return self._posterior(X)[0].argmax(axis=1)

    def predict_proba(self, X: Any) -> Array:
        """Posterior of each component for each document."""
        return self._posterior(X)[0]

    def score_samples(self, X: Any, *, normalized: bool = False) -> Array:
        """Log-likelihood of each document, as one sequence of words.

        With ``normalized`` (EDCM only) each component's probabilities are divided by their exact sum.
        """
        return self._posterior(X, normalized)[1]

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of a document."""
        return float(np.mean(self.score_samples(X)))

    def perplexity(self, X: Any, *, normalized: bool = False) -> float:
        """``exp(-sum_d log p(x_d) / sum_d n_d)``; lower is better. A density has none."""
        check_perplexity(get_family(self.family), "a mixture")
        documents = self._place(X)
        return self._perplexity(documents, self.score_samples(documents, normalized=normalized))

    def sample(self, lengths: Any, random_state: Any = None) -> tuple[Any, Array]:
        """Draw a document of each of these lengths, and the component that made it."""
        check_is_fitted(self)
        rng, family = generator(random_state), get_family(self.family)
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

    def _check_parameters(self) -> em.Schedule:
        get_family(self.family)
        Checkpoint.of(self.checkpoint)
        check_number("smoothing", self.smoothing)
        check_number("perturbation", self.perturbation, positive=True)
        if isinstance(self.n_components, str) and self.n_components != "auto":
            raise ValueError(f'n_components must be a whole number above 0 or "auto", not {self.n_components!r}')
        for name in ("n_init", "max_iter", *([] if self.n_components == "auto" else ["n_components"])):
            check_whole(name, getattr(self, name))
        if isinstance(self.init, str) and self.init not in STARTS:
            raise ValueError(f"init must be one of {', '.join(map(repr, STARTS))} or an array, not {self.init!r}")
        usual = 1e-6 if isinstance(self.init, str) and self.init == "perturb" else 1e-5
        return em.Schedule.checked(self.temperatures, self.max_iter, usual if self.tol is None else self.tol)

    def _choose_n_components(self, documents: Documents, weights: Array | None) -> int:
        n_documents = documents.n_documents
        if self.n_components == "auto":
            ks = [k for k in DEFAULT_KS if k <= n_documents // 2] or [1]
            self.selection_: Selection = select(self, documents, ks, sample_weight=weights)
            return self.selection_.n_components
        if self.n_components > n_documents:  # type: ignore[operator]  # a number by now
            raise ValueError(
                f"n_samples={n_documents} should be >= n_components={self.n_components}: "
                f"{n_documents} documents cannot make {self.n_components} clusters"
            )
        return int(self.n_components)

    def _known_labels(self, y: Any, n_documents: int) -> Array | None:
        """Component of each labelled document, -1 for the others; None where y says nothing."""
        found = known_labels(y, n_documents)
        if found is None or not np.any(found[1] < 0):
            return None
        self.classes_, labels = found
        if self.n_components != "auto" and len(self.classes_) > int(self.n_components):
            raise ValueError(
                f"y has {len(self.classes_)} classes but n_components is {self.n_components}: "
                "each class needs a component"
            )
        return labels

    def _integer(self, X: Any = None) -> bool:
        return get_family(self.family).integer

    def _problem(self, documents: Documents, labels: Array | None, weights: Array | None, n_components: int) -> Problem:
        family = get_family(self.family)
        return Problem(documents, family, documents.split(labels), n_components, float(self.perturbation), weights)

    def _continues(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "_state")

    def _start(self, problem: Problem, labels: Array | None, rng: np.random.Generator) -> em.State:
        if self._continues():
            if self._state.params.n_components != problem.n_components:
                raise ValueError("warm_start needs the number of components of the last fit; use warm_start=False")
            return self._state
        if isinstance(self.init, str):
            return STARTS[self.init](problem, rng) if labels is None else labelled(problem, labels, rng)
        resp = np.asarray(self.init, dtype=np.float64)
        shape = problem.documents.n_documents, problem.n_components
        if resp.shape != shape or not np.all(np.isfinite(resp)) or np.any(resp < 0) or np.any(resp.sum(axis=1) <= 0):
            raise ValueError(
                f"init must give {shape[0]} documents x {shape[1]} components responsibilities, none negative, "
                f"none all zero; it has shape {resp.shape}"
            )
        return from_responsibilities(problem, resp / resp.sum(axis=1, keepdims=True))

    def _run(
        self, problem: Problem, labels: Array | None, rng: np.random.Generator, schedule: em.Schedule, keeper: Keeper
    ) -> Outcome[em.Run]:
        n_runs = 1 if self._continues() else int(self.n_init)
        n_steps = n_runs * len(schedule.temperatures) * schedule.max_iter
        with progress("clustering", n_steps, bool(self.verbose)) as report:

            def on_step(run: em.Run) -> None:
                report(f"T = {run.trace['temperature'][-1]:g}, log-likelihood {run.score:.4f}")

            def start(rng: np.random.Generator) -> em.Run:
                return em.Run(problem, schedule, self._start(problem, labels, rng))

            return Runner(start, partial(em.Run.resumed, problem, schedule), keeper, on_step).best_of(n_runs, rng)

    def _finish(self, problem: Problem, state: em.State, expectation: em.Expectation) -> None:
        """Smooth the components, then label the documents with them."""
        documents, family = problem.documents, problem.family
        if self.smoothing > 0:
            self._state = documents.here(em.smoothed, family, expectation, state, self.smoothing)
        else:
            self._state = state
        self.weights_ = state.weights
        self.components_ = self._state.params.table.T
        found = documents.collect(em.label, problem.labels, family=family, state=self._state)
        labels, probabilities, self.log_likelihood_, leads = found
        self.lower_bound_ = float(np.average(self.log_likelihood_, weights=problem.sample_weight))
        self._read_clusters(documents, labels, probabilities, leads)

    def _smooth(self, smoothing: float) -> None:
        """Components as they would be with another amount of smoothing."""
        self._state = em.smoothed(get_family(self.family), self._running, self._state, smoothing)

    def _component_log_prob(self, documents: Documents) -> Array:
        return documents.collect(get_family(self.family).log_prob, params=self._state.params)

    def _posterior(self, X: Any, normalized: bool = False) -> tuple[Array, Array]:
        family = get_family(self.family)
        documents = self._place(X)
        if normalized:
            if family.is_normalised:
                raise ValueError(f"normalized=True is for EDCM components; {family.title} is normalised as it is")
            family = family.normalised()
        return documents.collect(em.responsibilities, documents.split(None), family=family, state=self._state)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        # scikit-learn's checks ask for it of whatever takes sparse input and has predict_proba.
        tags.classifier_tags = ClassifierTags(multi_class=self.n_components != 2)
        return tags


def select_components(X: Any, ks: Any = None, criterion: str = "heldout", cv: int = 5, **parameters: Any) -> Selection:
    """How many clusters? Fit each number and compare.

    Parameters
    ----------
    X : documents x words counts
    ks : sequence of int, optional
        The numbers to compare; by default a growing sequence from 1 to 30.
    criterion : {"heldout", "bic", "icl"}
        Mean log-likelihood of documents left out (the larger, the better), each number with the smoothing that suits
        it; the choice is the number from which on more clusters bring little. Or the Bayesian information criterion, or
        that with the entropy of the assignment added, both as a gain per document (the larger, the better). With
        thousands of words BIC and ICL count every word of every component as a parameter and ask for very few clusters.
    cv : int
        Folds, for "heldout".
    **parameters
        Of `Mixture`.

    Returns
    -------
    Selection
        The table (number, score, standard error) and the choice, ``n_components``.
    """
    mixture = Mixture(**parameters)
    documents = mixture._place(X, reset=True)
    ks = [k for k in DEFAULT_KS if k <= documents.n_documents // 2] if ks is None else list(ks)
    return select(mixture, documents, ks, criterion, cv)
