"""The public face of DPMFS."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import ClassifierTags, Tags
from sklearn.utils.validation import check_is_fitted

from bursty.engines import Documents, get_engine
from bursty.estimator import generator
from bursty.inference.checkpoint import Checkpoint, CheckpointWriter
from bursty.inference.em import Places, lead
from bursty.inference.runs import Outcome, Runner, warn_interrupted
from bursty.kernels import threads
from bursty.metrics import posterior_similarity
from bursty.models.clusters import ClusterReading, check_members, known_labels
from bursty.models.dpmfs import chains as running
from bursty.models.dpmfs import estimate
from bursty.models.dpmfs.chains import Chain
from bursty.models.dpmfs.constraints import Constraints
from bursty.models.dpmfs.settings import (
    LEAST_BAYES_FACTOR,
    Settings,
    check_lam,
    check_links,
    check_settings,
    make_problem,
    occurring,
)
from bursty.models.groups import Merge
from bursty.progress import progress
from bursty.samplers.dpmfs import DPMFSData
from bursty.storage.limits import check_memory
from bursty.storage.schema import (
    expect_equal,
    flags,
    floats,
    index,
    integers,
    items,
    maybe,
    number,
    part,
    size,
    storable,
)
from bursty.validation import check_weights

Array = np.ndarray[Any, Any]

# Documents up to which the table of all pairs is kept.
MOST_PAIRED = 2_000


def _check_copies(model: DPMFS, sizes: dict[str, int]) -> None:
    """What users see is what documents are compared with."""
    expect_equal(model.weights_, model._components.prior, "weights_")
    expect_equal(model.discriminative_, model._components.slot >= 0, "discriminative_")
    check_members(model, sizes)


@storable(
    "DPMFS",
    weights_=floats("K", low=0, sums=0),
    n_clusters_=size("K"),
    components_=floats("K", "n_words", low=0),
    _components=part(estimate.Components, K="K"),
    labels_=index("K", "documents"),
    sizes_=integers("K", low=0),
    probabilities_=floats("documents", low=0, high=1 + 1e-6),
    runner_up_=integers("documents", low=-1, high="K"),
    runner_up_probabilities_=floats("documents", low=0, high=1 + 1e-6),
    _leads=items("documents"),
    confidence_=items("K"),
    feature_count_=floats("K", "n_words", low=0),
    inclusion_prob_=floats("n_words", low=0, high=1),
    log_bayes_factor_=floats("n_words"),
    discriminative_=flags("n_words"),
    samples_=integers(None, "documents", low=0),
    similarity_=maybe(floats("documents", "documents")),
    alpha_=number(low=0),
    omega_=number(low=0, high=1),
    _names=maybe(items("K")),
    check=_check_copies,
)
class DPMFS(ClusterReading):
    r"""Clusters of unknown number, and discriminative words: Yu, Huang and Wang (2010).

    Parameters
    ----------
    max_components : int, optional
        Most clusters there can be: N of the finite model. It may be larger than the number of documents. By default a
        tenth of the documents (not below 10) with the paper's sampler, and no bound (a Dirichlet process) with the
        collapsed one.
    alpha : float, default 1.0
        How readily documents make new clusters.
    omega : float or "learned", optional
        Prior probability that a word is discriminative, or "learned" under a uniform prior. By default it is learned
        with DCM components, and 50 over the number of words that occur, at most 0.5, with multinomial ones, as in the
        paper.
    lam : float or array of shape (n_words,), optional
        Dirichlet parameter of each word; by default 1 over the standard deviation of its counts, and 1 for a word that
        every document has equally often.
    sampler : {"collapsed", "paper"}, default "collapsed"
        "paper" is the algorithm of the paper, step by step. "collapsed" has the same posterior (for the same
        ``max_components``), integrates the components out, draws every word in every sweep, splits and merges
        clusters: it needs far fewer sweeps.
    family : {"auto", "dcm", "multinomial"} or family estimator, default "auto"
        What a component is: the paper's multinomial, or a DCM, to which the bursts of a word in one document are not
        evidence for a cluster of its own. For text the DCM finds fewer and better clusters. "auto" is the DCM, and with
        ``sampler="paper"`` the multinomial.
    n_iter : int or "auto", optional
        Number of sweeps. "auto", the default with the collapsed sampler, runs until the chains have settled: they are
        judged together after 200 sweeps, 300, 450 and so on, and stop where R-hat is at most 1.05 and the effective
        sample size at least 100 for all of `diagnostics_`. With the paper's sampler it is 3000.
    max_iter : int, default 1000
        Upper bound on the number of sweeps with ``n_iter="auto"``.
    burn_in : int, optional
        Number of sweeps at the beginning that do not count: 2500 of 3000, or half.
    word_steps, label_steps : int, default 5
        R1 and R2 of the paper's sampler: proposals a sweep for the words, and for each document.
    split_steps : int, default 5
        Splits or merges proposed in each sweep of the collapsed sampler.
    learn_alpha : bool, optional
        Draw alpha too, with an exponential prior of mean ``alpha``; by default with the collapsed sampler only.
    lam_prior : {"auto", "lognormal", "gamma", None}, default "auto"
        Learn a factor of ``lam`` with this prior around 1, or leave ``lam`` as it is (None). "auto" is "lognormal" with
        DCM components whose ``lam`` is not given, and None otherwise, as in the paper.
    threshold : float, default 0.7
        A word is discriminative if it was chosen in more than this share of the sweeps, and if the data speak for it
        with a Bayes factor above 3: where ``omega`` is large, the prior alone would choose it that often.
    point_estimate : {"frequent", "vi", "binder"}, optional
        How one partition is made of many: each document's most frequent label (the paper's rule and default), or the
        draw with the least expected variation of information (the collapsed sampler's default) or Binder loss.
    min_cluster_size : int, default 1
        Documents of smaller clusters go to the most probable of the others.
    n_chains : int, optional
        Number of independent chains; `diagnostics_` tells whether they agree. By default 4 with ``n_iter="auto"``, and
        1 otherwise.
    patience : int, optional
        End a chain when the partition of this number of sweeps is that of as many before; the last of them count then,
        and ``burn_in`` does not matter. ``n_iter`` is then 500 unless given.
    random_state : int, Generator or RandomState, optional
        The same seed gives the same bits, whatever the number of threads.
    checkpoint : str, path or Checkpoint, optional
        A file that is written as the fit goes on (an iteration is a sweep). A fit that finds it there, of the same
        documents and parameters, goes on from it to the same bits; it is removed when the fit is done.
    engine : {"local", "dask"} or Engine
        Where documents are kept and new ones predicted; chains run in this process.
    n_jobs : int, optional
        Threads; None means all cores. A chain uses one.
    verbose : int, default 0
        Show progress.

    Attributes
    ----------
    family_ : str
        What a component is.
    labels_ : ndarray of shape (n_documents,)
        Cluster of each document; the largest cluster is 0.
    n_clusters_ : int
        Number of clusters.
    sizes_ : ndarray of shape (n_clusters,)
        Documents of each cluster.
    confidence_ : ndarray of shape (n_clusters,)
        Mean posterior of the documents' own cluster.
    discriminative_ : boolean ndarray of shape (n_words,)
        Words that tell the clusters apart.
    inclusion_prob_ : ndarray of shape (n_words,)
        Share of the sweeps in which each word was chosen; 0 for words that no document has.
    log_bayes_factor_ : ndarray of shape (n_words,)
        Logarithm of the odds that a word is discriminative, relative to the odds before the data were seen
        (``omega_``): 0 where the data say nothing. Words are ranked by it.
    weights_ : ndarray of shape (n_clusters,)
        Shares of the clusters.
    components_ : ndarray of shape (n_clusters, n_words)
        Word probabilities of each cluster among the discriminative words; 0 for the others.
    trace_ : dict of arrays
        n_clusters, n_words, log_joint, alpha, scale (the factor of ``lam``), omega, s (with DCM components),
        word_changes, label_changes and split_changes (shares of what was proposed, or looked at) of every sweep: of
        shape (n_iter,), or (n_chains, n_iter).
    diagnostics_ : dict
        ``r_hat`` and ``ess`` (effective sample size) of the log joint probability, of the numbers of clusters and
        words, and of scale and omega where they are learned, after burn-in.
    samples_ : ndarray of shape (n_samples, n_documents)
        Labels of at most 500 sweeps a chain.
    similarity_ : ndarray of shape (n_documents, n_documents) or None
        How often two documents shared a cluster; for up to 2,000 documents.
    alpha_ : float
        Mean of alpha over the sweeps that count.
    omega_ : float
        Mean of omega over them, or ``omega`` as it was given.
    n_iter_ : int
        Number of sweeps that were made.
    converged_ : bool
        Whether the chains have settled: R-hat and effective sample size of all of `diagnostics_` are within the bounds
        of ``n_iter="auto"``. With ``patience``, whether the partition was stable.
    classes_ : ndarray
        The labels that were given, in semi-supervised fits: cluster i stands for ``classes_[i]``.

    See Also
    --------
    Mixture : Faster, with a number of clusters that is given or chosen.
    bursty.metrics.best_partition : How one partition is chosen from many.
    bursty.plot.trace : The chains.

    Notes
    -----
    Words are discriminative with probability omega; documents choose clusters, and discriminative tokens come from them
    ([Yu2010]):

    .. math::

       \gamma_j \sim \mathrm{Bernoulli}(\omega), \quad z_i \sim p \sim \mathrm{Dir}(\alpha / N, \dots), \quad
       \eta_k \sim \mathrm{Dir}(\lambda_j : \gamma_j = 1), \quad \eta_0 \sim \mathrm{Dir}(\lambda_j : \gamma_j = 0)

    Words that no document has are left out: they are never discriminative and do not count in ``omega``. Documents
    without discriminative words go where the prior has them, the largest cluster above all.

    `predict` asks the fitted partition about each document anew; `labels_` comes from the chain. They may differ for
    documents that stand between clusters.

    Examples
    --------
    >>> from bursty import DPMFS, datasets
    >>> corpus, _ = datasets.make_bursty_mixture(100, 50, 2, random_state=0)
    >>> model = DPMFS(n_iter=20, burn_in=10, random_state=0).fit(corpus)
    >>> model.labels_.shape, model.discriminative_.shape
    ((100,), (50,))
    >>> labels = DPMFS(n_iter=20, random_state=0).fit_predict(corpus, must_link=[(0, 1, 2)], cannot_link=[(2, 3)])
    >>> labels[0] == labels[2] != labels[3]
    np.True_
    """

    #: The paper that introduced the model, for reports.
    _citation = (
        "G. Yu, R. Huang and Z. Wang. Document clustering via Dirichlet process mixture model with feature selection. "
        "Proceedings of the 16th ACM SIGKDD International Conference on Knowledge Discovery and Data Mining (KDD), "
        "pages 763-772, 2010."
    )

    def __init__(
        self,
        max_components: int | None = None,
        *,
        alpha: float = 1.0,
        omega: float | str | None = None,
        lam: Any = None,
        sampler: str = "collapsed",
        family: Any = "auto",
        n_iter: int | str | None = None,
        max_iter: int = 1000,
        burn_in: int | None = None,
        word_steps: int = 5,
        label_steps: int = 5,
        split_steps: int = 5,
        learn_alpha: bool | None = None,
        lam_prior: str | None = "auto",
        threshold: float = 0.7,
        point_estimate: str | None = None,
        min_cluster_size: int = 1,
        n_chains: int | None = None,
        patience: int | None = None,
        random_state: Any = None,
        checkpoint: Any = None,
        engine: Any = "local",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.max_components = max_components
        self.alpha = alpha
        self.omega = omega
        self.lam = lam
        self.sampler = sampler
        self.family = family
        self.n_iter = n_iter
        self.max_iter = max_iter
        self.burn_in = burn_in
        self.word_steps = word_steps
        self.label_steps = label_steps
        self.split_steps = split_steps
        self.learn_alpha = learn_alpha
        self.lam_prior = lam_prior
        self.threshold = threshold
        self.point_estimate = point_estimate
        self.min_cluster_size = min_cluster_size
        self.n_chains = n_chains
        self.patience = patience
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, must_link: Any = None, cannot_link: Any = None
    ) -> Self:
        """Find clusters and words.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        y : array of shape (n_documents,), optional
            Known classes as whole numbers, with -1 for documents of unknown class: these are clustered, with the others
            held where they are; they may also make clusters of their own. Where every document has its class, only the
            the words that discriminate the classes are found. A y that is not whole numbers is ignored.
        sample_weight : array-like of shape (n_documents,), optional
            Number of copies of each document, which must be whole: the sampler sees them all. Documents of weight 0 are
            not learned from, and get a label all the same.
        must_link : sequence of groups of rows of X, optional
            Pairs, or larger groups, of documents that share a cluster: an array of shape (n_links, 2), or
            ``[(0, 5), (2, 7, 9)]``. Groups with a common document are one.
        cannot_link : sequence of groups of rows of X, optional
            Groups of documents no two of which share a cluster. With ``max_components``, a chain may not be able to
            move between all partitions that fit.
        """
        if sample_weight is not None:
            if must_link is not None or cannot_link is not None:
                raise ValueError("sample_weight and links cannot be given together: repeat the documents in X")
            return self._fit_copies(X, y, sample_weight)
        settings = check_settings(self)
        Checkpoint.of(self.checkpoint)
        self._names = None
        documents = self._place_to_fit(X, "there is nothing to cluster")
        lam = check_lam(self.lam, documents.n_words)
        labelled = known_labels(y, documents.n_documents)
        classes, known = (None, None) if labelled is None else labelled
        constraints = Constraints.of(must_link, cannot_link, known, documents.n_documents)
        check_links(self, settings, constraints)
        known = constraints.known
        if classes is not None:
            self.classes_ = classes
        counts = documents.counts()  # a sweep looks at every document given all the others
        columns = np.unique(counts.indices)
        lam = None if lam is None else lam[columns]
        problem = make_problem(self, settings, occurring(counts, columns), constraints, lam)
        writer = CheckpointWriter.of(self, documents, y, must_link=constraints.together, cannot_link=constraints.apart)
        outcome = self._run(problem, known, settings, writer)
        self._finish(problem, settings, outcome.runs, known, columns, documents)
        if outcome.interrupted:
            warn_interrupted(self.n_iter_, "With a checkpoint, the same fit goes on from there")
        else:
            writer.done()
            if not self.converged_:
                warnings.warn(
                    running.not_settled(settings.plan, settings.n_chains, self.n_iter_, self.diagnostics_),
                    ConvergenceWarning,
                    stacklevel=2,
                )
        return self

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, must_link: Any = None, cannot_link: Any = None
    ) -> Array:
        """Find the clusters and give each document's."""
        return self.fit(X, y, sample_weight, must_link=must_link, cannot_link=cannot_link).labels_

    def _fit_copies(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit to as many copies of each document as its weight says, then say what that means for the documents."""
        documents = self._place_to_fit(X, "there is nothing to cluster")
        weights = check_weights(sample_weight, documents.n_documents)
        if np.any(weights != np.rint(weights)):
            fraction = weights[weights != np.rint(weights)][0]
            raise ValueError(
                "sample_weight of DPMFS must be whole numbers, since its sampler moves whole documents, "
                f"not {fraction:g}"
            )
        counts = documents.counts()
        n_bytes = 16.0 * float(weights @ (np.diff(counts.indptr) + 1.0))
        check_memory(
            int(min(n_bytes, 2**62)), "as many copies of documents", "divide sample_weight by its smallest value"
        )
        rows = np.repeat(np.arange(documents.n_documents), weights.astype(np.int64))
        targets = None if y is None else np.asarray(y)[rows]
        copies = get_engine("local", self.n_jobs).place(counts[rows])
        self.fit(copies, targets)
        first = np.searchsorted(rows, np.arange(documents.n_documents))
        learned = np.flatnonzero(weights)
        drawn: Array = self.samples_  # type: ignore[has-type]  # set by fit
        labels, samples = self.predict(documents), np.empty((len(drawn), len(weights)), drawn.dtype)
        labels[learned], samples[:, learned] = self.labels_[first[learned]], drawn[:, first[learned]]
        unseen = np.flatnonzero(weights == 0)
        samples[:, unseen] = labels[unseen]
        self.samples_ = samples
        self.similarity_ = posterior_similarity(samples) if len(weights) <= MOST_PAIRED else None
        self._read(documents, labels, weights)
        return self

    def predict(self, X: Any) -> Array:
        """The most probable cluster of each document."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X: Any) -> Array:
        """Posterior of each cluster for each document: what the documents of `labels_` leave to expect of a new one."""
        return self._place(X).collect(estimate.posterior, components=self._components)

    def top_words(self, n: int = 10, by: str = "contrast") -> list[list[str]]:
        """The discriminative words that say most about each cluster; see `word_scores`."""
        check_is_fitted(self)
        return super().top_words(min(n, int(np.count_nonzero(self.discriminative_))), by)

    def word_scores(self, by: str = "contrast") -> Array:
        """What `top_words` ranks by: clusters x words, with minus infinity for words that are not discriminative."""
        return np.where(self.discriminative_, super().word_scores(by), -np.inf)

    def _summary_columns(self) -> dict[str, Any]:
        """The same in all rows: the largest R-hat and the smallest effective sample size of `diagnostics_`."""
        found = list(getattr(self, "diagnostics_", {}).values())
        r_hat = max((facts["r_hat"] for facts in found), default=math.nan)
        ess = min((facts["ess"] for facts in found), default=math.nan)
        n = len(self.sizes_)
        return {**super()._summary_columns(), "r_hat": np.full(n, r_hat), "ess": np.full(n, ess)}

    def _run(
        self, problem: DPMFSData, known: Array | None, settings: Settings, writer: CheckpointWriter
    ) -> Outcome[Chain]:
        plan, n_chains = settings.plan, settings.n_chains
        with progress("clusters and words", plan.n_iter * n_chains, bool(self.verbose)) as report:

            def on_step(chain: Chain) -> None:
                trace = chain.trace
                report(f"{trace['n_clusters'][-1]:.0f} clusters, {trace['n_words'][-1]:.0f} words")

            start = partial(running.start, self, problem, plan, known)
            resume = partial(Chain.resumed, self, problem, plan)
            runner = Runner(start, resume, writer, on_step)
            rng, n_threads = generator(self.random_state), threads.resolve(self.n_jobs)
            return runner.side_by_side(n_chains, rng, n_threads, partial(running.next_round, plan))

    def _finish(
        self,
        problem: DPMFSData,
        settings: Settings,
        chains: list[Chain],
        known: Array | None,
        columns: Array,
        documents: Documents,
    ) -> None:
        """Set the public attributes."""
        self.family_, plan = settings.family.name, settings.plan
        n_words = documents.n_words
        inclusion = np.mean([chain.inclusion for chain in chains], axis=0)
        self.inclusion_prob_ = np.zeros(n_words)
        self.inclusion_prob_[columns] = inclusion
        self.omega_ = float(np.mean([chain.mean("omega") for chain in chains]))
        self.log_bayes_factor_ = np.zeros(n_words)
        known_odds = self.sampler == "collapsed"
        self.log_bayes_factor_[columns] = estimate.log_bayes_factor(chains, self.omega_, odds_are_known=known_odds)
        evident = self.log_bayes_factor_ > math.log(LEAST_BAYES_FACTOR)
        self.discriminative_ = evident & (self.inclusion_prob_ > self.threshold)
        self.n_iter_ = max(chain.number for chain in chains)
        self.trace_ = running.traces(chains)
        self.diagnostics_ = running.diagnose(chains, plan)
        settled = plan.agree.settled(self.diagnostics_)
        self.converged_ = settled if self.patience is None else all(chain.stable for chain in chains)
        self.alpha_ = float(np.mean([chain.mean("alpha") for chain in chains]))
        self.samples_ = np.concatenate([np.stack(chain.samples) for chain in chains])
        labels = estimate.partition(chains, settings.point_estimate, known)

        def components(labels: Array) -> estimate.Components:
            state = chains[0].state
            share = state.share(problem)
            chosen = self.discriminative_[columns]
            args = state.tables, float(state.burst[0]), state.scale, share, labels, chosen, columns, n_words
            return estimate.make_components(problem, *args)

        if self.min_cluster_size > 1:
            scores = documents.collect(estimate.log_prob, components=components(labels))
            labels = estimate.dissolve_small(labels, int(self.min_cluster_size), scores, known, problem.units)
        self._set_components(components(labels))
        self._read(documents, labels)
        small = documents.n_documents <= MOST_PAIRED
        self.similarity_ = posterior_similarity(self.samples_) if small else None

    def _set_components(self, components: estimate.Components) -> None:
        self._components, self.weights_ = components, components.prior
        self.n_clusters_, urns = len(components.prior), components.weights
        self.components_ = np.zeros((self.n_clusters_, self.n_features_in_))
        self.components_[:, self.discriminative_] = (urns / np.maximum(urns.sum(axis=0), 1e-300)).T

    def _read(self, documents: Documents, labels: Array, sample_weight: Array | None = None) -> None:
        """What the components say of the documents of the fit, whose clusters are known."""
        log_prob = self._component_log_prob(documents)
        places = Places.of(estimate.share_out(log_prob, self.weights_), labels)
        self._read_clusters(documents, places, lead(log_prob, labels), sample_weight)

    def _merge(self, merge: Merge, X: Any) -> None:
        documents = None if X is None else self._place(X)
        self._set_components(self._components.merged(merge.into, self.family_ == "dcm"))
        if hasattr(self, "classes_"):
            del self.classes_
        self._merge_readings(merge)
        if documents is not None:
            self._read(documents, self.labels_)

    def _component_log_prob(self, documents: Documents) -> Array:
        return documents.collect(estimate.log_prob, components=self._components)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # scikit-learn's checks ask for it of whatever takes sparse input and has predict_proba.
        tags.classifier_tags = ClassifierTags()
        return tags
