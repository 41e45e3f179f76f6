"""Documents on a page: a map in two dimensions, and a table that can be searched and sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import randomized_svd

from bursty.report import charts, excerpts
from bursty.report.charts import Chart
from bursty.report.source import ReportSource
from bursty.report.text import numbers
from bursty.typing import Array

#: Maximum number of dots: still distinguishable, and drawn fast enough on a phone.
MOST_DOTS = 3000
#: Number of dots that a small group keeps all the same.
FEWEST_DOTS = 20
#: Maximum number of rows of the table: they bound the size of the page, which people mail and open on phones.
MOST_ROWS = 10_000
#: Maximum number of groups that two principal components can separate.
FEW_GROUPS = 8


def principal(scores: Array) -> Array:
    """First two principal components, rows x 2, with fixed signs."""
    centred = scores - scores.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    best = vectors[:, ::-1][:, :2]
    best = best * np.where(best[np.abs(best).argmax(axis=0), np.arange(best.shape[1])] < 0, -1.0, 1.0)
    placed = centred @ best
    return placed if placed.shape[1] == 2 else np.column_stack([placed, np.zeros(len(placed))])


def by_cluster(source: ReportSource, labels: Array, words: Array | None = None) -> Array:
    """Positions of documents by similarity to the mean document of each cluster (labels start at 0; -1 is none)."""
    table = source.tfidf if words is None else sp.csr_array(source.tfidf[:, np.flatnonzero(words)])
    if labels.max(initial=0) > 0:
        alike = likeness(table, labels)
        return principal(alike) if alike.shape[1] <= FEW_GROUPS else between(alike, _apart(alike, labels))
    if min(table.shape) < 3:
        return np.zeros((table.shape[0], 2))
    left, strengths, _ = randomized_svd(table, 2, random_state=0)
    return np.asarray(left * strengths)


def likeness(table: sp.csr_array, codes: Array) -> Array:
    """Cosine of each document with the mean document of each group: documents x groups."""
    means = np.asarray((members(codes) @ table).todense())
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-300)
    return np.asarray(table @ means.T)


def _apart(alike: Array, codes: Array) -> Array:
    """Distances between groups: 1 minus the mean similarity of the documents of one to the other, symmetrised."""
    n = alike.shape[1]
    mean = np.stack([alike[codes == k].mean(axis=0) for k in range(n)])
    mean = mean / np.maximum(np.diag(mean), 1e-300)[:, None]
    apart = np.clip(1.0 - (mean + mean.T) / 2.0, 0.05, None)
    np.fill_diagonal(apart, 0.0)
    return apart


def between(weights: Array, distances: Array) -> Array:
    """Positions of rows between anchors, one per column, in proportion to their weights: rows x 2.

    The anchors approximate ``distances`` in two dimensions. The weights are raised to the power at which the largest
    weight of a row is 0.6 on average, so that groups are visible but do not collapse.
    """
    anchors = _anchors(distances)
    power = 1.0
    for step in 2.0 ** np.arange(5, -7, -1):
        if _sharpened(weights, power + step).max(axis=1).mean() <= 0.6:
            power += step
    return _sharpened(weights, power) @ anchors


def _sharpened(weights: Array, power: float) -> Array:
    raised = (weights / np.maximum(weights.max(axis=1, keepdims=True), 1e-300)) ** power
    return raised / np.maximum(raised.sum(axis=1, keepdims=True), 1e-300)


def _anchors(distances: Array) -> Array:
    """Points in the plane with these distances, by classical scaling followed by stress majorisation."""
    n = len(distances)
    centre = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    signs = np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(n)] < 0, -1.0, 1.0)
    points = (vectors * signs)[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 1e-12))
    for _ in range(300):
        gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
        ratio = -np.divide(distances, gaps, out=np.zeros_like(gaps), where=gaps > 1e-12)
        np.fill_diagonal(ratio, 0.0)
        np.fill_diagonal(ratio, -ratio.sum(axis=1))
        points = ratio @ points / n
    return points


def members(codes: Array) -> sp.csr_array:
    """Indicator matrix, groups x documents; codes start at 0, and -1 is no group."""
    rows = np.flatnonzero(codes >= 0)
    return sp.csr_array((np.ones(len(rows)), (codes[rows], rows)), shape=(codes.max(initial=0) + 1, len(codes)))


def document_map(places: Array, groups: Array, titles: list[str], names: list[str], notes: list[str]) -> Chart:
    """The map of the documents of groups (-1 is none); with many documents, evenly spaced ones of each group."""
    present = np.unique(groups[groups >= 0])
    rows = [np.flatnonzero(groups == k) for k in present]
    n = sum(len(own) for own in rows)
    step, fewest = -(-n // MOST_DOTS), min(FEWEST_DOTS, MOST_DOTS // max(1, len(present)))
    spaced = [own[:: max(1, min(step, len(own) // max(1, fewest)))] for own in rows]
    shown = np.sort(np.concatenate([np.empty(0, dtype=np.int64), *spaced]))
    x, y = (numbers(places[:, axis]) for axis in (0, 1))
    points = [{"x": x[d], "y": y[d], "group": titles[groups[d]], "name": names[d], "note": notes[d]} for d in shown]
    middles = [
        {
            "x": float(np.median(places[own, 0])),
            "y": float(np.median(places[own, 1])),
            "text": titles[k].split(":")[0],
        }
        for k, own in zip(present, rows, strict=True)
    ]
    caption = "Each dot is a document; nearby documents use similar words."
    if step > 1:
        caption += f" Shown: {len(shown):,} of {n:,}, evenly spaced, with more of small groups."
    return charts.scatter(points, [titles[k] for k in present], middles, caption)


def document_table(
    source: ReportSource, names: list[str], columns: list[dict[str, Any]], codes: Array, certainty: Array | None
) -> dict[str, Any]:
    """Columns of the table: name and first words, predictions, labels and metadata, length and keywords.

    Of more than `MOST_ROWS` documents, those of `rows_shown` have a row, by ``codes`` (the group of each) and
    ``certainty``.
    """
    table = [{"title": "Document", "type": "text", "values": names}, *columns, *source.facts()]
    keywords = None
    if source.corpus is not None:
        table.append({"title": "Tokens", "type": "number", "values": numbers(source.lengths)})
        keywords = source.keywords()
    if len(names) <= MOST_ROWS:
        begins = excerpts.beginnings(source, np.arange(len(names)))
        return {"columns": table, "begins": begins, "keywords": keywords, "total": len(names)}
    rows = rows_shown(codes, np.zeros(len(names)) if certainty is None else certainty)
    return {
        "begins": excerpts.beginnings(source, rows),
        "columns": [{**column, "values": [column["values"][d] for d in rows]} for column in table],
        "keywords": None if keywords is None else [keywords[d] for d in rows],
        "total": len(names),
    }


def rows_shown(codes: Array, certainty: Array) -> Array:
    """`MOST_ROWS` documents in order: half the least certain, half the most certain of each group.

    Documents of no group count as the least certain. Each group has as many of the second half as
    any other, unless it is smaller.
    """
    order = np.argsort(certainty, kind="stable")  # NaN, of documents without words, are last
    order = np.concatenate([order[codes[order] < 0], order[codes[order] >= 0]])
    least, rest = order[: MOST_ROWS // 2], order[MOST_ROWS // 2 :][::-1]
    by_group = rest[np.argsort(codes[rest], kind="stable")]
    sizes = np.bincount(codes[rest])
    place = np.arange(len(rest)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    most = by_group[np.argsort(place, kind="stable")[: MOST_ROWS - len(least)]]
    return np.sort(np.concatenate([least, most]))


def share_column(title: str, shares: Array) -> dict[str, Any]:
    """A column of percentages."""
    return {"title": title, "type": "share", "values": numbers(np.floor(shares * 1e4) / 1e4)}


def code_column(title: str, names: list[str], codes: Any) -> dict[str, Any]:
    """A column of groups, by which the table can be filtered; None and -1 are no group."""
    values = [None if c is None or c < 0 else int(c) for c in codes]
    return {"title": title, "type": "code", "names": names, "values": values, "filter": True}
