"""The report of a topic model: `LDA` or `DCMLDA`."""

from __future__ import annotations

import numpy as np

from bursty.corpus.times import bin_times
from bursty.families.bursts import Burstiness
from bursty.models.topics_reading import group_means
from bursty.plot.topics import running_mean
from bursty.report import charts, documents, excerpts
from bursty.report.charts import Chart
from bursty.report.content import DOCUMENTS, Content, Panel, tile
from bursty.report.lookup import add_lookup, lookup, vocabulary
from bursty.report.source import ReportSource
from bursty.report.text import burstiest_words, clean, numbers, percent, repeats_sentence
from bursty.report.tree import add_tree
from bursty.typing import Array
from bursty.wording import counted

#: Number of top words per topic sent for each position of the slider.
WORDS = 30
LAMBDAS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
TOP_DOCUMENTS = 5
N_SIMILAR = 3
#: Maximum number of points of a curve over time; more are averaged.
MOST_TIMES = 60
#: Number of documents that a period needs: of fewer, neither the mean nor its standard error says much.
FEW_DOCUMENTS = 3
MOST_PANELS = 24
#: Maximum number of rows of a table of topics by label.
MOST_LABELS = 40
#: Share of common words among the top words of all topics that a ranking may have.
FEW_COMMON = 0.1


def topic_content(source: ReportSource) -> Content:
    """The content of the page."""
    model, corpus = source.model, source.corpus
    mixtures = np.asarray(model.doc_topic_)
    if corpus is not None and (len(corpus) != len(mixtures) or model.fitted_on(corpus) is False):
        mixtures = model.transform(corpus)
    prevalence, titles = mixtures.mean(axis=0), _titles(source)
    bursts = model.burstiness() if hasattr(model, "burstiness") else None
    content = Content(
        title=f"{counted(len(titles), 'topic')} in {counted(len(mixtures), 'document')}",
        lead=f"Found by {type(model).__name__}. Every document is a mixture of topics; "
        f"the largest topic has {percent(prevalence.max())} of a document on average.{source.say_empty('topic')}",
        tiles=_tiles(mixtures, bursts),
        panels=[],
    )
    caption = "Mean share of each topic in a document."
    content.charts["prevalence"] = charts.bars(
        titles, numbers(prevalence), "mean share of a document", caption, share=True
    )
    content.panels.append(
        Panel("overview", "Overview", "overview.html", {"charts": ["prevalence", "map"], "words": None})
    )
    main = mixtures.argmax(axis=1)
    main[source.empty] = -1
    largest = np.where(main < 0, np.nan, mixtures.max(axis=1))
    names = source.document_names(len(mixtures))
    notes = [f"{share:.0%} of this topic" for share in mixtures.max(axis=1)]
    content.charts["map"] = documents.document_map(_places(source, mixtures), main, titles, names, notes)
    _add_topics(content, source, titles, mixtures, bursts)
    add_tree(content, source, np.arange(len(titles)), prevalence, titles, "topic")
    _add_trends(content, source, mixtures, titles)
    columns = [
        documents.code_column("Main topic", titles, main),
        documents.share_column("Its share", largest),
    ]
    content.data["documents"] = documents.document_table(source, names, columns, main, largest)
    of_topic = prevalence[:, None] * model.components_
    of_topic = of_topic / np.maximum(of_topic.sum(axis=0), 1e-300)
    content.data["vocabulary"] = vocabulary(source)
    content.panels.append(DOCUMENTS)
    add_lookup(content, lookup(source, of_topic, titles, "topic"))
    return content


def _titles(source: ReportSource) -> list[str]:
    assert source.group_names is not None
    return [f"{i + 1}: {name}" for i, name in enumerate(source.group_names)]


def _tiles(mixtures: Array, bursts: Burstiness | None) -> list[tuple[str, str]]:
    entropy = -np.sum(mixtures * np.log(np.maximum(mixtures, 1e-300)), axis=1)
    tiles = [
        tile(len(mixtures), "document"),
        tile(mixtures.shape[1], "topic"),
        ("topics in a typical document", f"{np.exp(np.median(entropy)):.1f}"),
    ]
    if bursts is not None:
        again, plain = np.nanmedian(bursts.again), np.nanmedian(bursts.again_by_chance)
        tiles.append((f"of words used once are used again (by chance {plain:.0%})", f"{again:.0%}"))
    return tiles


