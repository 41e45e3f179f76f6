"""Inference for documents with a fitted topic model: their topics, the topics of their words, their likelihood."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bursty.estimator import CountEstimator, check_lengths, check_whole, generator
from bursty.families.dcm import DCMFamily, DCMParameters
from bursty.inference import completion, heldout
from bursty.samplers.tokens import Topics
from bursty.typing import Array
from bursty.validation import check_counts
from bursty.wording import counted


@dataclass(frozen=True)
class WordTopics:
    """Topics of the words of documents.

    An entry is one word of one document. Entries are sorted by document, and within a document by word.

    Attributes
    ----------
    indptr : ndarray of shape (n_documents + 1,)
        Where the entries of each document begin.
    words, counts : ndarray of shape (n_entries,)
        Index of the word, and its count in the document.
    topics : ndarray of shape (n_entries,)
        Its most probable topic.
    probabilities : csr_array of shape (n_entries, n_topics)
        Share of each topic among the word's tokens, over the chains; rows sum to one. Topics that were never sampled
        are not stored.
    """

    indptr: Array
    words: Array
    counts: Array
    topics: Array
    probabilities: sp.csr_array

    def document(self, row: int) -> WordTopics:
        """The entries of one document."""
        own = slice(self.indptr[row], self.indptr[row + 1])
        bounds = np.array([0, own.stop - own.start])
        return WordTopics(bounds, self.words[own], self.counts[own], self.topics[own], self.probabilities[own])


class TopicInference(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CountEstimator):
    """Methods of a fitted topic model that take documents."""

    alpha_: Array
    components_: Array
    _seed: int

    @abstractmethod
    def _model(self) -> Topics:
        """The fitted model as new documents see it."""

    @abstractmethod
    def _sample_words(self, topic: int, lengths: Array, rng: np.random.Generator) -> sp.csr_array:
        """Words of one topic for each document; ``lengths`` has their numbers."""

    def transform(self, X: Any) -> Array:
        """Topic mixture of each document: rows sum to one.

        The posterior mean, from a few short chains of Gibbs sweeps given the fitted topics. It depends only on the
        document and the fit, not on other documents, their order or the number of threads. A document without words
        gets the prior, ``alpha_`` divided by its sum.
        """
        model, seed = self._fitted(), self._seed_for(None)
        return self._place(X).collect(heldout.mixtures, model=model, seed=seed, chains=heldout.ShortChains())

    def assign(self, X: Any) -> WordTopics:
        """Topic of every word of every document.

        It uses the same short chains as `transform`, and is as independent of other documents, order and threads.

        Returns
        -------
        WordTopics
            Sparse, an entry for each word of each document: its most probable topic (``topics``), the probabilities
            (``probabilities``) and where it stands (``indptr``, ``words``, ``counts``).
        """
        model, seed = self._fitted(), self._seed_for(None)
        chains = heldout.ShortChains()
        parts = self._place(X).collect(heldout.cell_topics, model=model, seed=seed, chains=chains)
        cells, words, counts, topics, sizes, columns, probabilities = parts
        rows, shape = np.append(0, np.cumsum(sizes)), (len(words), len(self.alpha_))
        table = sp.csr_array((probabilities, columns, rows), shape=shape)
        return WordTopics(np.append(0, np.cumsum(cells)), words, counts, topics, table)

    def log_predictive(self, X: Any, held: Any = None, *, random_state: Any = None) -> tuple[Array, Array]:
        """Log-probability of the held-out tokens of each document, given the observed ones.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
            Observed counts; only these are used to infer the topics of a document.
        held : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words), optional
            Held-out counts of the same documents. By default half of the tokens of each row of X are held out, drawn
            at random without replacement (the smaller half of an odd number), and the others are observed.
        random_state : int, Generator or RandomState, optional
            For the split and the chains; by default that of the fit.

        Returns
        -------
        log_prob, n_held : ndarray of shape (n_documents,)
            ``sum_w held_dw log p(w | d)``, and the number of held-out tokens. p(w | d) is the mean over the samples of
            the same short chains as in `transform`; `bursty.metrics.document_completion` gives the formula.
        """
        model, seed = self._fitted(), self._seed_for(random_state)
        documents = self._place(X)
        scored = None
        if held is not None:
            scored = check_counts(held, owner="log_predictive", n_words=documents.n_words)
            if scored.shape[0] != documents.n_documents:
                raise ValueError(
                    f"held has {counted(scored.shape[0], 'document')} and X has {documents.n_documents}: "
                    "give one row per document in both"
                )
        parts, chains = documents.split(scored), heldout.ShortChains()
        return documents.collect(completion.log_predictive, parts, model=model, seed=seed, chains=chains)

    def left_to_right(
        self,
        X: Any,
        *,
        n_particles: int = 20,
        n_moves: Any = "auto",
        random_state: Any = None,
        return_error: bool = False,
    ) -> Any:
        """Log-likelihood of each document, as one sequence of words, by left-to-right estimation.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        n_particles : int, default 20
            Number of independent estimates that are averaged for each word. The bias of the logarithm of their mean is
            removed to first order.
        n_moves : int or "auto", default "auto"
            How often the topic of an earlier word is resampled before each word: of each in turn if there are no more
            (Wallach et al. 2009 have one turn), else of words drawn at random. More moves are closer to the truth and
            slower. "auto" is 20, or a tenth of the number of earlier words in documents of up to 10,000 words; in
            longer ones the time is linear in their length.
        random_state : int, Generator or RandomState, optional
            By default that of the fit, so that the same document gets the same answer.
        return_error : bool, default False
            Also return the standard error of each value, over particles.
        """
        check_whole("n_particles", n_particles, 1)
        if n_moves != "auto":
            check_whole("n_moves", n_moves, 1)
        model, seed = self._fitted(), self._seed_for(random_state)
        moves = heldout.GROWING_MOVES if n_moves == "auto" else (int(n_moves), 0.0)
        sizes = {"n_particles": int(n_particles), "moves": moves}
        found = self._place(X).collect(heldout.left_to_right, model=model, seed=seed, **sizes)
        return (found[:, 0], found[:, 1]) if return_error else found[:, 0]

    def empirical_likelihood(
        self, X: Any, *, n_pseudo: int = 1000, random_state: Any = None, return_error: bool = False
    ) -> Any:
        """Log-likelihood of each document by empirical likelihood, as [Doyle2009] section 5 compares models.

        Parameters
        ----------
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
        n_pseudo : int
            Number of pseudo-documents to draw from the model.
        random_state : int, Generator or RandomState, optional
            By default that of the fit.
        return_error : bool
            Also return the standard error of each value. An error near 1 means that a single pseudo-document dominates
            the mean: the value is then too low, and more pseudo-documents are needed.
        """
        seed = self._seed_for(random_state)
        return self._empirical_likelihood(X, self._fitted(), seed, n_pseudo, return_error)

    def _empirical_likelihood(self, X: Any, model: Topics, seed: int, n_pseudo: int, return_error: bool) -> Any:
        check_whole("n_pseudo", n_pseudo, 1)
        likelihood = heldout.empirical_likelihood
        values, errors = self._place(X).collect(likelihood, model=model, seed=seed, n_pseudo=int(n_pseudo))
        return (values, errors) if return_error else values

    def score_samples(self, X: Any) -> Array:
        """Log-likelihood of each document, as one sequence of words: `left_to_right` with its defaults."""
        values: Array = self.left_to_right(X)
        return values

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log-likelihood of a document, by `left_to_right`."""
        return float(np.mean(self.score_samples(X)))

    def perplexity(self, X: Any) -> float:
        """``exp(-sum_d log p(x_d) / sum_d n_d)`` by `left_to_right`; lower is better."""
        documents = self._place(X)
        return self._perplexity(documents, self.score_samples(documents))

    def sample(self, lengths: Any, random_state: Any = None) -> tuple[sp.csr_array, Array]:
        """Draw one document of each length; also return its number of tokens of each topic (documents x topics)."""
        check_is_fitted(self)
        sizes, rng = check_lengths(lengths), generator(random_state)
        topics = DCMFamily().sample(DCMParameters(self.alpha_[:, None]), sizes, rng).toarray()
        shape = len(sizes), self.components_.shape[1]
        documents = sp.csr_array(shape, dtype=np.int32)
        for topic in range(len(self.alpha_)):
            if topics[:, topic].any():
                documents = documents + self._sample_words(topic, topics[:, topic].astype(np.int64), rng)
        return sp.csr_array(documents), topics

    def _fitted(self) -> Topics:
        check_is_fitted(self)
        return self._model()

    def _seed_for(self, random_state: Any) -> int:
        check_is_fitted(self)
        return self._seed if random_state is None else int(generator(random_state).integers(2**62))
