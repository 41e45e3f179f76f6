"""What LDA and DCMLDA have in common: parameters, and fitting by Monte Carlo EM, at once or in a stream."""

from __future__ import annotations

import inspect
import warnings
from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bursty.engines import Documents
from bursty.estimator import check_number, check_range, check_whole, generator
from bursty.families.base import Statistics
from bursty.inference import mcem
from bursty.inference.checkpoint import Checkpoint, CheckpointWriter
from bursty.inference.runs import Outcome, Runner, Trace, warn_interrupted
from bursty.inference.stopping import MeanGain
from bursty.inference.stream import Stream
from bursty.models.groups import Merge
from bursty.models.selection import Selection
from bursty.models.summary import document_share, has_words
from bursty.models.topics_inference import TopicInference
from bursty.models.topics_reading import TopicReading
from bursty.models.topics_selection import select_topics
from bursty.progress import progress
from bursty.samplers.tokens import MAX_PAIRS, MAX_TOPICS
from bursty.storage.schema import expect_equal, flags, floats, index, items, maybe, part, whole
from bursty.typing import Array
from bursty.validation import warn_empty
from bursty.wording import counted

# Parts of docstrings that both models share, under their placeholders.
_SHARED = {
    "(number of topics)": """
        n_components : int or "auto", default 10
            Number of topics, K. "auto" fits 5, 10, 20, ... topics to nine tenths of the documents and takes the number
            that best predicts one half of the others from the other half.
        """,
    "(shared parameters)": """
        n_iter : int, default 400
            Maximum number of iterations of Monte Carlo EM.
        n_sweeps : int, default 5
            Number of Gibbs sweeps per iteration; alpha and beta are learned from the last one.
        burn_in : int, default 20
            Number of sweeps before alpha and beta are learned for the first time.
        n_samples : int, default 10
            Number of sweeps at the end that are averaged for ``doc_topic_`` and the topics.
        tol : float, default 1e-3
            Relative tolerance on the log-likelihood per word, averaged over ten iterations. 0 runs all iterations.
        n_init : int, default 1
            Number of random starts; the fit with the largest log-likelihood is kept.
        warm_start : bool, default False
            Continue from the result of the last fit.
        random_state : int, Generator or RandomState, optional
            The same seed gives the same bits, whatever the number of threads.
        checkpoint : str, path or Checkpoint, optional
            File to which the state of the fit is written regularly. A fit of the same documents with the same
            parameters resumes from it, to the same bits; it is removed at the end of the fit.
        engine : {"local", "dask", "cuda"}, Dask client or Engine
            Execution engine.
        n_jobs : int, optional
            Number of threads; None means all cores.
        verbose : int, default 0
            Show progress.
        """,
    "(shared attributes)": """
        doc_topic_ : ndarray of shape (n_documents, n_components)
            Topic mixtures of the documents of the fit (or of the last `partial_fit`); rows sum to one.
        trace_ : dict of arrays
            History of the fit: iteration, sweep, log_likelihood (of words and topics, per word) and tokens_per_second
            (tokens times sweeps, divided by the seconds of the iteration).
        n_iter_ : int
            Number of iterations.
        converged_ : bool
            Whether the stopping rule ended the fit, not ``n_iter``.
        selection_ : Selection
            With ``n_components="auto"``, the numbers of topics that were tried and their scores.
        """,
}

M = TypeVar("M", bound="TopicModel")


def documented(model: type[M]) -> type[M]:
    """Insert the shared parts into the docstring of a model."""
    text = inspect.cleandoc(model.__doc__ or "")
    for name, shared in _SHARED.items():
        text = text.replace(name, inspect.cleandoc(shared))
    model.__doc__ = text
    return model


