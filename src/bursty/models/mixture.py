"""Clustering with mixtures of any family: each document comes from one of K components.

    log p(x) = log sum_k mu_k p(x | component k)

fitted by EM (`bursty.inference.em`) from one of the starts of `bursty.inference.starts`.
`bursty.models.mixture_settings` has the settings that depend on the data.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags, Tags

from bursty.engines import Column, Documents
from bursty.estimator import check_choice, generator
from bursty.families.estimator import get_family
from bursty.families.shared import Shared
from bursty.inference import em
from bursty.inference.checkpoint import CheckpointWriter
from bursty.inference.em import Problem
from bursty.inference.posteriors import MixtureState, Places, label
from bursty.inference.runs import Outcome, Runner, warn_interrupted
from bursty.inference.starts import STARTS, from_responsibilities, labelled
from bursty.inference.stream import Stream
from bursty.models import mixture_settings as settings
from bursty.models.clusters import ClusterReading, check_members, known_labels
from bursty.models.groups import Merge
from bursty.models.mixture_prediction import MixturePrediction
from bursty.models.selection import Selection, select
from bursty.progress import progress
from bursty.storage.schema import expect_equal, floats, index, integers, items, maybe, number, part, storable, whole
from bursty.typing import Array
from bursty.validation import check_weights
from bursty.wording import counted


def _check_copies(model: Mixture, sizes: dict[str, int]) -> None:
    """What users see is what documents are compared with."""
    expect_equal(model.weights_, model._state.weights, "weights_")
    expect_equal(model.components_, model._state.params.table.T, "components_")
    check_members(model, sizes)


@storable(
    "Mixture",
    weights_=floats("K", low=0, sums=0),
    components_=floats("K", "n_words"),
    _state=part(MixtureState, K="K"),
    _running=part(em.Expectation, K="K"),
    labels_=index("K", "documents"),
    sizes_=integers("K", low=0),
    probabilities_=floats("documents", low=0, high=1 + 1e-6),
    runner_up_=integers("documents", low=-1, high="K"),
    runner_up_probabilities_=floats("documents", low=0, high=1 + 1e-6),
    confidence_=items("K"),
    feature_count_=floats("K", "n_words"),
    log_likelihood_=items("documents"),
    _n_batches=whole(),
    _n_seen=number(low=0),
    _names=maybe(items("K")),
    _document_share=maybe(floats("n_words", low=0, high=1)),
    check=_check_copies,
)
class Mixture(MixturePrediction, ClusterReading):
    r"""Clusters of documents, by EM for a mixture of multinomial, DCM, EDCM or von Mises-Fisher components.

    Parameters
    ----------
    n_components : int or "auto", default 2
        Number of clusters; "auto" chooses it as `select_components` does.
    family : {"auto", "edcm", "dcm", "multinomial", "vonmisesfisher", "dirichlet"} or family, default "auto"
        Distribution of a component. "auto" is the EDCM where it is nearly as good as the DCM, which it approximates
        (long vocabularies, few repeats), and the DCM elsewhere.
    init : {"auto", "lsa", "hellinger", "directions", "kmeans", "perturb"} or array, default "auto"
        Start of EM. "lsa": the best of 30 runs of spherical k-means in the space of the leading singular vectors of
        tf-idf. "hellinger": the same for square roots of proportions, for tables with few columns. "auto" is
        "hellinger" where more than 15% of the cells are filled, else "lsa". "kmeans": spherical k-means on tf-idf.
        "directions": k-means of the rows themselves, for real vectors such as embeddings (of the family
        "vonmisesfisher"). "perturb": the one-component fit with noise (Elkan 2006). Or responsibilities, of shape
        (n_documents, n_components).
    temperatures : sequence of float, default (1,)
        Phases of deterministic annealing; each divides the log-likelihoods. (25, 5, 1) in Elkan (2006).
    tempering : {"auto", "distinct", None}, default "auto"
        "distinct": divide the log-likelihood of each document by the root of the number of its distinct words, so that
        long documents are not certain of their cluster at once. None: the posterior of the model itself. "auto" is
        None where more than 15% of the cells are filled, else "distinct".
    prior : {"auto", "shared", None} or prior, default "auto"
        "shared": all components have the s (or kappa) of the whole corpus, and their proportions are shrunk towards its
        proportions. None: maximum likelihood. "auto" is None where more than 15% of the cells are filled, else
        "shared". Or an object such as ``families.GammaPrior(0.1, 0.1)``.
    shrinkage : float, default 10
        Strength of ``prior="shared"``: each component gets the words of this many average documents.
    perturbation : float, default 0.05
        Standard deviation of the log-normal noise of ``init="perturb"``.
    n_init : int, default 1
        Number of starts; the run with the largest likelihood is kept. More than one makes sense for maximum likelihood
        (``prior=None, tempering=None``).
    max_iter : int, default 500
        Maximum number of iterations at each temperature.
    tol : float, optional
        Tolerance of the stopping rule.
    stopping : {"auto", "moved", "likelihood", "relative"}, default "auto"
        When a phase ends. "moved": responsibilities change by at most ``tol`` per document (0.002). "likelihood": that,
        and the log-likelihood changes by at most ``tol`` nats per document (1e-6). "relative": relative tolerance on
        the log-likelihood (1e-5; 1e-6 with ``init="perturb"``). "auto" is "moved" with tempering and for von
        Mises-Fisher components, else "likelihood".
    restart : bool, default True
        An annealed run that ends with empty clusters is restarted at the next lower temperature; the result with the
        largest likelihood is kept. Clusters that are still empty are reported by a warning, with or without restarts.
    smoothing : float, default 0.01
        Words that do not occur in the corpus get this multiple of the smallest parameter; without a prior, each
        component is also mixed with this share of the whole corpus. New documents then have a finite likelihood.
    warm_start : bool, default False
        Start from the result of the last fit.
    random_state : int, Generator or RandomState, optional
        The same seed gives the same bits, whatever the number of threads.
    checkpoint : str, path or Checkpoint, optional
        File to which the state of the fit is written regularly. A fit of the same documents with the same parameters
        resumes from it, to the same bits; it is removed at the end of the fit.
    engine : {"local", "dask", "cuda"}, Dask client or Engine
        Execution engine.
    n_jobs : int, optional
        Number of threads; None means all cores.
    verbose : int, default 0
        Show progress.

    Attributes
    ----------
    labels_ : ndarray of shape (n_documents,)
        The most probable component of each document.
    weights_ : ndarray of shape (n_components,)
        Mixing weights.
    components_ : ndarray of shape (n_components, n_words)
        Parameters of the components: theta, alpha, beta or mu.
    family_ : str or family estimator
        The family that was fitted.
    n_iter_ : int
        Number of iterations over all phases.
    probabilities_ : ndarray of shape (n_documents,)
        Posterior probability of that component, as of `predict_proba`.
    log_likelihood_ : ndarray of shape (n_documents,)
        Log-likelihood of each document, not tempered.
    lower_bound_ : float
        Mean log-likelihood of a document, not tempered.
    converged_ : bool
        Whether the stopping rule ended every phase, not ``max_iter``.
    trace_ : dict of arrays
        phase, temperature, iteration, log_likelihood (tempered if the fit is), moved (mean change of
        responsibility) and weights of each iteration of the run that was kept.
    classes_ : ndarray
        The labels that were given, in semi-supervised fits: component i stands for ``classes_[i]``.
    selection_ : Selection
        With ``n_components="auto"``: the numbers that were compared.

    See Also
    --------
    select_components : Choose the number of clusters.
    DPMFS : Clusters whose number is part of the model.
    bursty.report.write : A page about the clusters.

    Notes
    -----
    Plain EM maximises the log-likelihood on the left; its E step computes the responsibilities on the right:

    .. math::

       \sum_d \log \sum_k \pi_k \, p(x_d \mid \alpha_k), \qquad
       r_{dk} \propto \pi_k \, p(x_d \mid \alpha_k)^{1 / T_d}

    Empty documents get the mixing weights as posterior and keep their row. A component that loses all its documents
    keeps a weight near zero and is never a label; a warning says so.

    With tempering, `predict_proba` gives the posterior of the fit to the power of 1/4, normalised. The power was chosen
    on labelled collections so that documents with a certainty of 80% have the class of their cluster in about 80% of
    cases (see the guide); it changes no label. `score_samples`, `score` and `perplexity` are never tempered.

    Examples
    --------
    >>> from bursty import Mixture, datasets
    >>> corpus, _ = datasets.make_bursty_mixture(n_components=3, random_state=0)
    >>> int(Mixture(3, random_state=0).fit(corpus).sizes_.sum())
    1000
    """

    # Models saved by version 0.1 do not have these; this is what they were fitted with.
    tempering: Any = None
    prior: Any = None
    shrinkage: float = 0.0
    stopping: str = "relative"
    restart: bool = False
    _n_seen: float = 0
    # Whether ``prior`` came to be "shared".
    _shared: bool = False

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        family: Any = "auto",
        init: Any = "auto",
        temperatures: Any = (1,),
        tempering: str | None = "auto",
        prior: Any = "auto",
        shrinkage: float = 10.0,
        perturbation: float = 0.05,
        n_init: int = 1,
        max_iter: int = 500,
        tol: float | None = None,
        stopping: str = "auto",
        restart: bool = True,
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
        self.tempering = tempering
        self.prior = prior
        self.shrinkage = shrinkage
        self.perturbation = perturbation
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.stopping = stopping
        self.restart = restart
        self.smoothing = smoothing
        self.warm_start = warm_start
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose

    @classmethod
    def from_paper(cls, paper: str, n_components: int | str = 2, **parameters: Any) -> Self:
        """A mixture with the settings of a paper, "elkan2006"; ``parameters`` replace some of them."""
        check_choice("paper", paper, settings.PAPERS)
        return cls(n_components, **{**settings.PAPERS[paper], **parameters})

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        y : array of shape (n_documents,), optional
            Labels of some documents, -1 for the others (semi-supervised EM: labelled documents stay in the component
            of their label, and EM starts from them unless ``init`` is an array). A y without any -1 is ignored, as
            in other clusterers.
        sample_weight : array-like of shape (n_documents,), optional
            Weights of the documents; a document of weight 0 still gets a label.
        """
        settings.check(self)
        documents = self._place_to_fit(X, "there is nothing to cluster")
        weights = None if sample_weight is None else check_weights(sample_weight, documents.n_documents)
        rng = generator(self.random_state)
        labels, continues = self._labels_given(y, documents), self._continues()
        if not continues:
            self._names = None
            self.family_ = settings.choose_family(self.family, documents)
        problem = self._problem(documents, labels, weights, self._choose_n_components(documents, weights))
        n_documents = documents.n_documents if weights is None else float(weights.sum())
        if self.prior is not None:
            stats = problem.statistics(settings.everyone(documents))
            problem = replace(problem, prior=self._prior_of(documents, stats, n_documents))
        writer = CheckpointWriter.of(self, documents, y, weights)
        outcome = self._run(problem, labels, rng, settings.schedule(self, problem.tempering), writer)
        best = outcome.best
        if outcome.interrupted:
            warn_interrupted(len(best.trace), "Set warm_start=True and call fit again to continue")
        elif not best.converged:
            warnings.warn(
                f"EM did not converge within {counted(self.max_iter, 'iteration')} at every temperature: "
                "raise max_iter or tol, or accept the current solution",
                ConvergenceWarning,
                stacklevel=2,
            )
        self._n_batches, self._n_seen, self._tempered = 0, n_documents, problem.tempering
        self._shared = isinstance(problem.prior, Shared)
        state = best.result
        self._running = problem.expectation(state)
        self._finish(problem, state, self._running)
        self.trace_, self.n_iter_ = best.trace.arrays(), len(best.trace)
        self.converged_ = best.converged and not outcome.interrupted
        if not outcome.interrupted:
            writer.done()
        if labels is None and isinstance(self.init, str) and not continues:
            self._number_by_size()
        self._warn_of_lost(documents)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit the mixture and return the cluster of each document."""
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
        problem = self._problem(documents, self._labels_given(y, documents), weights, len(self.weights_))
        if self._n_batches == 0:
            self._running = self._running * (1.0 / float(self._running.resp.sum()))
        stream = Stream(self._running, 0, self._n_batches)
        n_documents = documents.n_documents if weights is None else float(weights.sum())
        stream = stream.mix(problem.expectation(self._state), n_documents)
        self._running, self._n_batches = stream.mean, stream.n_chunks
        self._n_seen += n_documents
        # The statistics are those of one mean document: scaled by the number of documents seen.
        problem = replace(problem, prior=self._prior_of(documents, self._running.stats, float(self._n_seen)))
        before = getattr(self, "feature_count_", 0.0)  # not in models of version 0.1
        self._finish(problem, problem.maximise(self._running, None), self._running)
        self.feature_count_ += before
        return self

    def _labels_given(self, y: Any, documents: Documents) -> Array | None:
        """Component of each labelled document, -1 for the others; None where y says nothing."""
        found = known_labels(y, documents.n_documents)
        if found is None or not np.any(found[1] < 0):
            return None
        self.classes_, labels = found
        if self.n_components != "auto" and len(self.classes_) > int(self.n_components):
            raise ValueError(
                f"y has {counted(len(self.classes_), 'class', 'classes')} but n_components is {self.n_components}: "
                "each class needs a component"
            )
        return labels

    def _choose_n_components(self, documents: Documents, weights: Array | None) -> int:
        n_documents = documents.n_documents
        if self.n_components == "auto":
            self.selection_: Selection = select(self, documents, sample_weight=weights)
            return self.selection_.n_components
        if self.n_components > n_documents:  # type: ignore[operator]  # a number by now
            raise ValueError(
                f"n_samples={n_documents} should be >= n_components={self.n_components}: "
                f"{counted(n_documents, 'document')} cannot make {counted(self.n_components, 'cluster')}: "
                "lower n_components"
            )
        return int(self.n_components)

    def _integer(self, X: Any = None) -> bool:
        return settings.is_auto(self.family) or get_family(self.family).integer

    def _signed(self) -> bool:
        return not settings.is_auto(self.family) and get_family(self.family).signed

    def _problem(self, documents: Documents, labels: Array | None, weights: Array | None, n_components: int) -> Problem:
        return Problem(
            documents,
            self._family,
            documents.split(labels),
            n_components,
            perturbation=float(self.perturbation),
            sample_weight=weights,
            tempering=settings.choose(self.tempering, documents, "distinct", None) is not None,
            n_starts=int(self.n_init),
        )

    def _prior_of(self, documents: Documents, stats: Any, n_documents: float) -> em.Prior | None:
        """What replaces maximum likelihood, from statistics of n_documents; None for families without a prior."""
        prior = settings.choose(self.prior, documents, "shared", None)
        if not isinstance(prior, str):
            return prior
        if not self._family.can_share:
            return None
        return documents.run_locally(Shared.of, self._family, stats, n_documents, float(self.shrinkage))

    def _continues(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "_state")

    def _start(self, problem: Problem, labels: Array | None, rng: np.random.Generator) -> MixtureState:
        if self._continues():
            if self._state.params.n_components != problem.n_components:
                raise ValueError("warm_start needs the number of components of the last fit; use warm_start=False")
            return self._state
        if isinstance(self.init, str):
            start = STARTS[settings.choose_start(self.init, problem.documents)]
            return start(problem, rng) if labels is None else labelled(problem, labels, rng)
        shape = problem.documents.n_documents, problem.n_components
        return from_responsibilities(problem, settings.check_responsibilities(self.init, shape))

    def _run(
        self,
        problem: Problem,
        labels: Array | None,
        rng: np.random.Generator,
        schedule: em.Schedule,
        writer: CheckpointWriter,
    ) -> Outcome[em.Run]:
        n_runs = 1 if self._continues() else int(self.n_init)
        n_steps = n_runs * len(schedule.temperatures) * schedule.max_iter
        with progress("clustering", n_steps, bool(self.verbose)) as report:

            def on_step(run: em.Run) -> None:
                report(f"T = {run.trace['temperature'][-1]:g}, log-likelihood {run.score:.4f}")

            def start(rng: np.random.Generator) -> em.Run:
                return em.Run(problem, schedule, self._start(problem, labels, rng))

            return Runner(start, partial(em.Run.resumed, problem, schedule), writer, on_step).best_of(n_runs, rng)

    def _finish(self, problem: Problem, state: MixtureState, expectation: em.Expectation) -> None:
        """Smooth the components, then label the documents with them."""
        self._set_components(expectation, state, problem.prior, problem.documents.run_locally)
        self._label(problem.documents, problem.labels, problem.sample_weight, problem.tempering)

    def _set_components(
        self, expectation: em.Expectation, state: MixtureState, prior: em.Prior | None, run: Any
    ) -> None:
        if self.smoothing > 0:
            self._state = run(em.smoothed, self._family, expectation, state, self.smoothing, prior)
        else:
            self._state = state
        self.weights_ = state.weights
        self.components_ = self._state.params.table.T

    def _label(self, documents: Documents, known: Column, sample_weight: Array | None, tempering: bool) -> None:
        shared = {"family": self._family, "state": self._state, "tempering": tempering}
        *places, self.log_likelihood_ = documents.collect(label, known, **shared)
        self.lower_bound_ = float(np.average(self.log_likelihood_, weights=sample_weight))
        self._read_clusters(documents, Places(*places), sample_weight)

    def _merge(self, merge: Merge, X: Any) -> None:
        """Add up the statistics of the components, and take the M step for them."""
        documents = None if X is None else self._place(X)
        self._running = self._running.merged(merge.into)
        prior = None if isinstance(self.prior, str) else self.prior
        if self._shared:
            prior = Shared.of(self._family, self._running.stats, float(self._n_seen), float(self.shrinkage))
        state = em.maximise(self._family, self._running, None, prior)
        self._set_components(self._running, state, prior, lambda function, *args: function(*args))
        self.trace_["weights"] = merge.sum(self.trace_["weights"])
        if hasattr(self, "classes_"):
            del self.classes_
        self._merge_readings(merge)
        if documents is not None:
            self._label(documents, documents.split(None), None, self._tempered)

    def _number_by_size(self) -> None:
        """Number the clusters from the largest to the smallest."""
        order = np.argsort(-self.sizes_, kind="stable")
        self._state, self._running = self._state.reordered(order), self._running.reordered(order)
        self.weights_, self.components_ = self.weights_[order], self._state.params.table.T
        self.sizes_, self.confidence_ = self.sizes_[order], self.confidence_[order]
        self.feature_count_ = self.feature_count_[order]
        self.labels_, self.runner_up_ = (np.append(np.argsort(order), -1)[k] for k in (self.labels_, self.runner_up_))
        self.trace_["weights"] = self.trace_["weights"][:, order]

    def _warn_of_lost(self, documents: Documents) -> None:
        n_lost = int(np.count_nonzero(self.sizes_ == 0))
        if n_lost:
            verb = "has" if n_lost == 1 else "have"
            again = "" if self.restart or np.size(self.temperatures) == 1 else "restart=True, "
            verb = "has" if n_lost == 1 else "have"
            warnings.warn(
                f"{n_lost} of {counted(len(self.weights_), 'cluster')} {verb} no documents: the data show fewer, or EM "
                f"lost them; try {again}fewer n_components, lower temperatures or more starts (n_init)",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _smooth(self, smoothing: float) -> None:
        """Components of maximum likelihood with this amount of smoothing."""
        self._state = em.smoothed(self._family, self._running, self._state, smoothing)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        # scikit-learn's checks ask for it of whatever takes sparse input and has predict_proba.
        tags.classifier_tags = ClassifierTags(multi_class=self.n_components != 2)
        return tags
