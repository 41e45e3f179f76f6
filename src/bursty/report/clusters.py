"""The report of a clustering: `Mixture`, `DPMFS`, or any model with ``labels_``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bursty.families import family_of
from bursty.families.bursts import Burstiness, burstiness
from bursty.metrics import normalized_mutual_information
from bursty.report import charts, documents, excerpts
from bursty.report.charts import Chart
from bursty.report.content import DOCUMENTS, Content, Panel, tile
from bursty.report.lookup import add_lookup, lookup, vocabulary
from bursty.report.run import unsettled
from bursty.report.source import ReportSource
from bursty.report.text import burstiest_words, percent, repeats_sentence
from bursty.report.tree import add_tree
from bursty.typing import Array
from bursty.wording import counted

WORDS = 12
CORE_DOCUMENTS = 5
MOST_LABELS = 24
MOST_DISCRIMINATIVE = 60


@dataclass(frozen=True)
class Clusters:
    """A clustering with clusters numbered from 0, largest first; the code of a document without words is -1."""

    source: ReportSource
    names: Array
    codes: Array
    confidence: Array | None

    @classmethod
    def of(cls, source: ReportSource) -> Clusters:
        """Clusters of the documents of the corpus, or of those of the fit."""
        model, corpus = source.model, source.corpus
        confidence = None
        labels = np.asarray(model.labels_)
        if corpus is not None and hasattr(model, "label_documents"):
            labels, confidence = model.label_documents(corpus)
        elif corpus is not None and len(corpus) != len(labels):
            raise ValueError(
                f"the corpus has {counted(len(corpus), 'document')}, but {type(model).__name__} was fitted on "
                f"{len(labels):,}: give those"
            )
        codes, members = np.full(len(labels), -1), np.delete(np.arange(len(labels)), source.empty)
        names, first = np.unique(labels[members], return_inverse=True)
        order = np.argsort(-np.bincount(first), kind="stable")
        codes[members] = np.argsort(order)[first]
        if confidence is not None:
            confidence = np.where(codes < 0, np.nan, confidence)
        return cls(source, names[order], codes, confidence)

    @property
    def n(self) -> int:
        """Number of clusters."""
        return len(self.names)

    @cached_property
    def sizes(self) -> Array:
        """Number of documents per cluster."""
        return np.bincount(self.codes[self.codes >= 0], minlength=self.n)

    @cached_property
    def tokens(self) -> Array:
        """Number of tokens of each word in each cluster."""
        assert self.source.corpus is not None
        return np.asarray((documents.members(self.codes) @ self.source.corpus.counts).todense())

    @cached_property
    def bursts(self) -> Burstiness:
        """How bursty the documents of each cluster are."""
        assert self.source.corpus is not None
        return burstiness(self.source.corpus, self.codes)

    def scores(self, by: str) -> Array | None:
        """Scores of words, clusters x words: those of the model, or from the tokens of the documents."""
        model = self.source.model
        if hasattr(model, "word_scores"):
            return np.asarray(model.word_scores(by))[self.names]
        if self.source.corpus is None:
            return None
        p = self.tokens / np.maximum(self.tokens.sum(axis=1, keepdims=True), 1.0)
        q = self.tokens.sum(axis=0) / max(1.0, float(self.tokens.sum()))
        scores = p if by == "parameter" else p * np.log(np.maximum(p, 1e-300) / np.maximum(q, 1e-300))
        chosen = getattr(model, "discriminative_", None)
        return scores if chosen is None or by == "parameter" else np.where(chosen, scores, -np.inf)

    @cached_property
    def titles(self) -> list[str]:
        """Display names: the number of the cluster in the model, counted from 1, and its name."""
        numbers = [f"{name + 1}" if isinstance(name, int | np.integer) else str(name) for name in self.names]
        names = self.source.group_names
        if names is not None:
            return [f"{number}: {names[name]}" for number, name in zip(numbers, self.names, strict=True)]
        if (scores := self.scores("representative")) is None:
            return numbers
        words = [best_words(self.source, row, 3) for row in scores]
        return [f"{number}: {', '.join(row)}" for number, row in zip(numbers, words, strict=True)]


def best_words(source: ReportSource, scores: Array, n: int) -> list[str]:
    """The n words of the largest scores."""
    best = np.argsort(-scores, kind="stable")[:n]
    return [str(source.words[w]) for w in best if scores[w] > 0]


def cluster_content(source: ReportSource) -> Content:
    """The content of the page."""
    clusters = Clusters.of(source)
    n_documents = len(clusters.codes)
    kind = type(source.model).__name__
    sizes = [int(size) for size in clusters.sizes]
    content = Content(
        title=f"{counted(clusters.n, 'cluster')} in {counted(n_documents, 'document')}",
        lead=f"Found by {kind}{_components(source.model)}. {_how_alike(sizes)}{_empty(clusters)}"
        f"{source.say_empty('cluster')}{unsettled(source.model)}",
        tiles=_tiles(clusters),
        panels=[],
    )
    content.charts["sizes"] = charts.bars(clusters.titles, sizes, "documents", "Number of documents per cluster.")
    overview = ["sizes"]
    if source.corpus is not None:
        content.charts["map"] = _map(clusters)
        overview.insert(0, "map")
        if (split := _label_split(clusters)) is not None:
            content.charts["labels"] = split
            overview.append("labels")
    values = {"charts": overview, "words": _discriminative(clusters)}
    content.panels += [Panel("overview", "Overview", "overview.html", values)]
    content.panels += [Panel("clusters", "Clusters", "clusters.html", {"cards": _cards(clusters)})]
    add_tree(content, source, clusters.names, clusters.sizes, clusters.titles, "cluster")
    if source.corpus is not None:
        _add_documents(content, clusters)
        marks = getattr(source.model, "inclusion_prob_", None)
        shares = clusters.tokens / np.maximum(clusters.tokens.sum(axis=0), 1.0)
        content.data["vocabulary"] = vocabulary(source)
        content.panels.append(DOCUMENTS)
        add_lookup(content, lookup(source, shares, clusters.titles, "cluster", marks))
    return content


def _add_documents(content: Content, clusters: Clusters) -> None:
    columns = [documents.code_column("Cluster", clusters.titles, clusters.codes)]
    if clusters.confidence is not None:
        columns.append(documents.share_column("Certainty", clusters.confidence))
        columns += _runners_up(clusters)
    names = clusters.source.document_names(len(clusters.codes))
    content.data["documents"] = documents.document_table(
        clusters.source, names, columns, clusters.codes, clusters.confidence
    )


def _runners_up(clusters: Clusters) -> list[dict[str, Any]]:
    """The second most probable cluster of each document; empty where it has less than a hundredth."""
    model = clusters.source.model
    if clusters.n < 2 or not hasattr(model, "runners_up"):
        return []
    seconds, probabilities = model.runners_up(clusters.source.corpus)
    place = {int(name): k for k, name in enumerate(clusters.names)}
    codes = [place.get(int(k)) if p >= 0.01 else None for k, p in zip(seconds, probabilities, strict=True)]
    for row in clusters.source.empty:
        codes[row] = None
    shares = np.where([code is None for code in codes], np.nan, probabilities)
    columns = [
        documents.code_column("Runner-up", clusters.titles, codes),
        documents.share_column("Its probability", shares),
    ]
    return [{**column, "filter": False} for column in columns]


def _map(clusters: Clusters) -> Chart:
    source = clusters.source
    places = documents.by_cluster(source, clusters.codes, getattr(source.model, "discriminative_", None))
    labels = source.label_texts or [""] * len(clusters.codes)
    return documents.document_map(
        places, clusters.codes, clusters.titles, source.document_names(len(clusters.codes)), labels
    )


def _components(model: Any) -> str:
    family = family_of(model)
    return "" if family is None else f" with {family.title} components"


def _empty(clusters: Clusters) -> str:
    """Mention the number of components without documents, which are not shown."""
    empty = len(getattr(clusters.source.model, "weights_", ())) - clusters.n
    return f" {counted(empty, 'more component has', 'more components have')} no documents." if empty > 0 else ""


def _how_alike(sizes: list[int]) -> str:
    if len(sizes) == 1:
        return "All documents are in one cluster."
    total = sum(sizes)
    return f"The largest has {percent(sizes[0] / total)} of the documents, the smallest {percent(sizes[-1] / total)}."


def _tiles(clusters: Clusters) -> list[tuple[str, str]]:
    model = clusters.source.model
    tiles = [tile(len(clusters.codes), "document"), tile(clusters.n, "cluster")]
    if clusters.confidence is not None:
        tiles.append(("mean probability of the cluster", percent(float(np.nanmean(clusters.confidence)))))
    labels = _single_labels(clusters.source)
    if labels is not None:
        members = [d for d in np.flatnonzero(clusters.codes >= 0) if labels[d]]
        agreement = normalized_mutual_information([labels[d] for d in members], clusters.codes[members])
        tiles.append(("agreement with labels (NMI)", f"{agreement:.2f}"))
    if hasattr(model, "discriminative_"):
        tiles.append(tile(int(np.sum(model.discriminative_)), "discriminative word"))
    return tiles


def _single_labels(source: ReportSource) -> list[str] | None:
    labels = None if source.corpus is None or source.corpus.is_multilabel else source.label_texts
    return labels if labels is not None and len(set(labels)) > 1 else None


def _label_split(clusters: Clusters) -> Chart | None:
    """Composition of the clusters by known label."""
    labels = _single_labels(clusters.source)
    if labels is None:
        return None
    names, codes = np.unique(np.array([label or "(none)" for label in labels], dtype=object), return_inverse=True)
    common = np.argsort(-np.bincount(codes), kind="stable")[:MOST_LABELS]
    parts = [str(names[c]) for c in common] + (["(others)"] if len(names) > len(common) else [])
    place = np.full(len(names), len(common))
    place[common] = np.arange(len(common))
    table = np.zeros((clusters.n, len(parts)), dtype=int)
    members = clusters.codes >= 0
    np.add.at(table, (clusters.codes[members], place[codes[members]]), 1)
    cells = [
        {"group": clusters.titles[k], "part": part, "documents": int(table[k, i]), "order": i}
        for k in range(clusters.n)
        for i, part in enumerate(parts)
        if table[k, i]
    ]
    caption = "Known labels of the documents in each cluster."
    if len(parts) <= len(charts.COLOURS):
        return charts.stacked(cells, clusters.titles, parts, caption)
    shares = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    # What is left over would be the darkest column, and says least.
    shares[:, len(common) :] = 0.0
    shaded = [
        {"row": title, "column": part, "share": round(float(shares[k, i]), 4), "text": str(table[k, i] or "")}
        for k, title in enumerate(clusters.titles)
        for i, part in enumerate(parts)
    ]
    return charts.heat(shaded, clusters.titles, parts, ("", ""), f"{caption} Shaded by share of the cluster.")


def _discriminative(clusters: Clusters) -> dict[str, Any] | None:
    """Discriminative words of a model with feature selection, those that the data speak for most first.

    Of words with equal evidence, as those that all sweeps select have, those that represent a cluster best come first.
    """
    source, scores = clusters.source, clusters.scores("representative")
    chosen = getattr(source.model, "discriminative_", None)
    if chosen is None:
        return None
    probability = np.asarray(getattr(source.model, "inclusion_prob_", chosen), dtype=np.float64)
    evidence = np.asarray(getattr(source.model, "log_bayes_factor_", probability))
    typical = np.zeros(source.n_words) if scores is None else scores.max(axis=0)
    order = np.lexsort((-typical, -np.where(chosen, evidence, -np.inf)))
    best = [w for w in order[:MOST_DISCRIMINATIVE] if chosen[w]]
    shown = [(str(source.words[w]), "" if probability[w] == 1.0 else percent(float(probability[w]))) for w in best]
    return {"shown": shown, "n": int(np.count_nonzero(chosen))}


def _cards(clusters: Clusters) -> list[dict[str, Any]]:
    """One card per cluster."""
    source = clusters.source
    typical, common = clusters.scores("representative"), _likely_words(clusters)
    central = _central(clusters)
    names = source.document_names(len(clusters.codes))
    cards = []
    for k in range(clusters.n):
        rows = np.flatnonzero(clusters.codes == k)
        cards.append(
            {
                "title": f"Cluster {clusters.titles[k]}",
                "size": int(clusters.sizes[k]),
                "share": percent(clusters.sizes[k] / clusters.sizes.sum()),
                "distinguishing": None if typical is None else best_words(source, typical[k], WORDS),
                "common": None if common is None else common[k],
                "facts": _facts(clusters, k, rows),
                "bursts": [] if source.corpus is None else burstiest_words(clusters.bursts, k, source.words),
                "central": [] if typical is None or not central else _excerpts(clusters, names, central[k], typical[k]),
                "labels": _labels_of(source, rows),
            }
        )
    return cards


def _likely_words(clusters: Clusters) -> list[list[str]] | None:
    """The most likely words of each cluster, unless most of them are the same everywhere and so say nothing."""
    if (scores := clusters.scores("parameter")) is None:
        return None
    words = [best_words(clusters.source, row, WORDS) for row in scores]
    shared = set(words[0]).intersection(*words[1:]) if len(words) > 1 else set()
    return None if len(shared) > WORDS // 3 else words


def _excerpts(clusters: Clusters, names: list[str], rows: Array, scores: Array) -> list[tuple[str, excerpts.Passage]]:
    """Names of documents, each with the passage most typical of the cluster if texts are available."""
    source = clusters.source
    found = excerpts.passages(source, rows, excerpts.group_weights(source, scores))
    return [(names[row], parts) for row, parts in zip(rows, found, strict=True)]


def _facts(clusters: Clusters, k: int, rows: Array) -> list[tuple[str, str]]:
    source, facts = clusters.source, []
    if clusters.confidence is not None:
        facts.append(("Certainty", percent(float(clusters.confidence[rows].mean()))))
    if source.corpus is not None:
        part = source.corpus.counts[rows]
        if part.nnz:
            facts.append(("Burstiness", f"{part.data.sum() / part.nnz:.2f} tokens per distinct word of a document"))
            facts.append(("Repeats", repeats_sentence(clusters.bursts, k)))
    for name, values in source.groupings.items():
        if values.dtype.kind == "M" and not np.isnat(values[rows]).all():
            known = np.sort(values[rows][~np.isnat(values[rows])])
            low, high = (str(known[int(share * (len(known) - 1))]) for share in (0.1, 0.9))
            facts.append((name.capitalize(), f"mostly {low} to {high}" if low < high else low))
        elif values.dtype.kind in "iuf" and np.isfinite(values[rows].astype(np.float64)).all():
            low, high = np.quantile(values[rows].astype(np.float64), [0.1, 0.9], method="nearest")
            facts.append((name.capitalize(), f"mostly {low:g} to {high:g}" if low < high else f"{low:g}"))
    return facts


def _central(clusters: Clusters) -> list[Array]:
    """The rows of the most central documents of each cluster."""
    source = clusters.source
    if source.corpus is None:
        return []
    if hasattr(source.model, "core_documents"):
        found = source.model.core_documents(source.corpus, CORE_DOCUMENTS)
        return [found[name] for name in clusters.names]
    near = documents.likeness(source.tfidf, clusters.codes)[np.arange(len(clusters.codes)), clusters.codes]
    members = [np.flatnonzero(clusters.codes == k) for k in range(clusters.n)]
    return [own[np.argsort(-near[own], kind="stable")[:CORE_DOCUMENTS]] for own in members]


def _labels_of(source: ReportSource, rows: Array) -> list[tuple[str, str]]:
    labels = _single_labels(source)
    if labels is None:
        return []
    names, sizes = np.unique(np.array([labels[d] or "(none)" for d in rows], dtype=object), return_counts=True)
    order = np.argsort(-sizes, kind="stable")[:4]
    return [(str(names[i]), percent(sizes[i] / len(rows))) for i in order]
