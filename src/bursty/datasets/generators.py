"""Synthetic corpora with known parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus import Corpus
from bursty.corpus.splitting import as_generator
from bursty.typing import Array


@dataclass(frozen=True)
class Yu2010Truth:
    """Parameters used by `make_yu2010`: the discriminative words, and the probabilities.

    Attributes
    ----------
    discriminative : boolean ndarray of shape (n_words,)
        Whether a word is discriminative.
    profiles : ndarray of shape (n_clusters, n_discriminative)
        Probabilities of the discriminative words in each cluster.
    noise : ndarray of shape (n_words - n_discriminative,)
        Probabilities of the other words.

    See Also
    --------
    make_yu2010

    Examples
    --------
    >>> from bursty import datasets
    >>> _, truth = datasets.make_yu2010(random_state=0)
    >>> int(truth.discriminative.sum()), truth.profiles.shape, truth.noise.shape
    (50, (3, 50), (950,))
    """

    discriminative: Array
    profiles: Array
    noise: Array


@dataclass(frozen=True)
class MixtureTruth:
    """Parameters used by `make_bursty_mixture`.

    Attributes
    ----------
    alpha : ndarray of shape (n_components, n_words)
        Dirichlet parameters of each component.
    weights : ndarray of shape (n_components,)
        Mixture weights.

    See Also
    --------
    make_bursty_mixture

    Examples
    --------
    >>> from bursty import datasets
    >>> _, truth = datasets.make_bursty_mixture(60, 40, 2, random_state=0)
    >>> truth.alpha.shape, truth.weights.tolist()
    ((2, 40), [0.5, 0.5])
    """

    alpha: Array
    weights: Array


def make_yu2010(random_state: Any = None) -> tuple[Corpus, Yu2010Truth]:
    r"""The synthetic collection of [Yu2010] section 6.2: 300 documents, 1,000 words, 3 clusters of 100.

    .. math:: \eta_k \sim \mathrm{Dir}(1, \dots, 1), \qquad \eta_0 \sim \mathrm{Dir}(1, \dots, 1), \qquad
       x_d \sim \bigl(\mathrm{Mult}(100, \eta_{z_d}), \; \mathrm{Mult}(100, \eta_0)\bigr)

    Each document has 100 tokens of the first 50 words, drawn from the multinomial of its cluster, and 100 tokens of the
    other 950 words, drawn from a multinomial common to all clusters. The paper does not say how the four multinomials
    are chosen at random; here each is uniform over the simplex.

    Returns
    -------
    corpus : Corpus
        Its labels are the clusters.
    truth : Yu2010Truth

    See Also
    --------
    Yu2010Truth : The parameters.
    make_bursty_mixture : Clusters with bursts.
    bursty.DPMFS : The model of this collection.

    Examples
    --------
    >>> from bursty.datasets import make_yu2010
    >>> corpus, truth = make_yu2010(random_state=0)
    >>> corpus.counts.shape, int(truth.discriminative.sum())
    ((300, 1000), 50)
    """
    rng = as_generator(random_state)
    n_clusters, per_cluster, n_words, n_discriminative, length = 3, 100, 1_000, 50, 100
    profiles = rng.dirichlet(np.ones(n_discriminative), size=n_clusters)
    noise = rng.dirichlet(np.ones(n_words - n_discriminative))
    labels = np.repeat(np.arange(n_clusters), per_cluster)
    telling = np.vstack([rng.multinomial(length, profiles[label]) for label in labels])
    other = rng.multinomial(length, noise, size=len(labels))
    words = [f"{'telling' if word < n_discriminative else 'noise'}{word:03d}" for word in range(n_words)]
    corpus = Corpus(sp.csr_array(np.hstack([telling, other])), words, labels=labels, info={"name": "yu2010"})
    return corpus, Yu2010Truth(np.arange(n_words) < n_discriminative, profiles, noise)


def make_bursty_mixture(
    n_documents: int = 1_000,
    n_words: int = 500,
    n_components: int = 3,
    mean_length: float = 100.0,
    s: float | Sequence[float] = 50.0,
    *,
    concentration: float = 0.1,
    random_state: Any = None,
) -> tuple[Corpus, MixtureTruth]:
    r"""Generate documents from a mixture of DCM distributions.

    .. math:: q_k \sim \mathrm{Dir}(c, \dots, c), \qquad z_d \sim \mathrm{Uniform}(1, \dots, K), \qquad
       \theta_d \sim \mathrm{Dir}(s_{z_d} q_{z_d}), \qquad w_{di} \sim \theta_d

    with c the ``concentration``. For each document a component is drawn uniformly, a length from a Poisson distribution
    (at least 1), and the tokens one by one from the component's Polya urn: token i is a copy of an earlier token of the
    document with probability i / (s + i), and a new draw from the component's mean otherwise. This samples the DCM
    exactly, in time proportional to the number of tokens.

    Parameters
    ----------
    n_documents, n_words, n_components : int
        Numbers of documents, words and components.
    mean_length : float
        Mean number of tokens per document.
    s : float or array-like of shape (n_components,)
        Sum of the Dirichlet parameters: the smaller, the burstier; the larger, the closer to a multinomial.
    concentration : float
        Concentration of the Dirichlet prior of each component's mean: the smaller, the fewer words a component uses,
        and the better the components are separated.
    random_state : int, numpy Generator or RandomState, optional
        Seed or generator for reproducible output.

    Returns
    -------
    corpus : Corpus
        Its labels are the components.
    truth : MixtureTruth

    See Also
    --------
    MixtureTruth : The parameters.
    bursty.Mixture : Finds the clusters.

    Examples
    --------
    >>> from bursty.datasets import make_bursty_mixture
    >>> corpus, truth = make_bursty_mixture(n_documents=100, n_words=50, random_state=0)
    >>> corpus.counts.shape, truth.alpha.shape
    ((100, 50), (3, 50))
    """
    sums = np.broadcast_to(np.asarray(s, dtype=np.float64), (n_components,))
    if min(n_documents, n_words, n_components) < 1 or min(mean_length, concentration, sums.min()) <= 0:
        raise ValueError("sizes must be at least 1, and mean_length, s and concentration positive")
    rng = as_generator(random_state)
    means = rng.dirichlet(np.full(n_words, concentration), size=n_components)
    labels = rng.integers(n_components, size=n_documents)
    lengths = np.maximum(1, rng.poisson(mean_length, size=n_documents))
    tokens = _urn(means, sums, labels, lengths, rng)
    rows = np.repeat(np.arange(n_documents), lengths)
    ones = np.ones(len(tokens), dtype=np.int32)
    counts = sp.coo_array((ones, (rows, tokens)), shape=(n_documents, n_words))
    width = len(str(n_words - 1))
    corpus = Corpus(
        counts,
        [f"word{word:0{width}d}" for word in range(n_words)],
        labels=labels,
        label_names=[f"component{k}" for k in range(n_components)],
        info={"name": "bursty mixture"},
    )
    return corpus, MixtureTruth(means * sums[:, None], np.full(n_components, 1.0 / n_components))


def _urn(means: Array, sums: Array, labels: Array, lengths: Array, rng: np.random.Generator) -> Array:
    """Tokens of all documents, concatenated; token i of every document is drawn at once."""
    starts = np.cumsum(lengths) - lengths
    fresh = np.empty(int(lengths.sum()), dtype=np.int64)
    component = np.repeat(labels, lengths)
    for k, mean in enumerate(means):
        here = np.flatnonzero(component == k)
        drawn = np.searchsorted(np.cumsum(mean), rng.random(len(here)), side="right")
        fresh[here] = np.minimum(drawn, means.shape[1] - 1)
    longest_first = np.argsort(-lengths, kind="stable")
    active = np.searchsorted(-lengths[longest_first], -np.arange(lengths.max()), side="left")
    for place in range(1, int(lengths.max())):
        documents = longest_first[: active[place]]
        s = sums[labels[documents]]
        copies = documents[rng.random(len(documents)) >= s / (s + place)]
        earlier = rng.integers(place, size=len(copies))
        fresh[starts[copies] + place] = fresh[starts[copies] + earlier]
    return fresh
