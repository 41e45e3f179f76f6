"""What LDA and DCMLDA have in common: fitting by Monte Carlo EM, new documents, likelihoods, reading topics."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from bursty.engines import Documents, get_engine
from bursty.families.base import generator
from bursty.families.dcm import DCMFamily, DCMParameters
from bursty.inference import heldout, mcem
from bursty.inference.checkpoint import Checkpoint, Keeper
from bursty.progress import progress
from bursty.samplers import dcmlda, lda
from bursty.samplers.tokens import MAX_TOPICS
from bursty.validation import check_input, warn_empty

Array = np.ndarray[Any, Any]


# What a checkpoint may hold.
_KEPT = {"LDA": lda.Hyperparameters, "DCMLDA": dcmlda.Hyperparameters, "Trace": mcem.Trace}


class TopicModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The public methods of a topic model; see `LDA` and `DCMLDA`."""

    n_components: int
    n_iter: int
    n_sweeps: int
    burn_in: int
    tol: float
    n_samples: int
    warm_start: bool
    random_state: Any
    checkpoint: Any
    engine: Any
    n_jobs: int | None
    verbose: int
    alpha_: Array
    beta_: Array
    components_: Array

    #: Whole-number parameters and the least each may be.
    _least: ClassVar[dict[str, int]] = {"n_components": 1, "n_iter": 1, "n_sweeps": 1, "burn_in": 0, "n_samples": 1}

    @abstractmethod
    def _method(self) -> mcem.Method[Any]:
        """The sampler and its M step."""

    @abstractmethod
    def _start(self, chains: mcem.Chains) -> Any:
        """Hyperparameters to begin with."""

    @abstractmethod
    def _finish(self, result: mcem.Result[Any]) -> None:
        """Set the public attributes."""

    @abstractmethod
    def _model(self) -> heldout.Model:
        """The fitted model as new documents see it."""

    @abstractmethod
    def _sample_words(self, topic: int, lengths: Array, rng: np.random.Generator) -> sp.csr_array:
        """So many words of one topic for each document."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the topics.

        Parameters
        ----------
        X : documents x words counts (dense, sparse, frame or Corpus)
        y : ignored

        Notes
        -----
        Interrupted with Ctrl-C, it keeps the state it has reached and says how to go on.
        """
        schedule = self._check_parameters()
        documents = self._place(X, reset=True)
        if documents.n_cells == 0:
            raise ValueError("every document is empty: there are no words to find topics in")
        if self.n_components > documents.n_words:
            raise ValueError(
                f"n_features={documents.n_words} should be >= n_components={self.n_components}: "
                f"{documents.n_words} words cannot make {self.n_components} topics"
            )
        warn_empty(documents.n_empty)
        result = self._run(documents, schedule)
        chains = result.chains
        # What a warm start needs: not the documents.
        self._topics, self._number, self._params = documents.gather(chains.topics), chains.number, result.params
        self.doc_topic_, self.trace_ = result.doc_topic, result.trace.arrays()
        self.n_iter_, self.converged_ = len(result.trace.iteration), result.converged
        self._finish(result)
        self._say_how_it_ended(result)
        return self

    def transform(self, X: Any) -> Array:
        """Topic mixture of each document: rows sum to one.

        The posterior mean, from a few short chains of Gibbs sweeps with the topics as they are. It depends on the
        document (and the fit) only: not on its neighbours, their order or the number of threads. A document without
        words gets the prior, ``alpha_`` over its sum.
        """
        model, seed = self._fitted(), self._seed_for(None)
        return self._place(X).collect(heldout.mixtures, model=model, seed=seed, chains=heldout.ShortChains())

    def left_to_right(self, X: Any, *, n_particles: int = 20, n_moves: int = 20, random_state: Any = None) -> Array:
        """Log-likelihood of each document, as one sequence of words, by left-to-right estimation.

        Parameters
        ----------
        X : documents x words counts
        n_particles : int
            Independent estimates that are averaged for each word.
        n_moves : int
            Topics of earlier words that are renewed before each word: all where a document has no more (Wallach et
            al. 2009), as many drawn at random where it has. More is closer to the truth and slower.
        random_state : int, Generator or RandomState, optional
            By default that of the fit, so that the same document gets the same answer.
        """
        for name, value in (("n_particles", n_particles), ("n_moves", n_moves)):
            _check_whole(name, value, 1)
        model, seed = self._fitted(), self._seed_for(random_state)
        sizes = {"n_particles": int(n_particles), "n_moves": int(n_moves)}
        return self._place(X).collect(heldout.left_to_right, model=model, seed=seed, **sizes)

    def empirical_likelihood(
        self, X: Any, *, n_pseudo: int = 1000, random_state: Any = None, return_error: bool = False
    ) -> Any:
        """Log-likelihood of each document by empirical likelihood, as [Doyle2009] section 5 compares models.

        Parameters
        ----------
        X : documents x words counts
        n_pseudo : int
            Pseudo documents that are drawn from the model.
        random_state : int, Generator or RandomState, optional
            By default that of the fit.
        return_error : bool
            Give the standard error of each value too. An error near 1 means that one pseudo document made the whole
            mean: the value is then too low, and more pseudo documents raise it.
        """
        _check_whole("n_pseudo", n_pseudo, 1)
        seed = self._seed_for(random_state)
        return self._empirical_likelihood(X, self._fitted(), seed, n_pseudo, return_error)

    def _empirical_likelihood(self, X: Any, model: heldout.Model, seed: int, n_pseudo: int, return_error: bool) -> Any:
        likelihood = heldout.empirical_likelihood
        values, errors = self._place(X).collect(likelihood, model=model, seed=seed, n_pseudo=int(n_pseudo))
        return (values, errors) if return_error else values

    def score_samples(self, X: Any) -> Array:
        """Log-likelihood of each document, as one sequence of words: `left_to_right` with its defaults."""
        return self.left_to_right(X)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of a document, by `left_to_right`."""
        return float(np.mean(self.score_samples(X)))

    def perplexity(self, X: Any) -> float:
        """``exp(-sum_d log p(x_d) / sum_d n_d)`` by `left_to_right`; lower is better."""
        log_prob = self.score_samples(X)
        n_tokens = self._place(X).n_tokens
        if n_tokens == 0:
            raise ValueError("perplexity is per word, and these documents have none")
        return float(np.exp(-log_prob.sum() / n_tokens))

    def sample(self, lengths: Any, random_state: Any = None) -> tuple[sp.csr_array, Array]:
        """Draw a document of each of these lengths, and the tokens that each topic gave it (documents x topics)."""
        check_is_fitted(self)
        sizes = np.atleast_1d(np.asarray(lengths))
        if sizes.ndim != 1 or np.any(sizes < 0) or np.any(sizes != np.rint(sizes)):
            raise ValueError("lengths must be whole numbers, zero or more, one a document")
        rng = generator(random_state)
        topics = DCMFamily().sample(DCMParameters(self.alpha_[:, None]), sizes.astype(np.int64), rng).toarray()
        shape = len(sizes), self.components_.shape[1]
        documents = sp.csr_array(shape, dtype=np.int32)
        for topic in range(len(self.alpha_)):
            if topics[:, topic].any():
                documents = documents + self._sample_words(topic, topics[:, topic].astype(np.int64), rng)
        return sp.csr_array(documents), topics

    def top_words(self, n: int = 10, by: str = "relevance", weight: float = 0.6) -> list[list[str]]:
        """The words that say most about each topic.

        Parameters
        ----------
        n : int
            Words a topic.
        by : {"relevance", "probability", "lift"}
            "probability": the most likely words of the topic. "lift": those most over-represented in it. "relevance":
            between the two, ``weight * log probability + (1 - weight) * log lift`` (Sievert and Shirley 2014).
        weight : float
            For "relevance".
        """
        scores = self.word_scores(by, weight)
        names = getattr(self, "feature_names_in_", None)
        names = np.arange(scores.shape[1]).astype(str) if names is None else names
        best = np.argsort(-scores, axis=1, kind="stable")[:, : max(0, n)]
        return [[str(names[word]) for word in row] for row in best]

    def word_scores(self, by: str = "relevance", weight: float = 0.6) -> Array:
        """What `top_words` ranks by: topics x words."""
        check_is_fitted(self)
        log_p = np.log(np.maximum(self.components_, 1e-300))
        log_lift = log_p - np.log(np.maximum(self._prevalence() @ self.components_, 1e-300))
        if by == "probability":
            return self.components_
        if by == "lift":
            return np.exp(log_lift)
        if by == "relevance":
            return weight * log_p + (1.0 - weight) * log_lift
        raise ValueError(f'by must be "relevance", "probability" or "lift", not {by!r}')

    def prevalence(self, groups: Any) -> tuple[Array, Array]:
        """Mean topic mixture of the fitted documents of each group (a label, a year): the groups, groups x topics."""
        check_is_fitted(self)
        labels = np.asarray(groups)
        if labels.shape != (len(self.doc_topic_),):
            raise ValueError(f"groups has shape {labels.shape} for {len(self.doc_topic_)} documents: give one each")
        names, codes = np.unique(labels, return_inverse=True)
        return names, np.stack([self.doc_topic_[codes == i].mean(axis=0) for i in range(len(names))])

    def _prevalence(self) -> Array:
        return self.alpha_ / self.alpha_.sum()

    def _check_parameters(self) -> mcem.Schedule:
        for name, least in self._least.items():
            _check_whole(name, getattr(self, name), least)
        Checkpoint.of(self.checkpoint)
        if self.n_components > MAX_TOPICS:
            raise ValueError(f"n_components is {self.n_components}, above the most topics there can be, {MAX_TOPICS}")
        if not isinstance(self.tol, int | float | np.number) or not np.isfinite(self.tol) or self.tol < 0:
            raise ValueError(f"tol must be a finite number, zero or more, not {self.tol!r}")
        args = {name: int(getattr(self, name)) for name in self._least if name != "n_components"}
        return mcem.Schedule(tol=float(self.tol), **args)

    def _begin(self, documents: Documents) -> tuple[mcem.Chains, Any]:
        """Where the run starts: at random, or where the last one ended."""
        if not (self.warm_start and hasattr(self, "_topics")):
            self._seed = int(generator(self.random_state).integers(2**62))
            chains = mcem.Chains.start(documents, int(self.n_components), self._seed)
            return chains, self._start(chains)
        if self.components_.shape != (self.n_components, documents.n_words):
            raise ValueError("warm_start needs the number of topics and words of the last fit; use warm_start=False")
        if documents.n_tokens == len(self._topics):
            place = mcem.Chains.at(documents, len(self.alpha_), self._seed, self._topics, self._number)
            return place, self._params
        chains = mcem.Chains.start(documents, len(self.alpha_), self._seed)
        chains.number = self._number
        return chains, self._params

    def _run(self, documents: Documents, schedule: mcem.Schedule) -> mcem.Result[Any]:
        keeper = Keeper.of(self, documents, _KEPT)
        kept, trace = keeper.resume(), None
        if kept is None:
            chains, params = self._begin(documents)
        else:
            self._seed, trace, params = kept["seed"], kept["trace"], kept["params"]
            n_topics = int(self.n_components)
            chains = mcem.Chains.at(documents, n_topics, self._seed, kept["topics"], kept["number"])
        with progress("topics", schedule.n_iter, bool(self.verbose)) as report:

            def on_iteration(trace: mcem.Trace) -> None:
                speed = trace.tokens_per_second[-1] / 1e6
                report(f"log-likelihood per word {trace.log_likelihood[-1]:.4f}, {speed:.1f} million tokens/s")
                self._on_iteration(trace)

            result = mcem.run(chains, self._method(), params, schedule, on_iteration, keeper, trace)
        if not result.interrupted:
            keeper.done()
        return result

    def _on_iteration(self, trace: mcem.Trace) -> None:
        """For those who want to watch."""

    def _say_how_it_ended(self, result: mcem.Result[Any]) -> None:
        if result.interrupted:
            warnings.warn(
                f"interrupted after {self.n_iter_} iterations; what was reached is kept. "
                "Set warm_start=True and call fit again to go on",
                UserWarning,
                stacklevel=3,
            )
        elif not result.converged and self.tol > 0:
            warnings.warn(
                f"the log-likelihood was still growing after {self.n_iter_} iterations: raise n_iter or tol, "
                "or take the result as it is",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _fitted(self) -> heldout.Model:
        check_is_fitted(self)
        return self._model()

    def _seed_for(self, random_state: Any) -> int:
        check_is_fitted(self)
        return self._seed if random_state is None else int(generator(random_state).integers(2**62))

    def _place(self, X: Any, *, reset: bool = False) -> Documents:
        return get_engine(self.engine, self.n_jobs).place(check_input(self, X, reset=reset))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.input_tags.categorical = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.alpha_)


def check_hyperparameter(name: str, value: Any, shapes: tuple[tuple[int, ...], ...]) -> Array:
    """A positive finite number or array of one of these shapes, spread to the first of them."""
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a positive number or an array of them, not {value!r}") from None
    bad = ~(np.isfinite(values) & (values > 0))
    if np.any(bad):
        raise ValueError(f"{name} must be finite and above 0, but holds {values[bad][0]}")
    if values.ndim > 0 and values.shape not in shapes:
        allowed = " or ".join(str(shape) for shape in shapes)
        raise ValueError(f"{name} must be a number or have shape {allowed}, not {values.shape}")
    return np.array(np.broadcast_to(values, shapes[0]))


def _check_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        above = "above 0" if least == 1 else f"of {least} or more"
        raise ValueError(f"{name} must be a whole number {above}, not {value!r}")