def _add_topics(
    content: Content, source: ReportSource, titles: list[str], mixtures: Array, bursts: Burstiness | None
) -> None:
    """Data of each topic: words for all positions of the slider, similar topics, top documents."""
    model = source.model
    p = model.components_
    overall = model.components_.T @ (model.alpha_ / model.alpha_.sum())
    near = _overlap(p)
    names = source.document_names(len(mixtures))
    topics = []
    for k, title in enumerate(titles):
        words = _candidates(p[k], overall, source.number_on_page)
        best = np.argsort(-mixtures[:, k], kind="stable")[:TOP_DOCUMENTS]
        passages = _passages(source, best, k)
        similar = [j for j in np.argsort(-near[k], kind="stable") if j != k][:N_SIMILAR]
        topics.append(
            {
                "title": title,
                "words": source.number_on_page[words].tolist(),
                "p": numbers(p[k, words]),
                "overall": numbers(overall[words]),
                "documents": [
                    [names[d], percent(float(mixtures[d, k])), parts] for d, parts in zip(best, passages, strict=True)
                ],
                "similar": [[int(j), percent(float(near[k, j]))] for j in similar],
                "share": percent(float(mixtures[:, k].mean())),
                "bursts": None if bursts is None else repeats_sentence(bursts, k),
                "bursty_words": [] if bursts is None else burstiest_words(bursts, k, source.words),
            }
        )
    content.data["topics"] = topics
    content.charts["topic-words"] = charts.topic_words(
        "Bars: probability of the word in the topic. Orange ticks: in all topics together."
    )
    values = {"topics": topics, "titles": titles, "begin": _begin(p, overall, mixtures.mean(axis=0))}
    content.panels.append(Panel("topics", "Topics", "topics.html", values))


def _begin(p: Array, overall: Array, prevalence: Array) -> float:
    """Where the slider begins: where topics are told apart by their top words, and these are as likely as possible.

    The three top words of the topics are distinct, and common words do not lead: of the five top words, hardly any has
    less than half of the lift that a topic of this prevalence can give a word.
    """
    log_p = np.log(np.maximum(p, 1e-300))
    log_lift = log_p - np.log(np.maximum(overall, 1e-300))
    half = 0.5 * -np.log(np.clip(prevalence, 1e-12, 1.0))[:, None]
    for weight in (0.6, 0.4, 0.2):
        best = np.argsort(-(weight * log_p + (1 - weight) * log_lift), axis=1, kind="stable")[:, :5]
        is_common = np.take_along_axis(log_lift, best, axis=1) < half
        if len(np.unique(best[:, :3])) >= 0.85 * best[:, :3].size and is_common.mean() <= FEW_COMMON:
            return weight
    return 0.2


def _passages(source: ReportSource, rows: Array, topic: int) -> list[excerpts.Passage]:
    """The passage of each document most typical of the topic."""
    if not excerpts.has_texts(source):
        return [[] for _ in rows]
    scores = source.model.word_scores("representative")[topic]
    return excerpts.passages(source, rows, excerpts.group_weights(source, scores))


def _candidates(p: Array, overall: Array, places: Array) -> Array:
    """The words that are top words at some position of the slider."""
    log_p = np.log(np.maximum(p, 1e-300))
    log_lift = log_p - np.log(np.maximum(overall, 1e-300))
    known = np.flatnonzero(places >= 0)
    best = {
        int(known[w])
        for weight in LAMBDAS
        for w in np.argsort(-(weight * log_p + (1 - weight) * log_lift)[known], kind="stable")[:WORDS]
    }
    return np.array(sorted(best))


def _places(source: ReportSource, mixtures: Array) -> Array:
    """Map of documents between their topics; topics that share words are near each other."""
    if mixtures.shape[1] < 3:
        return documents.principal(mixtures)
    apart = np.clip(1.0 - _overlap(source.model.components_), 0.05, None)
    np.fill_diagonal(apart, 0.0)
    return documents.between(mixtures, apart)


def _overlap(p: Array) -> Array:
    """Overlap of each pair of topics, in probability."""
    return np.stack([np.minimum(row, p).sum(axis=1) for row in p])


