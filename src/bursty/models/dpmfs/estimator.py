"""The public class `DPMFS`: parameters, and how it is fitted."""

from __future__ import annotations

import itertools
import math
import warnings
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bursty.engines import Documents, get_engine
from bursty.estimator import generator
from bursty.inference.checkpoint import Checkpoint, CheckpointWriter
from bursty.inference.runs import Outcome, Runner, warn_interrupted
from bursty.kernels import threads
from bursty.metrics import posterior_similarity
from bursty.models.clusters import check_members, known_labels
from bursty.models.dpmfs import chains as running
from bursty.models.dpmfs import estimate
from bursty.models.dpmfs.chains import Chain
from bursty.models.dpmfs.constraints import Constraints
from bursty.models.dpmfs.reading import DPMFSReading
from bursty.models.dpmfs.settings import (
    LEAST_BAYES_FACTOR,
    Settings,
    check_lam,
    check_links,
    check_settings,
    make_problem,
    occurring,
)
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
from bursty.typing import Array
from bursty.validation import check_weights
from bursty.wording import counted

# Largest number of documents for which the table of all pairs is kept.
MOST_PAIRED = 2_000


def _check_copies(model: DPMFS, sizes: dict[str, int]) -> None:
    """Check that the public attributes agree with the components used for prediction."""
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
    confidence_=items("K"),
    feature_count_=floats("K", "n_words", low=0),
    inclusion_prob_=floats("n_words", low=0, high=1),
    log_bayes_factor_=floats("n_words"),
    discriminative_=flags("n_words"),
    samples_=integers(None, "documents", low=0),
    similarity_=maybe(floats("documents", "documents")),
    chain_overlap_=maybe(floats("chains", "chains", low=0, high=1 + 1e-6)),
    alpha_=number(low=0),
    omega_=number(low=0, high=1),
    _names=maybe(items("K")),
    _document_share=maybe(floats("n_words", low=0, high=1)),
    check=_check_copies,
)
class DPMFS(DPMFSReading):
    r"""Clusters of unknown number, and discriminative words: Yu, Huang and Wang (2010).

    Parameters
    ----------
    max_components : int, optional
        Upper bound on the number of clusters: N of the finite model. It may exceed the number of documents. By default
        a tenth of the number of documents, but at least 10, with the paper's sampler, and no bound (a Dirichlet
        process) with the collapsed one.
    alpha : float, default 1.0
        Concentration of the Dirichlet process: larger values favour more clusters.
    omega : float or "learned", optional
        Prior probability that a word is discriminative, or "learned" under a uniform prior. By default it is learned
        with DCM components; with multinomial components it is 50 divided by the number of words that occur, at most
        0.5, as in the paper.
    lam : float or array-like of shape (n_words,), optional
        Dirichlet parameter of each word. By default 1 divided by the standard deviation of its counts, and 1 for a word
        with the same count in every document.
    sampler : {"collapsed", "paper"}, default "collapsed"
        "paper" is the algorithm of the paper, step by step. "collapsed" has the same posterior (for the same
        ``max_components``) but integrates the components out, updates every word in every sweep, and splits and merges
        clusters, so that it needs far fewer sweeps.
    family : {"auto", "dcm", "multinomial"} or family estimator, default "auto"
        Distribution of a component: the multinomial of the paper, or a DCM, for which a burst of one word in one
        document is not evidence for a separate cluster. On text the DCM finds fewer and better clusters. "auto" is the
        multinomial with ``sampler="paper"``, otherwise the DCM.
    n_iter : int or "auto", optional
        Number of sweeps. "auto", the default with the collapsed sampler, runs until the chains have settled: they are
        checked together after 200, 300, 450, ... sweeps, and stop as soon as R-hat is at most 1.05 and the effective
        sample size at least 100 for every entry of `diagnostics_`. The default with the paper's sampler is 3000.
    max_iter : int, default 1000
        Upper bound on the number of sweeps with ``n_iter="auto"``.
    burn_in : int, optional
        Number of initial sweeps to discard. By default 2500 of the 3000 of the paper's sampler, otherwise half.
    word_steps, label_steps : int, default 5
        R1 and R2 of the paper's sampler: number of proposals per sweep for the words, and for each document.
    split_steps : int, default 5
        Number of splits or merges proposed per sweep of the collapsed sampler.
    learn_alpha : bool, optional
        Whether to sample alpha as well, under an exponential prior with mean ``alpha``. By default True with the
        collapsed sampler and False with the paper's.
    lam_prior : {"auto", "lognormal", "gamma", "words", None}, default "auto"
        Prior, around 1, of a learned factor that multiplies ``lam``; None keeps ``lam`` fixed. "words" learns the
        vector of the paper's equation 17: one factor per word, besides a common log-normal one. "auto" is "lognormal"
        with DCM components if ``lam`` is not given, and None otherwise, as in the paper.
    threshold : float, default 0.7
        A word is discriminative if it was selected in more than this share of the sweeps, with a Bayes factor above 3:
        if ``omega`` is large, the prior alone would select it that often.
    point_estimate : {"frequent", "vi", "binder"}, optional
        How the sampled partitions are summarised by one: the most frequent label of each document (the default with
        the paper's sampler), or the sample with the smallest expected variation of information (the default with the
        collapsed one) or Binder loss.
    min_cluster_size : int, default 1
        Documents of smaller clusters are moved to the most probable of the other clusters.
    n_chains : int, optional
        Number of independent chains; `diagnostics_` says whether they agree. By default 4 with ``n_iter="auto"``, and
        1 otherwise.
    patience : int, optional
        Stop a chain as soon as two successive windows of this number of sweeps have the same partition. The last
        window is then used, and ``burn_in`` is ignored. ``n_iter`` is then 500 by default.
    random_state : int, Generator or RandomState, optional
        The same seed gives the same bits, whatever the number of threads.
    checkpoint : str, path or Checkpoint, optional
        File to which the state of the fit is written regularly (an iteration is a sweep). A fit of the same documents
        with the same parameters resumes from it, to the same bits; it is removed at the end of the fit.
    engine : {"local", "dask"}, Dask client or Engine
        Execution engine, for keeping documents and for prediction; chains run in this process.
    n_jobs : int, optional
        Number of threads; None means all cores. Each chain uses one.
    verbose : int, default 0
        Show progress.

    Attributes
    ----------
    family_ : str
        Distribution of a component.
    labels_ : ndarray of shape (n_documents,)
        Cluster of each document; the largest cluster is 0.
    n_clusters_ : int
        Number of clusters.
    sizes_ : ndarray of shape (n_clusters,)
        Number of documents of each cluster.
    confidence_ : ndarray of shape (n_clusters,)
        Mean posterior of the documents' own cluster.
    discriminative_ : ndarray of bool of shape (n_words,)
        Whether each word is discriminative.
    inclusion_prob_ : ndarray of shape (n_words,)
        Share of the sweeps in which each word was selected; 0 for words that no document has.
    log_bayes_factor_ : ndarray of shape (n_words,)
        Logarithm of the posterior odds that a word is discriminative, divided by the prior odds (``omega_``): 0 if the
        data say nothing about it. Words are ranked by it.
    weights_ : ndarray of shape (n_clusters,)
        Shares of the clusters.
    components_ : ndarray of shape (n_clusters, n_words)
        Word probabilities of each cluster among the discriminative words; 0 for the others.
    trace_ : dict of arrays
        n_clusters, n_words, log_joint, alpha, scale (the factor of ``lam``), omega, s (with DCM components),
        word_changes, label_changes and split_changes (shares of the proposals, or of the updates, that changed
        something) of every sweep: of shape (n_iter,), or (n_chains, n_iter).
    diagnostics_ : dict
        ``r_hat`` and ``ess`` (effective sample size) of the log joint probability, of the numbers of clusters and
        words, and of scale and omega if they are learned, after burn-in.
    chain_overlap_ : ndarray of shape (n_chains, n_chains)
        Agreement of the chains' partitions: of the pairs of documents that either of two chains puts into one cluster,
        the share for which both do. Chains whose numbers of clusters differ may agree on most documents.
    samples_ : ndarray of shape (n_samples, n_documents)
        Labels of at most 500 sweeps per chain.
    similarity_ : ndarray of shape (n_documents, n_documents) or None
        Share of the samples in which two documents share a cluster; None for more than 2,000 documents.
    alpha_ : float
        Mean of alpha after burn-in.
    omega_ : float
        Mean of omega after burn-in, or the given ``omega``.
    n_iter_ : int
        Number of sweeps.
    converged_ : bool
        Whether the chains have settled: R-hat and effective sample size of every entry of `diagnostics_` are within
        the bounds of ``n_iter="auto"``. With ``patience``, whether the partition was stable.
    classes_ : ndarray
        The labels that were given, in semi-supervised fits: cluster i stands for ``classes_[i]``.

    See Also
    --------
    Mixture : Faster, with a number of clusters that is given or chosen.
    bursty.metrics.best_partition : The partition that summarises many.
    bursty.plot.trace : Plot of the chains.

    Notes
    -----
    Words are discriminative with probability omega; documents choose clusters, and discriminative tokens come from them
    ([Yu2010]):

    .. math::

       \gamma_j \sim \mathrm{Bernoulli}(\omega), \quad z_i \sim p \sim \mathrm{Dir}(\alpha / N, \dots), \quad
       \eta_k \sim \mathrm{Dir}(\lambda_j : \gamma_j = 1), \quad \eta_0 \sim \mathrm{Dir}(\lambda_j : \gamma_j = 0)

    Words that no document has are left out: they are never discriminative and do not count in ``omega``. Documents
    without discriminative words are assigned by the prior, mostly to the largest cluster.

    `labels_` comes from the chains, whereas `predict` applies Bayes' rule to the fitted partition; the two may differ
    for documents between clusters.

    Examples
    --------
    >>> from bursty import DPMFS, datasets
    >>> corpus, _ = datasets.make_bursty_mixture(100, 50, 2, random_state=0)
    >>> model = DPMFS(n_iter=20, burn_in=10, random_state=0).fit(corpus)
    >>> model.labels_.shape, model.discriminative_.shape
    ((100,), (50,))
    >>> model = DPMFS(n_iter=20, random_state=0)
    >>> labels = model.fit_predict(corpus, must_link=[(0, 1, 2)], cannot_link=[(2, 3)])
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
        """Find the clusters and the discriminative words.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        y : array of shape (n_documents,), optional
            Known classes as integers, -1 for documents of unknown class. These are clustered while the others stay in
            their class; they may also form new clusters. If the class of every document is known, only the
            discriminative words are found. A y that is not made of integers is ignored.
        sample_weight : array-like of shape (n_documents,), optional
            Number of copies of each document, a non-negative integer. A document of weight 0 still gets a label.
        must_link : sequence of groups of rows of X, optional
            Pairs, or larger groups, of documents that share a cluster: an array of shape (n_links, 2), or
            ``[(0, 5), (2, 7, 9)]``. Groups with a common document are one.
        cannot_link : sequence of groups of rows of X, optional
            Groups of documents no two of which share a cluster. With ``max_components``, a chain may not be able to
            reach every partition that satisfies the constraints.
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
        counts = documents.counts()  # a sweep updates every document given all others, so all must be in memory
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
                    running.not_settled(settings.plan, self.n_iter_, self.diagnostics_, self.chain_overlap_),
                    ConvergenceWarning,
                    stacklevel=2,
                )
        return self

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, must_link: Any = None, cannot_link: Any = None
    ) -> Array:
        """Find the clusters and return the cluster of each document."""
        return self.fit(X, y, sample_weight, must_link=must_link, cannot_link=cannot_link).labels_

    def _fit_copies(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit to copies of the documents, as many as their weights say, then assign the results to the documents."""
        documents = self._place_to_fit(X, "there is nothing to cluster")
        weights = check_weights(sample_weight, documents.n_documents)
        if np.any(weights != np.rint(weights)):
            fraction = weights[weights != np.rint(weights)][0]
            raise ValueError(
                f"sample_weight of DPMFS must be integers, since its sampler moves whole documents, not {fraction:g}"
            )
        counts = documents.counts()
        n_bytes = 16.0 * float(weights @ (np.diff(counts.indptr) + 1.0))
        check_memory(
            int(min(n_bytes, 2**62)), "that many copies of documents", "divide sample_weight by its smallest value"
        )
        rows = np.repeat(np.arange(documents.n_documents), weights.astype(np.int64))
        targets = None if y is None else np.asarray(y)[rows]
        copies = get_engine("local", self.n_jobs).place(counts[rows])
        self.fit(copies, targets)
        first = np.searchsorted(rows, np.arange(documents.n_documents))
        learned = np.flatnonzero(weights)
        drawn = self.samples_
        labels, samples = self.predict(documents), np.empty((len(drawn), len(weights)), drawn.dtype)
        labels[learned], samples[:, learned] = self.labels_[first[learned]], drawn[:, first[learned]]
        unseen = np.flatnonzero(weights == 0)
        samples[:, unseen] = labels[unseen]
        self._keep_samples(samples)
        self._read(documents, labels, weights)
        return self

    def _run(
        self, problem: DPMFSData, known: Array | None, settings: Settings, writer: CheckpointWriter
    ) -> Outcome[Chain]:
        plan, n_chains = settings.plan, settings.n_chains
        with progress("clusters and words", plan.n_iter * n_chains, bool(self.verbose)) as report:

            def on_step(chain: Chain) -> None:
                trace = chain.trace
                report(
                    f"{counted(int(trace['n_clusters'][-1]), 'cluster')}, {counted(int(trace['n_words'][-1]), 'word')}"
                )

            numbers = itertools.count()

            def start(rng: np.random.Generator) -> Chain:
                return running.start(self, problem, plan, known, next(numbers), rng)

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
        self.chain_overlap_ = estimate.chain_overlap(chains)
        settled = plan.agree.settled(self.diagnostics_)
        self.converged_ = settled if self.patience is None else all(chain.stable for chain in chains)
        self.alpha_ = float(np.mean([chain.mean("alpha") for chain in chains]))
        self._keep_samples(np.concatenate([np.stack(chain.samples) for chain in chains]))
        labels = estimate.partition(chains, settings.point_estimate, known)

        def components(labels: Array) -> estimate.Components:
            state = chains[0].state
            share = state.share(problem)
            chosen = self.discriminative_[columns]
            args = state.tables, float(state.burst[0]), state.lam(problem), share, labels, chosen, columns, n_words
            return estimate.make_components(problem, *args)

        if self.min_cluster_size > 1:
            scores = documents.collect(estimate.log_prob, components=components(labels))
            labels = estimate.dissolve_small(labels, int(self.min_cluster_size), scores, known, problem.units)
        self._set_components(components(labels))
        self._read(documents, labels)

    def _keep_samples(self, samples: Array) -> None:
        self.samples_ = samples
        self.similarity_ = posterior_similarity(samples) if samples.shape[1] <= MOST_PAIRED else None
