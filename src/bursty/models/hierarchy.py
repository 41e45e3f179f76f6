"""A tree of clusters or topics, to be read at several depths.

The groups k, with weights w_k and word probabilities p_k, carry the information

    I = sum_k w_k KL(p_k | q),    q = sum_k w_k p_k,

about words: the mutual information of group and word. A merged group has the weighted mean of the probabilities of the
two; the loss,

    (w_i + w_j) H(p_ij) - w_i H(p_i) - w_j H(p_j),

is their Jensen-Shannon divergence times their weight, and is also the log-likelihood per token that one multinomial
loses against two. The tree repeatedly merges the pair that loses least (Slonim and Tishby 2000). Vectors with negative
entries, such as embeddings, have squared distances instead of divergences (Ward's method).
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from bursty.models.naming import representative
from bursty.typing import Array

#: Number of most probable words that trees are made of; the others count as one word.
MOST_WORDS = 5000


@dataclass(frozen=True)
class Hierarchy:
    r"""Groups (clusters or topics) merged two by two until one is left.

    The nodes 0 to K - 1 are the groups, numbered as in the model; node K + t is made by the merge of row t.

    Attributes
    ----------
    linkage : ndarray of shape (n_groups - 1, 4)
        As returned by `scipy.cluster.hierarchy.linkage`: two nodes, the height, and the number of groups below. The
        height is the share of the information about words that all merges up to this one lose, from 0 to 1.
    shares : ndarray of shape (2 * n_groups - 1,)
        Weight of each node.
    words : list of lists of str
        The most representative words of each node.
    names : list of str
        Names of the nodes: those of the model for groups, three words for the others, "all" for the root.

    See Also
    --------
    bursty.plot.hierarchy
    bursty.Mixture, bursty.DCMLDA

    Notes
    -----
    The two groups that are merged next are those whose union loses the least information about words (Slonim and Tishby
    2000): with weights w, word probabilities p and H their entropy,

    .. math:: (w_i + w_j) H(p_{ij}) - w_i H(p_i) - w_j H(p_j), \qquad p_{ij} = \frac{w_i p_i + w_j p_j}{w_i + w_j}

    Examples
    --------
    >>> from bursty import Mixture, datasets
    >>> corpus, _ = datasets.make_bursty_mixture(100, 50, 3, random_state=0)
    >>> tree = Mixture(3, random_state=0).fit(corpus).hierarchy()
    >>> len(tree.names)
    5
    """

    linkage: Array
    shares: Array
    words: list[list[str]]
    names: list[str]

    @property
    def n_groups(self) -> int:
        """Number of groups of the model, K."""
        return len(self.linkage) + 1

    def kept(self, n: int) -> float:
        """Share of the information about words that is kept with n groups, from 0 (one group) to 1 (all of them)."""
        return 1.0 - float(self.linkage[self.n_groups - self._check(n) - 1, 2]) if n < self.n_groups else 1.0

    def members(self, node: int) -> list[int]:
        """The groups below a node, in the order of the tree."""
        found, waiting = [], [node]
        while waiting:
            node = waiting.pop()
            if node < self.n_groups:
                found.append(node)
            else:
                waiting += self.linkage[node - self.n_groups, 1::-1].astype(int).tolist()
        return found

    def nodes(self, n: int) -> list[int]:
        """The n nodes that remain when the tree is cut, largest first."""
        last = 2 * self.n_groups - self._check(n)
        below = set(self.linkage[: last - self.n_groups, :2].astype(int).ravel().tolist())
        return sorted((node for node in range(last) if node not in below), key=lambda node: (-self.shares[node], node))

    def groups(self, n: int) -> list[list[int]]:
        """The groups in each of n branches, largest branch first: what `merge` takes."""
        return [sorted(self.members(node)) for node in self.nodes(n)]

    def cut(self, n: int) -> Array:
        """The branch of each group, from 0 (the largest) to n - 1."""
        branch = np.empty(self.n_groups, dtype=np.intp)
        for number, groups in enumerate(self.groups(n)):
            branch[groups] = number
        return branch

    def _check(self, n: int) -> int:
        if not isinstance(n, int | np.integer) or not 1 <= n <= self.n_groups:
            raise ValueError(f"n must be an integer from 1 to the number of groups ({self.n_groups}), not {n!r}")
        return int(n)

    def __str__(self) -> str:
        lines, waiting = [], [(2 * self.n_groups - 2, "", "")]
        while waiting:
            node, first, rest = waiting.pop()
            name = f"{node + 1}: {self.names[node]}" if node < self.n_groups else self.names[node]
            lines.append(f"{first}{name} ({self.shares[node]:.1%})")
            if node >= self.n_groups:
                left, right = sorted(self.linkage[node - self.n_groups, :2].astype(int), key=lambda k: -self.shares[k])
                waiting += [(int(right), rest + "└─ ", rest + "   "), (int(left), rest + "├─ ", rest + "│  ")]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>"


def agglomerate(p: Array, weights: Array) -> tuple[Array, Array]:
    """Linkage matrix, and the mean of each node: (2 K - 1) x W.

    Parameters
    ----------
    p : ndarray of shape (n_groups, n_words)
        Word probabilities; or vectors, if any entry is negative.
    weights : ndarray of shape (n_groups,)
        Not zero.
    """
    n = len(p)
    measure = _squares if np.any(p < 0) else _entropy
    means, mass, own = np.zeros((2 * n - 1, p.shape[1])), np.zeros(2 * n - 1), np.zeros(2 * n - 1)
    means[:n], mass[:n] = p, weights / weights.sum()
    own[:n] = mass[:n] * measure(means[:n])
    lost = np.full((2 * n - 1, 2 * n - 1), np.inf)

    def compare(node: int, others: list[int]) -> None:
        both = mass[node] + mass[others]
        mean = (mass[node] * means[node] + mass[others][:, None] * means[others]) / both[:, None]
        lost[node, others] = both * measure(mean) - own[node] - own[others]

    for node in range(1, n):
        compare(node, list(range(node)))
    linkage, left = np.zeros((n - 1, 4)), list(range(n))
    for t in range(n - 1):
        table = lost[np.ix_(left, left)]
        row, column = np.unravel_index(np.argmin(table), table.shape)
        i, j, new = left[column], left[row], n + t
        mass[new] = mass[i] + mass[j]
        means[new] = (mass[i] * means[i] + mass[j] * means[j]) / mass[new]
        own[new] = mass[new] * measure(means[new : new + 1])[0]
        below = sum(1 if k < n else linkage[k - n, 3] for k in (i, j))
        linkage[t] = i, j, max(0.0, lost[j, i]), below
        left = [node for node in left if node not in (i, j)]
        compare(new, left)
        left.append(new)
    if n > 1:
        total = np.cumsum(linkage[:, 2])
        linkage[:, 2] = total / total[-1] if total[-1] > 1e-12 else np.arange(1, n) / (n - 1)
    return linkage, means


def make_hierarchy(
    p: Array,
    weights: Array,
    names: Sequence[str],
    vocabulary: Array,
    n_words: int = 10,
    documents: Array | None = None,
) -> Hierarchy:
    """The tree of groups with these word probabilities and weights; ``documents`` as in `representative`."""
    n, weights = len(p), np.maximum(np.asarray(weights, dtype=np.float64), 1e-12)
    table, columns = _narrow(p, weights)
    linkage, means = agglomerate(table, weights)
    shares = np.append(weights / weights.sum(), np.zeros(n - 1))
    for t, (i, j) in enumerate(linkage[:, :2].astype(int)):
        shares[n + t] = shares[i] + shares[j]
    means = means[:, : len(columns)]
    scores = representative(means, shares, means[-1], None if documents is None else documents[columns])
    best = columns[np.argsort(-scores, axis=1, kind="stable")[:, :n_words]]
    words = [[str(vocabulary[w]) for w in row] for row in best]
    inner = [", ".join(row[:3]) for row in words[n:]]
    return Hierarchy(linkage, shares, words, [*map(str, names), *inner[:-1], *["all"] * (n > 1)])


def _entropy(p: Array) -> Array:
    return -xlogy(p, p).sum(axis=1)


def _squares(p: Array) -> Array:
    return -(p**2).sum(axis=1)


def _narrow(p: Array, weights: Array) -> tuple[Array, Array]:
    """The columns that have most weight in some group, then the sum of the others; and which columns these are."""
    if p.shape[1] <= MOST_WORDS:
        return p, np.arange(p.shape[1])
    order = np.argsort(-np.abs(p * weights[:, None]).max(axis=0), kind="stable")
    columns = np.sort(order[:MOST_WORDS])
    return np.column_stack([p[:, columns], p[:, order[MOST_WORDS:]].sum(axis=1)]), columns
