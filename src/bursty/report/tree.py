"""The tree of clusters or topics on a page: a dendrogram, and its branches at a depth that the reader chooses."""

from __future__ import annotations

from bursty.models.hierarchy import Hierarchy, make_hierarchy
from bursty.report import charts
from bursty.report.content import Content, Panel
from bursty.report.source import ReportSource
from bursty.report.text import numbers, percent
from bursty.typing import Array

#: Fewer groups than this need no tree; the dendrogram of more than this many is too long to read.
FEWEST, MOST = 3, 200
WORDS = 8


def add_tree(
    content: Content, source: ReportSource, groups: Array, weights: Array, titles: list[str], what: str
) -> None:
    """Add the panel, if the model has word probabilities of that many groups.

    ``groups`` are the numbers of the groups in the model, with their weights and titles on the page.
    """
    if not hasattr(source.model, "hierarchy") or not FEWEST <= len(groups) <= MOST:
        return
    p = source.model._group_words()[0][groups]
    tree = make_hierarchy(p, weights, titles, source.words, WORDS, source.model._document_share)
    n = tree.n_groups
    kept = [tree.kept(k) for k in range(1, n + 1)]
    content.data["tree"] = {
        "merges": tree.linkage[:, :2].astype(int).tolist(),
        "heights": numbers(tree.linkage[:, 2]),
        "shares": [percent(float(share)) for share in tree.shares],
        "order": tree.members(2 * n - 2),
        "titles": titles,
        "words": [", ".join(row) for row in tree.words[:-1]] + ["all"],
        "kept": [percent(share) for share in kept],
        "colours": list(charts.COLOURS),
    }
    caption = (
        f"The {what}s that differ least in their words are merged first. A merge lies as far to the right as the share "
        "of the differences between all of them that is lost by then."
    )
    rows = [[tree.names[k] for k in pair] + [percent(height)] for *pair, height in _merges(tree)]
    content.charts["tree"] = charts.tree(titles, tree.members(2 * n - 2), caption, rows)
    begin = max(2, next(k for k in range(1, n + 1) if kept[k - 1] >= 0.5))
    values = {"most": n, "begin": begin, "what": what, "branches": _branches(tree, begin)}
    content.panels.append(Panel("tree", "Tree", "tree.html", values))


def _merges(tree: Hierarchy) -> list[tuple[int, int, float]]:
    return [(int(i), int(j), float(height)) for i, j, height in tree.linkage[:, :3]]


def _branches(tree: Hierarchy, n: int) -> list[tuple[str, list[str]]]:
    """The branches of a cut, for print and for readers without scripts."""
    return [(", ".join(tree.words[node]), [tree.names[k] for k in tree.members(node)]) for node in tree.nodes(n)]