def _add_trends(content: Content, source: ReportSource, mixtures: Array, titles: list[str]) -> None:
    """Topics by each time, number and label column of the corpus."""
    names = []
    for i, (name, groups) in enumerate(source.groupings.items()):
        key, kind = f"trend-{i}", groups.dtype.kind
        draw = _over_time if kind == "M" else _over_numbers if kind in "iuf" else _over_labels
        content.charts[key] = draw(name, groups, mixtures, titles)
        over = f"over time ({name})" if kind == "M" else f"over {name}"
        names.append((key, over if kind in "iufM" else f"by {name}"))
    if names:
        content.panels.append(Panel("trends", "Trends", "trends.html", {"trends": names}))


def _over_time(name: str, times: Array, mixtures: Array, titles: list[str]) -> Chart:
    """Mean shares by period with standard errors, on a time axis."""
    periods, unit = bin_times(times)
    points, means, errors = group_means(periods, mixtures)
    sizes = np.unique(periods[~np.isnat(periods)], return_counts=True)[1]
    enough = sizes >= FEW_DOCUMENTS if np.sum(sizes >= FEW_DOCUMENTS) > 1 else sizes > 0
    points, means, errors = points[enough], means[enough], np.nan_to_num(errors[enough])
    topics = range(min(len(titles), MOST_PANELS))
    # The time axis of the chart takes milliseconds since 1970.
    places = points.astype("datetime64[ms]").astype(np.int64).tolist()
    said = [str(point) + ("s" if unit == "decade" else "") for point in points]
    rows = [
        {
            "x": places[t],
            "when": said[t],
            "y": round(float(means[t, k]), 4),
            "low": round(max(0.0, float(means[t, k] - errors[t, k])), 4),
            "high": round(float(means[t, k] + errors[t, k]), 4),
            "panel": titles[k],
        }
        for k in topics
        for t in range(len(points))
    ]
    column = "" if name.lower() == unit else f" ({name})"
    caption = f"Mean share of each topic in the documents of each {unit}{column}, all on the same scale."
    caption += " Bands: one standard error."
    n_sparse, n_without = int(np.sum(~enough)), int(np.isnat(times).sum())
    if n_sparse:
        caption += f" Not shown: {counted(n_sparse, unit)} with fewer than {FEW_DOCUMENTS} documents."
    if n_without:
        caption += f" Not included: {counted(n_without, 'document')} without a time."
    return charts.panels(rows, [titles[k] for k in topics], name, caption, time=unit)


def _over_numbers(name: str, values: Array, mixtures: Array, titles: list[str]) -> Chart:
    known = np.isfinite(values.astype(np.float64))
    points, curve, _ = group_means(values[known].astype(np.float64), mixtures[known])
    window = max(1, len(points) // 30)
    every = max(1, -(-len(points) // MOST_TIMES))
    smooth = np.stack([running_mean(column, window) for column in curve.T])
    shown = np.arange(0, len(points), every)
    topics = range(min(len(titles), MOST_PANELS))
    rows = [
        {"x": points[t].item(), "y": round(float(smooth[k, t]), 4), "panel": titles[k]} for k in topics for t in shown
    ]
    caption = f"Share of each topic in the documents of each {name}, all on the same scale."
    if window > 1:
        caption += f" Running mean over {counted(window, 'value')}."
    return charts.panels(rows, [titles[k] for k in topics], name, caption)


def _over_labels(name: str, groups: Array, mixtures: Array, titles: list[str]) -> Chart:
    labels, first, codes = np.unique(groups.astype(str), return_index=True, return_inverse=True)
    sizes = np.bincount(codes)
    largest = np.sort(np.argsort(-sizes, kind="stable")[:MOST_LABELS])
    topics = [titles[k] for k in range(min(len(titles), MOST_PANELS))]
    # In order of appearance in the corpus: often that of time, unlike the alphabet.
    shown = largest[np.argsort(first[largest], kind="stable")]
    cells = [
        {"row": clean(labels[i]), "column": topic, "share": round(float(share), 4), "text": f"{share:.0%}"}
        for i in shown
        for topic, share in zip(topics, mixtures[codes == i].mean(axis=0), strict=False)
    ]
    caption = f"Mean share of each topic in the documents of each {name}."
    if len(labels) > MOST_LABELS:
        caption += f" Shown: the {MOST_LABELS} most frequent of {len(labels):,}."
    return charts.heat(cells, [clean(labels[i]) for i in shown], topics, ("", ""), caption)