class TopicModel(TopicReading, TopicInference):
    """The public methods of a topic model; see `LDA` and `DCMLDA`."""

    #: Whole-number parameters and the least each may be.
    _least: ClassVar[dict[str, int]] = {
        **{"n_components": 1, "n_init": 1},
        **{"n_iter": 1, "n_sweeps": 1, "burn_in": 0, "n_samples": 1},
    }
    #: The paper that introduced the model, for reports.
    _citation: ClassVar[str | None] = None
    #: What `learn_hyperparameters` may be, and what each value means to the method; None is the default.
    _learn: ClassVar[dict[Any, Any]]
    _statistics: ClassVar[type[Statistics]]
    _topics: Array
    # Whether each document of the fit has words; None if all have, and in models of version 0.1.
    _members: Array | None = None
    _params: Any

    def __init__(
        self,
        n_components: int | str = 10,
        *,
        alpha: Any = None,
        beta: Any = None,
        learn_hyperparameters: bool | str | None = None,
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
        self.n_components = n_components
        self.alpha = alpha
        self.beta = beta
        self.learn_hyperparameters = learn_hyperparameters
        self.n_iter = n_iter
        self.n_sweeps = n_sweeps
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.tol = tol
        self.n_init = n_init
        self.warm_start = warm_start
        self.random_state = random_state
        self.checkpoint = checkpoint
        self.engine = engine
        self.n_jobs = n_jobs
        self.verbose = verbose

    @abstractmethod
    def _method(self) -> mcem.Method[Any]:
        """The sampler and its M step."""

    @abstractmethod
    def _start(self, chains: mcem.Chains) -> Any:
        """Hyperparameters to begin with."""

    @abstractmethod
    def _set_topics(self, params: Any, stats: Any) -> None:
        """Set the public attributes."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the topics.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        y : ignored

        Notes
        -----
        If it is interrupted by Ctrl-C, it keeps its current state, and a warning says how to continue.
        """
        schedule = self._check_parameters()
        documents = self._place_to_fit(X, "there are no words to find topics in")
        n_topics = self._choose_n_topics(documents)
        writer = CheckpointWriter.of(self, documents)
        outcome = self._run(documents, n_topics, schedule, writer)
        best = outcome.best
        result = mcem.finish(best, outcome.interrupted)
        order = self._order(result.doc_topic)
        if not self._continues():
            self._names = None
        result = result.reordered(order)
        if not outcome.interrupted:
            writer.done()
        self._seed, self.trace_ = best.chains.seed, best.trace.arrays()
        self.n_iter_, self.converged_ = len(best.trace), best.converged
        self._finish(best.chains, result.params, result.stats, result.doc_topic)
        self._topics = np.argsort(order).astype(self._topics.dtype)[self._topics]
        self._stream, self._fitted_on = Stream.begin(result.stats, documents.n_documents).pack(), documents.fingerprint
        self._members = documents.collect(has_words) if documents.n_empty else None
        self._document_share = document_share(documents)
        if result.interrupted:
            warn_interrupted(self.n_iter_, "Set warm_start=True and call fit again to continue")
        elif not self.converged_ and self.tol > 0:
            warnings.warn(
                f"the log-likelihood was still growing after {counted(self.n_iter_, 'iteration')}: raise n_iter or "
                "tol, or accept the current solution",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from a chunk of a stream.

        The first call fits its documents like `fit`, so give it enough of them. Each of the following calls sweeps its
        documents with the current topics (``burn_in`` and then ``n_samples`` sweeps), mixes their mean statistics into
        those of the stream, with a step size that decays as (t + 2)^-0.6, and updates alpha, beta and the topics once.
        Memory does not grow with the length of the stream.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        y : ignored
        """
        if not hasattr(self, "_stream"):
            return self.fit(X, y)
        schedule = self._check_parameters()
        if self.n_components not in ("auto", len(self.alpha_)):
            raise ValueError(
                f"n_components is {self.n_components}, but there are {counted(len(self.alpha_), 'topic')} so far: "
                "their number cannot change during a stream; call fit to start again"
            )
        documents = self._place(X)
        warn_empty(documents.n_empty)
        chains = mcem.Chains.start(documents, len(self.alpha_), self._seed, self._number)
        fixed, method = self._method_for_new_documents(), self._method()
        if schedule.burn_in:
            fixed.sweeps(chains, self._params, schedule.burn_in)
        stats, doc_topic = mcem.average(chains, fixed, self._params, schedule.n_samples)
        stream = Stream.unpack(self._statistics, self._stream).mix(stats, documents.n_documents)
        stats = method.of_stream(stream.mean, stream.n_documents)
        self._finish(chains, documents.run_locally(method.conclude, stats, self._params), stats, doc_topic)
        self._stream, self._fitted_on = stream.pack(), documents.fingerprint
        self._members = documents.collect(has_words) if documents.n_empty else None
        self._document_share = document_share(documents)
        return self

    def _merge(self, merge: Merge, X: Any) -> None:
        """Add up what the topics were learned from; ``n_components`` becomes the number that is left.

        X is not needed: every token keeps its topic, or goes with it.
        """
        stream = Stream.unpack(self._statistics, self._stream)
        stream = replace(stream, mean=stream.mean.merged(merge.into))
        stats = self._method().of_stream(stream.mean, stream.n_documents)
        self._params = self._merged_params(self._params.merged(merge.into), stats)
        self._stream, self.doc_topic_ = stream.pack(), merge.sum(self.doc_topic_)
        self._topics = merge.into.astype(self._topics.dtype)[self._topics]
        self._set_topics(self._params, stats)
        if self.n_components != "auto":
            self.n_components = merge.n

    def _merged_params(self, params: Any, stats: Any) -> Any:
        """Hyperparameters of merged topics, from mean ones and the statistics."""
        return params

    def _check_parameters(self) -> mcem.Schedule:
        if isinstance(self.n_components, str) and self.n_components != "auto":
            raise ValueError(f'n_components must be a positive integer or "auto", not {self.n_components!r}')
        for name, least in self._least.items():
            if name != "n_components" or self.n_components != "auto":
                check_whole(name, getattr(self, name), least)
        Checkpoint.of(self.checkpoint)
        if self.n_components != "auto" and int(self.n_components) > MAX_TOPICS:
            raise ValueError(f"n_components is {self.n_components}, but there can be at most {MAX_TOPICS} topics")
        for name in ("alpha", "beta") if self.n_components == "auto" else ():
            if np.ndim(getattr(self, name)) == (1 if name == "alpha" else 2):
                raise ValueError(f'{name} has a value for each topic, but n_components="auto": give one number')
        learn = self.learn_hyperparameters
        if not (learn is None or isinstance(learn, bool | str)) or learn not in self._learn:
            allowed = " or ".join(repr(value) for value in self._learn if value is not None)
            raise ValueError(f"learn_hyperparameters must be {allowed}, not {learn!r}")
        check_number("tol", self.tol)
        n_iter, n_sweeps, burn_in, n_samples = map(int, (self.n_iter, self.n_sweeps, self.burn_in, self.n_samples))
        return mcem.Schedule(n_iter, n_sweeps, burn_in, MeanGain(float(self.tol)), n_samples)

    def _choose_n_topics(self, documents: Documents) -> int:
        """The given number, that of the last fit for a warm start, or the choice of `select_topics`."""
        if self.n_components == "auto" and not self._continues():
            seed = int(generator(self.random_state).integers(2**31))
            self.selection_: Selection = select_topics(self, documents, seed)
            return self.selection_.n_components
        n_topics = len(self.alpha_) if self.n_components == "auto" else int(self.n_components)
        if n_topics > documents.n_words:
            raise ValueError(
                f"n_features={documents.n_words} should be >= n_components={n_topics}: "
                f"{counted(documents.n_words, 'word')} cannot make {counted(n_topics, 'topic')}: lower n_components"
            )
        if n_topics * documents.n_words > MAX_PAIRS:
            raise ValueError(
                f"{n_topics} topics of {documents.n_words} words are more than {MAX_PAIRS:,} pairs of word "
                "and topic: lower n_components, or leave out rare words"
            )
        return n_topics

    def _method_for_new_documents(self) -> mcem.Method[Any]:
        """The sampler for new documents, with the current topics."""
        return self._method()

    def _continues(self) -> bool:
        return bool(self.warm_start) and hasattr(self, "_topics")

    def _order(self, doc_topic: Array) -> Array:
        """Topics by their mean share of a document, largest first; unchanged where the caller has numbered them."""
        if self._continues() or np.ndim(self.alpha) or np.ndim(self.beta) == 2:
            return np.arange(doc_topic.shape[1])
        return np.argsort(-doc_topic.mean(axis=0), kind="stable")

    def _begin(
        self, documents: Documents, n_topics: int, schedule: mcem.Schedule, rng: np.random.Generator
    ) -> mcem.Run[Any]:
        """Start a run: at random, or where the last fit ended."""
        if not self._continues():
            chains = mcem.Chains.start(documents, n_topics, int(rng.integers(2**62)))
            return mcem.Run(chains, self._start(chains), self._method(), schedule)
        if self.components_.shape != (n_topics, documents.n_words):
            raise ValueError("warm_start needs the number of topics and words of the last fit; use warm_start=False")
        if documents.n_tokens == len(self._topics):
            chains = mcem.Chains.at(documents, len(self.alpha_), self._seed, self._topics, self._number)
        else:
            chains = mcem.Chains.start(documents, len(self.alpha_), self._seed, self._number)
        return mcem.Run(chains, self._params, self._method(), schedule)

    def _run(
        self, documents: Documents, n_topics: int, schedule: mcem.Schedule, writer: CheckpointWriter
    ) -> Outcome[mcem.Run[Any]]:
        n_runs = 1 if self._continues() else int(self.n_init)
        with progress("topics", n_runs * schedule.n_iter, bool(self.verbose)) as report:

            def on_step(run: mcem.Run[Any]) -> None:
                speed = run.trace["tokens_per_second"][-1] / 1e6
                report(f"{run.score:.4f} nats/token, {speed:.1f} M tokens/s")
                self._on_iteration(run.trace)

            start = partial(self._begin, documents, n_topics, schedule)
            resume = partial(mcem.Run.resumed, documents, n_topics, self._method(), schedule)
            return Runner(start, resume, writer, on_step).best_of(n_runs, generator(self.random_state))

    def _on_iteration(self, trace: Trace) -> None:
        """Called after every iteration, for subclasses that record more."""

    def _finish(self, chains: mcem.Chains, params: Any, stats: Any, doc_topic: Array) -> None:
        """Keep the results and what a warm start needs, without the documents."""
        self._topics, self._number, self._params = chains.gather(), chains.number, params
        self.doc_topic_ = doc_topic
        self._set_topics(params, stats)

    @property
    def _n_features_out(self) -> int:
        return len(self.alpha_)


def _check_learned(model: TopicModel, sizes: dict[str, int]) -> None:
    expect_equal(model.alpha_, model._params.alpha, "alpha_")
    table = model._params.beta if model._params.beta.ndim == 2 else model._params.beta[:, None]
    expect_equal(model.beta_, np.broadcast_to(table.T, model.beta_.shape), "beta_")
    Stream.check(model._statistics, model._stream, sizes)


#: How every topic model is checked.
STORED: dict[str, Any] = {
    "alpha_": floats("K", above=0),
    "beta_": floats("K", "n_words", above=0),
    "components_": floats("K", "n_words", low=0, sums=1),
    "doc_topic_": floats("documents", "K", low=0, sums=1),
    "_members": maybe(flags("documents")),
    "_params": part(K="K"),
    "_topics": index("K"),
    "_number": whole(),
    "_seed": whole(),
    "_names": maybe(items("K")),
    "_document_share": maybe(floats("n_words", low=0, high=1)),
    "check": _check_learned,
}


def check_hyperparameter(name: str, value: Any, shapes: tuple[tuple[int, ...], ...]) -> Array:
    """A positive finite number or array of one of these shapes, spread to the first of them."""
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a positive number or an array of them, not {value!r}") from None
    bad = ~(np.isfinite(values) & (values > 0))
    if np.any(bad):
        raise ValueError(f"{name} must be finite and above 0, but holds {values[bad][0]}")
    check_range(name, values)
    if values.ndim > 0 and values.shape not in shapes:
        allowed = " or ".join(str(shape) for shape in shapes)
        raise ValueError(f"{name} must be a number or have shape {allowed}, not {values.shape}")
    return np.array(np.broadcast_to(values, shapes[0]))
