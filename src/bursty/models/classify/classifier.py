"""Bayes' rule with any family: one distribution of documents per class.

    p(k | x) = p(k) p(x | k) / sum_j p(j) p(x | j)

Fitting is one sum over the documents with the labels as responsibilities, and one `update` of the family; the
statistics add, so that documents can come in batches. `layout` says what is modelled per class, and how that gives a
score; `smoothing` how parameters are smoothed; `calibration` how probabilities are calibrated; `refinement` has the
linear model that is combined with them.

| symbol | name | shape |
|---|---|---|
| p(k) | exp(``class_log_prior_``) | K |
| p(x given k) | ``parameters_``, of the family | W x K |
| T | ``temperature_`` | one per document |
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags

from bursty.engines import Documents
from bursty.families.base import Parameters
from bursty.kernels import threads
from bursty.models.classify import priors
from bursty.models.classify.calibration import Temperature
from bursty.models.classify.heldout import LEAST_HELD_OUT, HeldOut, Sample, SearchSetup, parameters
from bursty.models.classify.labels import Targets, check_targets, class_names, is_table, labelled, n_documents
from bursty.models.classify.layout import Layout
from bursty.models.classify.prediction import ClassPrediction
from bursty.models.classify.presets import preset
from bursty.models.classify.refinement import Refinement, TrainingDocuments, refine, word_weights
from bursty.models.classify.settings import HiddenParameter, Settings, holds_integers
from bursty.models.classify.smoothing import Constant, Shrinkage, Smoothing
from bursty.models.classify.training import TrainingSummary, summarize_training
from bursty.models.classify.transforms import Transform
from bursty.storage.schema import Mismatch, expect_equal, floats, integers, items, log_shares, maybe, part, storable
from bursty.typing import Array
from bursty.validation import check_weights, warn_empty


def _check_groups(model: BayesClassifier, sizes: dict[str, int]) -> None:
    """Check that the numbers of statistics and of parameters match the classes and their groups."""
    n_sums = sizes["C"] + model._layout.multilabel
    seen = model._seen
    if seen is None or len(seen.stats) != n_sums:
        raise Mismatch(f"{sizes['C']} classes do not fit the statistics that are kept of them")
    if seen.sample is not None and seen.sample.targets.multilabel != model._layout.multilabel:
        raise Mismatch("the sample has labels of another kind")
    expect_equal(model.class_count_, seen.documents[0, : sizes["C"]], "class_count_")
    if model._layout.multilabel:
        log_shares("C")(model.class_log_prior_, sizes, "class_log_prior_")
    part(Parameters, K="groups")(model.parameters_, {**sizes, "groups": model._layout.n_groups(n_sums)}, "parameters_")


@storable(
    "BayesClassifier",
    classes_=items("C"),
    class_count_=floats("C", low=0),
    class_log_prior_=log_shares("C", high=700.0),
    _layout=part(Layout),
    _seen=part(TrainingSummary, C="C"),
    _transform=part(Transform),
    _idf=floats("n_words"),
    _document_frequency=integers("n_words", low=0),
    parameters_=part(Parameters),
    smoothing_=part(Constant, Shrinkage),
    temperature_=maybe(part(Temperature)),
    refinement_=maybe(part(Refinement, C="C")),
    check=_check_groups,
)
class BayesClassifier(ClassifierMixin, ClassPrediction):
    r"""Bayes' rule with a multinomial, DCM or EDCM per class.

    By default everything is learned: classes are shrunk towards the corpus by the amount that is best for held-out
    documents, probabilities are calibrated on these documents, and a linear model of discriminative words is combined
    with them. With a number for ``smoothing`` it is the classifier of the papers, which learns only the parameters of
    its family.

    Parameters
    ----------
    family : {"dcm", "edcm", "multinomial", "vonmisesfisher", "dirichlet"} or family estimator, default "dcm"
        Distribution of the documents of a class. The smoothing of an estimator such as ``DCM(smoothing=0.1)`` is used.
    complement : bool, default False
        Model, for each class, the documents of all other classes, and predict the class whose complement explains the
        document worst.
    transform : {None, "log", "tfidf"}, default None
        log(1 + x), or that times log(D / df) with documents scaled to length 1. Only for the multinomial.
    normalize_weights : bool, default False
        Divide the log-parameters of a class by their sum (Rennie et al. 2003). Only for the multinomial.
    smoothing : float, "auto", "shrink" or None, default None
        A number: added to every count of the multinomial, or, times the smallest parameter, to every parameter of DCM
        and EDCM. "auto": the number with the smallest log loss on held-out documents. "shrink": shrinkage of every
        class towards the corpus, by an amount learned in the same way. None: that of ``family`` if it is an estimator,
        otherwise "shrink" if it applies and "auto" if it does not (with ``normalize_weights``). Von Mises-Fisher and
        Dirichlet parameters are never zero: a number has no effect (``Dirichlet(smoothing=...)`` smooths documents).
    prior : {None, "auto"}, default None
        How the s of each class is estimated if smoothing is "shrink". None is maximum likelihood, which is infinite
        for many classes with few documents; "auto" accounts for the word probabilities being fitted to the same
        documents (see `bursty.families.priors`). In both cases s is then scaled by a factor learned from held-out
        documents.
    class_prior : {"uniform", "empirical", "auto"} or array of shape (n_classes,), default "uniform"
        Prior probabilities of the classes. "auto" is a power of the shares of the classes in the training documents,
        which is learned if probabilities are calibrated.
    calibrate : {"auto", "temperature", None}, default "auto"
        Divide log-likelihoods by a temperature fitted on held-out documents. "auto" does so if smoothing is learned
        from these, and then also learns a uniform prior as ``class_prior="auto"`` does: ``class_log_prior_`` has the
        result. "temperature" leaves the prior unchanged.
    refine : {"auto", None}, default "auto"
        Fit a multinomial logistic regression on words weighted by how much the classes' parameters differ, and combine
        its probabilities with those of Bayes' rule (see `bursty.models.classify.refinement`). "auto" does so if
        smoothing, temperature and prior are all learned, ``complement`` and ``transform`` are not used, each document
        has one class, and the number of classes times the number of words is at most five million; it is fitted to a
        random sample of at most 20,000 documents. None is Bayes' rule alone. `partial_fit` never refines.
    engine : {"local", "dask"}, Dask client or Engine, default "local"
        Execution engine.
    n_jobs : int, optional
        Number of threads; None means all cores. The result does not depend on it.
    verbose : int, default 0
        1 reports what was learned, and words that are ignored, on stderr.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels; for multi-label y the names of its columns.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the documents of each class.
    class_log_prior_ : ndarray of shape (n_classes,)
    parameters_ : Parameters of the family
        One column per class (for ``complement``, of all other documents).
    smoothing_ : Constant or Shrinkage
        The smoothing that was used.
    temperature_ : Temperature or None
        Calibration of the probabilities.
    refinement_ : Refinement or None
        The linear model, and its weight.
    class_names_ : ndarray of str
        Names of the classes: those of the corpus if it has them, otherwise the classes themselves.
    n_features_in_, feature_names_in_ : as in scikit-learn

    See Also
    --------
    Mixture : Clustering, without labels or with some.
    bursty.plot.reliability : Plot of the calibration.
    bursty.metrics.break_even : Metric for multi-label documents.

    Notes
    -----
    By Bayes' rule, with a temperature T and an exponent of the class frequencies that are learned,

    .. math:: p(k \mid x) \propto \pi_k^{\rho} \; p(x \mid \alpha_k)^{1 / T(x)}

    Examples
    --------
    >>> from bursty import BayesClassifier
    >>> X, y = [[3, 0, 1], [2, 0, 0], [0, 2, 1], [0, 3, 1]], ["cats", "cats", "dogs", "dogs"]
    >>> BayesClassifier(smoothing=0.01).fit(X, y).predict([[1, 0, 0], [0, 1, 2]]).tolist()
    ['cats', 'dogs']
    """

    transform = HiddenParameter()

    def __init__(
        self,
        family: Any = "dcm",
        *,
        complement: bool = False,
        transform: str | None = None,
        normalize_weights: bool = False,
        smoothing: float | str | None = None,
        prior: str | None = None,
        class_prior: Any = "uniform",
        calibrate: str | None = "auto",
        refine: str | None = "auto",
        engine: Any = "local",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.family = family
        self.complement = complement
        self.transform = transform
        self.normalize_weights = normalize_weights
        self.smoothing = smoothing
        self.prior = prior
        self.class_prior = class_prior
        self.calibrate = calibrate
        self.refine = refine
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name; with ``deep`` those of a family estimator as well."""
        params = {name: vars(self)[name] for name in self._get_param_names()}
        if deep and isinstance(self.family, BaseEstimator):
            params |= {f"family__{name}": value for name, value in self.family.get_params().items()}
        return params

    @classmethod
    def from_name(cls, name: str, **parameters: Any) -> Self:
        """A method of the papers by its name there, such as "C-TW-L-M".

        C is complement modelling (with log-normalised weights for the multinomial), TW-L the tf-idf transformation,
        L the log transformation, M the multinomial; there are also "DCM", "C-DCM", "EDCM" and "C-EDCM". Priors are
        uniform, and ``smoothing`` is 0.01 unless given. Other parameters are passed on.
        """
        return cls(**(preset(name) | parameters))

    # Learning ------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        y : array-like of shape (n_documents,) or (n_documents, n_classes), or list of sets
            One label per document, a table of 0 and 1, or sets of labels. By default the labels of the corpus, whose
            documents without a label (-1) are left out.
        sample_weight : array-like of shape (n_documents,), optional
            Weight of each document.
        """
        settings = Settings.of(self)
        X, y, sample_weight, names = labelled(X, y, sample_weight)
        # If the number of documents is known, labels are checked before the documents are read.
        known = n_documents(X)
        checked = self._check_labels(known, y, sample_weight) if known else None
        documents = self._place(X, reset=True)
        targets, weights = checked or self._check_labels(documents.n_documents, y, sample_weight)
        documents, targets, weights = _weighted(documents, targets, weights)
        self._begin(settings, targets)
        self.class_names_ = class_names(self.classes_, names)
        self._transform = Transform.fit(settings.transform, documents, weights)
        self._absorb(settings, documents, targets, weights)
        held_out = self._finish(settings)
        if held_out is not None and settings.refines(self._layout):
            with threads.using(threads.resolve(self.n_jobs)):
                self._refine(documents, targets, weights, *held_out)
        return self

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from a batch of documents, without a refinement.

        After the last batch the result equals that of `fit` with ``refine=None`` on all documents; a refinement needs
        all documents at once.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`
        classes : array-like of shape (n_classes,)
            All labels; required in the first call, unless y is a table with one column per class.
        """
        settings = Settings.of(self)
        if settings.transform == "tfidf":
            raise ValueError(
                'partial_fit cannot use transform="tfidf", whose weights depend on all documents: use fit, or '
                'transform="log"'
            )
        first = not hasattr(self, "classes_")
        documents = self._place(X, reset=first)
        if first and classes is None and not is_table(y):
            raise ValueError("classes must be passed on the first call to partial_fit: all labels that may come")
        if not first and classes is not None and not np.array_equal(self.classes_, np.unique(classes)):
            raise ValueError(f"`classes={classes!r}` is not the same as on last call to partial_fit")
        names = self.classes_ if not first else None if classes is None else np.unique(classes)
        targets, weights = self._check_labels(documents.n_documents, y, sample_weight, names)
        documents, targets, weights = _weighted(documents, targets, weights)
        if first:
            self._begin(settings, targets)
            self.class_names_ = class_names(self.classes_, None)
            self._transform = Transform(settings.transform)
        if targets.multilabel != self._layout.multilabel:
            raise ValueError("y must be of the same kind (one label per document, or several) at every call")
        self._absorb(settings, documents, targets, weights)
        self._finish(settings)
        return self

    def _check_labels(self, n_documents: int, y: Any, sample_weight: Any, classes: Any = None) -> tuple[Targets, Array]:
        """Classes and weights of the documents; without ``classes`` there must be at least two."""
        targets = check_targets(y, n_documents, type(self).__name__, classes)
        weights = check_weights(sample_weight, n_documents)
        if classes is None and not targets.multilabel:
            present = np.unique(targets.codes[weights > 0])  # type: ignore[index]  # single labels have codes
            if len(present) < 2:
                whose = "y has" if len(targets.classes) < 2 else "sample_weight leaves documents of"
                name = targets.classes.tolist()[int(present[0])]
                raise ValueError(f"{whose} one class only ({name!r}): a classifier needs at least two classes")
        return targets, weights

    def _begin(self, settings: Settings, targets: Targets) -> None:
        """Start from scratch."""
        self.classes_ = targets.classes
        self._layout = Layout(settings.complement, targets.multilabel)
        self._seen: TrainingSummary | None = None

    def _absorb(self, settings: Settings, documents: Documents, targets: Targets, weights: Array) -> None:
        """Add the statistics of some documents."""
        warn_empty(documents.n_empty, stacklevel=4)
        columns = documents.offsets, documents.split(targets), documents.split(weights)
        first = 0 if self._seen is None else self._seen.n_documents
        seen = documents.sum(summarize_training, *columns, settings=settings, transform=self._transform, first=first)
        self._seen = seen if self._seen is None else self._seen + seen

    def _finish(self, settings: Settings) -> tuple[list[Array], Array] | None:
        """Compute the parameters from the statistics; returns what `_learn` does."""
        seen = self._seen
        assert seen is not None
        if not seen.document_frequency.any():
            raise ValueError(f"every document is empty: {type(self).__name__} has nothing to learn from")
        self.class_count_ = seen.documents[0, : len(self.classes_)]
        self.class_log_prior_ = priors.log_prior(settings.class_prior, seen.documents[0], self._layout)
        self.smoothing_: Smoothing = settings.guess
        self.temperature_: Temperature | None = None
        self.refinement_: Refinement | None = None
        held_out = None
        self.__dict__.pop("parameters_", None)  # so that there are never two tables in memory
        with threads.using(threads.resolve(self.n_jobs)):
            if seen.sample is not None:
                held_out = self._learn(settings, seen, seen.sample)
            self.parameters_ = parameters(settings, self._layout, seen.stats, seen.documents, self.smoothing_)
        if self.verbose:
            print(f"bursty: {self.smoothing_}, {self.temperature_}", file=sys.stderr)
        return held_out

    def _learn(self, settings: Settings, seen: TrainingSummary, sample: Sample) -> tuple[list[Array], Array] | None:
        """Choose smoothing, temperature and prior on held-out documents.

        Returns the keys of these documents, fold by fold, and their logits; None if there are too few.
        """
        offset = priors.to_offset(self.class_log_prior_, self._layout)
        direction = priors.learnable(settings.class_prior, offset, self.class_count_, self._layout)
        problem = SearchSetup(settings, self._layout, seen.stats, seen.documents, offset, direction, seen.idf)
        held_out = HeldOut(problem, replace(sample, counts=self._transform(sample.counts)), float(seen.n_documents))
        if held_out.n_documents < LEAST_HELD_OUT:
            return None
        if settings.searches:
            self.smoothing_, fitted = held_out.climb(settings.guess)
        else:
            fitted = held_out.evaluate(settings.guess)
        if settings.calibrates:
            self.temperature_ = fitted.temperature
            self.class_log_prior_ = priors.from_offset(offset + fitted.tilt * direction, self._layout)
        return held_out.keys, held_out.logits(self.smoothing_, fitted)

    def _refine(
        self, documents: Documents, targets: Targets, weights: Array, folds: list[Array], logits: Array
    ) -> None:
        """Fit the linear model and its weight."""
        columns = documents.offsets, documents.split(targets), documents.split(weights)
        rows = documents.sum(TrainingDocuments.from_chunk, *columns)
        differences = word_weights(self.parameters_.table, self.class_count_)
        self.refinement_ = refine(rows, folds, logits, differences, len(self.classes_))
        if self.verbose and self.refinement_ is not None:
            powers = self.refinement_.powers
            print(f"bursty: refined by {len(rows.keys)} documents, powers {powers.round(2)}", file=sys.stderr)

    def _integer(self, X: Any = None) -> bool:
        return Settings.counts_only(self.family) or holds_integers(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.poor_score = True  # on the blobs of the checks, which are not documents
        return tags


def _weighted(documents: Documents, targets: Targets, weights: Array) -> tuple[Documents, Targets, Array]:
    """Leave out documents of weight 0: a word that no other document has is as unknown as if they were not there."""
    used = weights > 0
    if used.all():
        return documents, targets, weights
    return documents.select(used), targets[used], weights[used]
