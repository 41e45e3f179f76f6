"""What clusters and topics share: names, merging, and a tree of them."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from bursty import markup
from bursty.estimator import NAMELESS
from bursty.models.hierarchy import Hierarchy, make_hierarchy
from bursty.models.naming import EXAMPLES, LONGEST_NAME, representative, suggest
from bursty.models.summary import ranked
from bursty.typing import Array
from bursty.wording import counted


@dataclass(frozen=True)
class Merge:
    """Where each group goes (``into``), the number of groups that are left, and the names that these were given."""

    into: Array
    n: int
    names: list[str]

    def sum(self, values: Array, axis: int = -1) -> Array:
        """Sums over the groups that are merged, along an axis."""
        moved = np.moveaxis(values, axis, 0)
        out = np.zeros((self.n, *moved.shape[1:]), dtype=moved.dtype)
        np.add.at(out, self.into, moved)
        return np.ascontiguousarray(np.moveaxis(out, 0, axis))

    def mean(self, values: Array, weights: Array) -> Array:
        """Weighted means over the groups that are merged, along the last axis."""
        weights = np.maximum(weights, 1e-300)
        return self.sum(values * weights) / self.sum(weights)


class GroupReading:
    """Names of clusters or topics, their tree, and merging them."""

    #: Names that were given by `rename`, one per group; "" where none was.
    _names: Array | None = None
    #: Share of the documents of the fit that have each word; None where it is not known, as in models of version 0.1.
    _document_share: Array | None = None
    n_features_in_: int

    @abstractmethod
    def _group_words(self) -> tuple[Array, Array]:
        """Word probabilities of each group, and its weight."""

    def _shares(self) -> Array:
        """The share of each group that tables, trees and reports show."""
        weights = self._group_words()[1]
        return weights / max(weights.sum(), 1e-300)

    @abstractmethod
    def _central_rows(self, X: Any, n: int) -> list[Array] | None:
        """Rows of the n most central documents of each group; None if they are not known."""

    @abstractmethod
    def _merge(self, merge: Merge, X: Any) -> None:
        """Merge groups."""

    @property
    def names_(self) -> list[str]:
        """Names of the clusters or topics: those given by `rename`, three words for the others."""
        return self._names_for(None)

    def suggest_names(self, X: Any = None) -> list[str]:
        """Names of two or three words.

        Parameters
        ----------
        X : Corpus, optional
            The documents of the fit. If the corpus has its texts, a name is the most representative word of the group
            and a phrase of two words that is frequent in its central documents; otherwise it consists of three words.

        Returns
        -------
        list of str
        """
        scores = self._representative()
        texts = getattr(X, "texts", None)
        rows = None if texts is None else self._central_rows(X, EXAMPLES)
        return suggest(scores, self._vocabulary(), None if rows is None else texts, rows or ())

    def rename(self, names: Mapping[int, str] | Sequence[str]) -> Self:
        """Give names to clusters or topics, for tables and reports; they are saved with the model.

        Parameters
        ----------
        names : mapping of int to str, or sequence of str
            New names by number, counted from 0 as in ``labels_``, or one per group. "" restores the automatic name.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        n = len(self._group_words()[1])
        if not isinstance(names, Mapping):
            if isinstance(names, str) or len(names) != n:
                raise ValueError(
                    f"names must be a dictionary, such as {{0: 'a name'}}, or a list of {counted(n, 'name')}"
                )
            names = dict(enumerate(names))
        given = [""] * n if self._names is None else list(self._names)
        for number, name in names.items():
            if not isinstance(number, int | np.integer) or not 0 <= number < n:
                raise ValueError(f"there is no group {number!r}: they are numbered from 0 to {n - 1}")
            if not isinstance(name, str):
                raise TypeError(f"the name of group {number} must be a string, not {name!r}")
            given[number] = name.strip()[:LONGEST_NAME]
        self._names = np.array(given, dtype=object)
        return self

    def merge(self, groups: Any, X: Any = None) -> Self:
        """Merge clusters or topics; the model can still predict, score, continue to learn and be saved.

        Parameters
        ----------
        groups : list of int, list of lists of int, or mapping of str to list of int
            Numbers of the groups to merge, counted from 0: one list, several, or lists with a name each. Groups that
            are not mentioned remain unchanged. ``hierarchy().groups(n)`` returns lists that leave n groups.
        X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words), optional
            The documents of the fit, to label and score again. Without them, ``labels_``, ``sizes_`` and
            ``confidence_`` follow from those of the merged clusters, and the runners-up are no longer known.

        Returns
        -------
        self

        Notes
        -----
        The groups that are left are numbered by size, largest first. Names of groups that are merged are dropped.
        """
        check_is_fitted(self)
        merge = self._plan(groups)
        self._merge(merge, X)
        self._names = np.array(merge.names, dtype=object) if any(merge.names) else None
        return self

    def hierarchy(self) -> Hierarchy:
        """The tree of the clusters or topics, in which those that differ least in their words are merged first.

        Returns
        -------
        Hierarchy

        Examples
        --------
        >>> from bursty import Mixture, datasets
        >>> corpus, _ = datasets.make_bursty_mixture(100, 50, 3, random_state=0)
        >>> model = Mixture(3, random_state=0).fit(corpus)
        >>> tree = model.hierarchy()
        >>> tree.cut(1).tolist()
        [0, 0, 0]
        >>> len(model.merge(tree.groups(2), corpus).sizes_)
        2
        """
        check_is_fitted(self)
        p, documents = self._group_words()[0], self._document_share
        return make_hierarchy(p, self._shares(), self.names_, self._vocabulary(), documents=documents)

    def _summary_html(self) -> str:
        if not hasattr(self, "components_"):
            return ""
        scores = self.word_scores("representative")  # type: ignore[attr-defined]  # every model has it
        rows = ranked(scores, self._vocabulary(), 6, "representative")
        words = [", ".join(row) for row in rows]
        shares = [f"{share:.1%}" for share in self._shares()]
        columns = {"number": range(1, len(words) + 1), "name": self.names_, "share": shares, "words": words}
        table = markup.table(columns)
        if getattr(self, "feature_names_in_", None) is None:
            table += f"<p>{NAMELESS}</p>"
        return table

    def _names_for(self, X: Any) -> list[str]:
        """Given names, and suggestions for the others."""
        found = self.suggest_names(X)
        return found if self._names is None else [own or name for own, name in zip(self._names, found, strict=True)]

    def _representative(self, *, common: bool = False) -> Array:
        """How well each word represents each group (see `bursty.models.naming`); common words are marked down.

        With ``common`` they are not: a document is judged by all of its words.
        """
        check_is_fitted(self)
        p, weights = self._group_words()
        shares = weights / max(weights.sum(), 1e-300)
        return representative(p, shares, shares @ p, None if common else self._document_share)

    def _vocabulary(self) -> Array:
        names = getattr(self, "feature_names_in_", None)
        return np.arange(self.n_features_in_).astype(str) if names is None else names

    def _words_to_show(self) -> Array:
        """The vocabulary; warns if it has only numbers."""
        if getattr(self, "feature_names_in_", None) is None:
            warnings.warn(NAMELESS, UserWarning, stacklevel=3)
        return self._vocabulary()

    def _plan(self, groups: Any) -> Merge:
        """Check what is to be merged, and number what is left by size."""
        weights = self._shares()
        n = len(weights)
        titles: dict[int, str] = {}
        if isinstance(groups, Mapping):
            titles, groups = dict(enumerate(map(str, groups))), list(groups.values())
        lists = [list(groups)] if len(groups) and np.ndim(groups[0]) == 0 else [list(group) for group in groups]
        into = np.full(n, -1)
        for number, group in enumerate(lists):
            for k in group:
                if not isinstance(k, int | np.integer) or not 0 <= k < n:
                    raise ValueError(f"there is no group {k!r}: they are numbered from 0 to {n - 1}")
                if into[k] >= 0:
                    raise ValueError(f"group {k} is in two of the lists: a group is merged once")
                into[k] = number
        alone = np.flatnonzero(into < 0)
        into[alone] = len(lists) + np.arange(len(alone))
        _, into = np.unique(into, return_inverse=True)
        given = [""] * n if self._names is None else list(self._names)
        names = [""] * (int(into.max()) + 1)
        for k in range(n):
            if np.count_nonzero(into == into[k]) == 1:
                names[into[k]] = given[k]
        for number, title in titles.items():
            if lists[number]:
                names[into[lists[number][0]]] = title
        order = np.argsort(-np.bincount(into, weights=weights), kind="stable")
        return Merge(np.argsort(order)[into], len(order), [names[k] for k in order])
