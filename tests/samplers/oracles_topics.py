"""Slow, plain answers about topic models. Imports nothing of bursty."""

from __future__ import annotations

import itertools

import numpy as np
from scipy.special import gammaln, logsumexp

MASK = 2**64 - 1


def mix(x):
    """SplitMix64's output function, in whole numbers."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def uniforms(seed, sweep, document, n):
    golden = 0x9E3779B97F4A7C15
    key = mix(seed)
    for number in (sweep, document):
        key = mix((key + (number + 1) * golden) & MASK)
    step = mix((key + golden) & MASK) | 1
    return np.array([(mix((key + i * step) & MASK) >> 11) / 2**53 for i in range(n)])


def log_beta(a):
    return np.sum(gammaln(a)) - gammaln(np.sum(a))


def counts_of(words, topics, n_words, n_topics):
    """Tokens of one document by word and topic."""
    table = np.zeros((n_words, n_topics))
    for word, topic in zip(words, topics, strict=True):
        table[word, topic] += 1
    return table


def dcmlda_log_joint(words, topics, alpha, beta):
    """[Doyle2009] eq. 3 for one document: beta is W x K."""
    table = counts_of(words, topics, *beta.shape)
    total = log_beta(table.sum(axis=0) + alpha) - log_beta(alpha)
    for k in range(len(alpha)):
        total += log_beta(table[:, k] + beta[:, k]) - log_beta(beta[:, k])
    return total


def dcmlda_conditional(n_k, n_w, alpha, beta_row, totals):
    """Weights of the topics of a token, by counts that leave it out: [Doyle2009] section 3."""
    return (n_k + alpha) / (n_k + totals) * (n_w + beta_row)


def lda_log_joint(documents, topics, alpha, beta):
    """Words and topics of a corpus under LDA with theta and phi integrated out: beta has length W."""
    table = np.zeros((len(beta), len(alpha)))
    total = 0.0
    for words, own in zip(documents, topics, strict=True):
        counts = counts_of(words, own, len(beta), len(alpha))
        total += log_beta(counts.sum(axis=0) + alpha) - log_beta(alpha)
        table += counts
    return total + sum(log_beta(table[:, k] + beta) - log_beta(beta) for k in range(len(alpha)))


def all_topics(n_tokens, n_topics):
    return list(itertools.product(range(n_topics), repeat=n_tokens))


def dcmlda_log_prob(words, alpha, beta):
    """Exact log-likelihood of a document: the sum over all topics of its tokens."""
    return logsumexp([dcmlda_log_joint(words, z, alpha, beta) for z in all_topics(len(words), len(alpha))])


def lda_log_prob(words, alpha, phi):
    """The same under LDA with given word probabilities, W x K."""
    terms = []
    for z in all_topics(len(words), len(alpha)):
        counts = np.bincount(z, minlength=len(alpha))
        prior = log_beta(counts + alpha) - log_beta(alpha)
        terms.append(prior + np.sum(np.log(phi[list(words), list(z)])))
    return logsumexp(terms)


def collapsed_lda_sweep(documents, topics, alpha, beta, rng):
    """One pass of the plain serial collapsed Gibbs sampler of LDA, in place."""
    table = sum(counts_of(w, z, len(beta), len(alpha)) for w, z in zip(documents, topics, strict=True))
    for words, own in zip(documents, topics, strict=True):
        n_k = np.bincount(own, minlength=len(alpha)).astype(float)
        for i, word in enumerate(words):
            n_k[own[i]] -= 1
            table[word, own[i]] -= 1
            p = (n_k + alpha) * (table[word] + beta[word]) / (table.sum(axis=0) + beta.sum())
            own[i] = rng.choice(len(alpha), p=p / p.sum())
            n_k[own[i]] += 1
            table[word, own[i]] += 1


def make_dcmlda(lengths, alpha, beta, rng):
    """Documents by the generative story: counts D x W, and topic counts D x K."""
    n_words, n_topics = beta.shape
    counts, mixtures = np.zeros((len(lengths), n_words), dtype=int), np.zeros((len(lengths), n_topics), dtype=int)
    for d, length in enumerate(lengths):
        mixtures[d] = rng.multinomial(length, rng.dirichlet(alpha))
        for k in range(n_topics):
            if mixtures[d, k]:
                counts[d] += rng.multinomial(mixtures[d, k], rng.dirichlet(beta[:, k]))
    return counts, mixtures


def make_lda(lengths, alpha, phi, rng):
    """The same with topics that all documents share: phi is W x K."""
    return np.array([rng.multinomial(length, phi @ rng.dirichlet(alpha)) for length in lengths])


def umass(words, counts):
    """Mean of log((D(v, u) + 1) / D(u)) over the pairs of words, u before v."""
    has = np.asarray(counts) > 0
    pairs = [(u, v) for j, v in enumerate(words) for u in words[:j]]
    return np.mean([np.log(((has[:, u] & has[:, v]).sum() + 1) / has[:, u].sum()) for u, v in pairs])


def npmi(words, counts):
    """Mean of log(p(u, v) / (p(u) p(v))) / -log p(u, v) over the pairs of words; -1 where they never meet."""
    has = np.asarray(counts) > 0
    values = []
    for u, v in itertools.combinations(words, 2):
        both, first, second = np.mean(has[:, u] & has[:, v]), np.mean(has[:, u]), np.mean(has[:, v])
        if both == 0:
            values.append(-1.0)
        elif both == 1:
            values.append(1.0)
        else:
            values.append(np.log(both / (first * second)) / -np.log(both))
    return np.mean(values)


#: Number of words of `three_topics`.
N_WORDS = 40


def three_topics():
    """Three topics over their own words, of different burstiness, and some words that all share."""
    beta = np.full((N_WORDS, 3), 0.02)
    for k, s in enumerate((4.0, 12.0, 40.0)):
        beta[10 * k : 10 * k + 10, k] = 0.7 * s / 10
        beta[30:, k] = 0.3 * s / 10
    return np.array([0.5, 1.0, 0.3]), beta


def make_three_topics(n_documents, seed=0, length=80):
    """Documents of `three_topics`, as `make_dcmlda` returns them."""
    alpha, beta = three_topics()
    rng = np.random.default_rng(seed)
    return make_dcmlda(rng.integers(length // 2, length * 3 // 2, size=n_documents), alpha, beta, rng)
