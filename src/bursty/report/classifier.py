"""The report of a classifier, evaluated on labelled documents that it was not fitted on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bursty.families import get_family
from bursty.families.bursts import burstiness
from bursty.plot.calibration import reliability_bins
from bursty.report import charts, documents, excerpts
from bursty.report.charts import Chart
from bursty.report.clusters import best_words
from bursty.report.content import DOCUMENTS, Content, Panel, tile
from bursty.report.lookup import vocabulary
from bursty.report.source import ReportSource
from bursty.report.text import burstiest_words, clean, numbers, percent, repeats_sentence
from bursty.typing import Array
from bursty.wording import counted

WORDS = 10
MOST_WRONG = 60
MOST_CLASSES = 40
EVIDENCE = 8


@dataclass(frozen=True)
class Judged:
    """Labelled documents and their predictions. Codes index ``names``; the code of an unknown true class is -1."""

    rows: Array
    names: list[str]
    truth: Array
    truth_names: list[str]
    proba: Array

    @property
    def predicted(self) -> Array:
        """The most probable class."""
        return self.proba.argmax(axis=1)

    @property
    def right(self) -> Array:
        """Whether the prediction is correct."""
        return self.predicted == self.truth


def class_names(source: ReportSource) -> list[str]:
    """Display names of the classes: those of the model, or those of the corpus if classes are numbers."""
    classes, corpus = source.model.classes_, source.corpus
    own = getattr(source.model, "class_names_", None)
    if own is not None and not np.array_equal(own, classes.astype(str)):
        return [clean(name) for name in own]
    names = None if corpus is None else corpus.label_names
    if names is not None and classes.dtype.kind in "iu" and classes.min() >= 0 and classes.max() < len(names):
        return [clean(names[c]) for c in classes]
    return [clean(c) for c in classes.tolist()]


def judge(source: ReportSource) -> Judged:
    """Predict the documents that have one label."""
    corpus, classes = source.corpus, source.model.classes_
    assert corpus is not None
    assert corpus.labels is not None
    assert corpus.label_names is not None
    rows = np.flatnonzero(corpus.labels >= 0)
    if len(rows) == 0:
        raise ValueError("no document of the corpus has a label: a classifier is evaluated on labelled documents")
    codes = corpus.labels[rows]
    truth: Array = codes if classes.dtype.kind in "iu" else corpus.label_names[codes]
    place = {label: i for i, label in enumerate(classes.tolist())}
    known = np.array([place.get(label, -1) for label in truth.tolist()])
    names = [clean(corpus.label_names[c]) for c in codes]
    return Judged(rows, class_names(source), known, names, source.model.predict_proba(corpus.select(rows)))


def classifier_content(source: ReportSource) -> Content:
    """The content of the page."""
    model = source.model
    names = class_names(source)
    kind = "complement " if model.complement else ""
    family = get_family(model.family).title
    refined = getattr(model, "refinement_", None) is not None
    linear = " and a linear model of discriminative words" if refined else ""
    fitted = f"fitted on {counted(int(model.class_count_.sum()), 'document')}"
    content = Content(
        title=f"A classifier of {counted(len(names), 'class', 'classes')}",
        lead=f"Bayes' rule with one {kind}{family} per class{linear}, {fitted}.",
        tiles=[tile(len(names), "class", "classes")],
        panels=[],
    )
    corpus = source.corpus
    multi = bool(model._layout.multilabel)
    judged = None
    if corpus is None or corpus.label_names is None:
        content.lead += " Give a corpus with labels to evaluate it on documents that it was not fitted on."
        overview: list[str] = []
    elif multi or corpus.is_multilabel:
        overview = _multilabel(content, source, names)
    else:
        judged = judge(source)
        overview = _judged(content, source, judged)
    content.panels.insert(0, Panel("overview", "Overview", "overview.html", {"charts": overview, "words": None}))
    if (cards := _class_cards(source, names, judged)) is not None:
        content.panels.append(Panel("classes", "Classes", "clusters.html", {"cards": cards}))
    return content


def _judged(content: Content, source: ReportSource, judged: Judged) -> list[str]:
    """One class per document: confusion matrix, measures, reliability, mistakes."""
    accuracy = float(judged.right.mean())
    likely = judged.proba[np.arange(len(judged.truth)), judged.truth]
    loss = (
        float(-np.mean(np.log(np.maximum(likely[judged.truth >= 0], 1e-300)))) if np.any(judged.truth >= 0) else np.nan
    )
    bins = reliability_bins(judged.truth, judged.proba, np.arange(len(judged.names)))
    content.lead += f" It classifies {percent(accuracy)} of {counted(len(judged.rows), 'labelled document')} correctly."
    content.tiles += [
        tile(len(judged.rows), "document evaluated", "documents evaluated"),
        ("right", percent(accuracy)),
        ("log loss", f"{loss:.3f}"),
        ("calibration error", f"{bins.error:.3f}"),
    ]
    points = [
        {"confidence": float(c), "accuracy": float(a), "documents": int(n)}
        for c, a, n in zip(bins.confidence, bins.accuracy, bins.documents, strict=True)
    ]
    caption = "Accuracy by predicted probability. Perfectly calibrated probabilities lie on the dashed line."
    content.charts["confusion"] = _confusion(judged)
    content.charts["reliability"] = charts.reliability(points, caption)
    content.panels.append(Panel("measures", "Measures", "measures.html", {"measures": _measures(judged)}))
    content.panels.append(Panel("mistakes", "Mistakes", "mistakes.html", _mistakes(source, judged)))
    columns = [
        documents.code_column("Predicted", judged.names, judged.predicted),
        documents.share_column("Probability", judged.proba.max(axis=1)),
        documents.code_column("Right", ["no", "yes"], judged.right.astype(int)),
    ]
    part = ReportSource(source.model, source.corpus.select(judged.rows) if source.corpus is not None else None)
    content.data["documents"] = documents.document_table(
        part, part.document_names(len(judged.rows)), columns, judged.predicted, judged.proba.max(axis=1)
    )
    content.data["vocabulary"] = vocabulary(part)
    content.panels.append(DOCUMENTS)
    return ["confusion", "reliability"]


def _confusion(judged: Judged) -> Chart:
    """Confusion matrix; with many classes, of the largest ones."""
    rows, codes = np.unique(np.array(judged.truth_names, dtype=object), return_inverse=True)
    numbers_ = np.zeros((len(rows), len(judged.names)), dtype=int)
    np.add.at(numbers_, (codes, judged.predicted), 1)
    largest = np.sort(np.argsort(-numbers_.sum(axis=1), kind="stable")[:MOST_CLASSES])
    used = np.sort(np.argsort(-numbers_.sum(axis=0), kind="stable")[:MOST_CLASSES])
    cells = [
        {
            "row": str(rows[i]),
            "column": judged.names[j],
            "share": round(float(numbers_[i, j] / numbers_[i].sum()), 4),
            "text": str(numbers_[i, j]) if numbers_[i, j] else "",
        }
        for i in largest
        for j in used
    ]
    caption = "Documents of each true class (rows) by predicted class (columns); shaded by share of the row."
    if len(rows) > MOST_CLASSES:
        caption += f" The {MOST_CLASSES} largest of {counted(len(rows), 'class', 'classes')}."
    shown = [judged.names[j] for j in used]
    return charts.heat(cells, [str(rows[i]) for i in largest], shown, ("true", "predicted"), caption)


def _measures(judged: Judged) -> list[dict[str, Any]]:
    """Precision, recall and F1 of each class."""
    found = []
    for k, name in enumerate(judged.names):
        true, called = judged.truth == k, judged.predicted == k
        found.append({"name": name, **_rates(int(np.sum(true & called)), int(called.sum()), int(true.sum()))})
    return found


def _rates(hits: int, called: int, true: int) -> dict[str, Any]:
    precision = hits / called if called else float("nan")
    recall = hits / true if true else float("nan")
    f1 = 2 * hits / (called + true) if called + true else float("nan")
    return {"documents": true, "precision": precision, "recall": recall, "f1": f1}


def _mistakes(source: ReportSource, judged: Judged) -> dict[str, Any]:
    """The misclassified documents of highest confidence, with the words that misled the classifier."""
    wrong = np.flatnonzero(~judged.right)
    surest = wrong[np.argsort(-judged.proba[wrong].max(axis=1), kind="stable")][:MOST_WRONG]
    corpus = source.corpus
    assert corpus is not None
    explains = get_family(source.model.family).is_per_word
    shown = []
    for i in surest:
        row = judged.rows[i]
        item = {
            "name": clean(corpus.ids[row], 120),
            "true": judged.truth_names[i],
            "predicted": judged.names[judged.predicted[i]],
            "probability": percent(float(judged.proba[i].max())),
        }
        if explains:
            item |= _evidence(source, int(row), int(judged.truth[i]))
        shown.append(item)
    return {"wrong": len(wrong), "judged": len(judged.rows), "mistakes": shown}


def _evidence(source: ReportSource, row: int, truth: int) -> dict[str, Any]:
    """Evidence of words for the predicted class against the true one."""
    model, corpus = source.model, source.corpus
    assert corpus is not None
    against = "runner-up" if truth < 0 else model.classes_[truth]
    explanation = model.explain(corpus.select([row]), against=against, top=EVIDENCE)[0]
    words = [
        {
            "word": source.word_shown[str(word)],
            "count": int(count),
            "first": float(first),
            "repeats": float(repeats),
        }
        for word, count, first, repeats in zip(
            explanation.words, explanation.counts, explanation.first, explanation.repeats, strict=True
        )
    ]
    odds = {
        str(word): float(first + repeats)
        for word, first, repeats in zip(explanation.words, explanation.first, explanation.repeats, strict=True)
    }
    return {
        "evidence": words,
        "odds": explanation.total,
        "unseen": explanation.unseen,
        "passage": excerpts.passages(source, np.array([row]), odds)[0],
    }


def _multilabel(content: Content, source: ReportSource, names: list[str]) -> list[str]:
    """Several classes per document: measures of each class."""
    corpus, model = source.corpus, source.model
    assert corpus is not None
    table = corpus.label_matrix
    if not model._layout.multilabel or table is None or table.shape[1] != len(names):
        raise ValueError(
            "the corpus has any number of classes per document, but the classifier has one (or other classes): "
            "evaluate it on documents labelled like those it was fitted on"
        )
    truth = np.asarray(table.todense()) > 0
    called = model.predict(corpus) > 0
    hits = int(np.sum(truth & called))
    micro = _rates(hits, int(called.sum()), int(truth.sum()))
    measures = [
        {
            "name": name,
            **_rates(int(np.sum(truth[:, k] & called[:, k])), int(called[:, k].sum()), int(truth[:, k].sum())),
        }
        for k, name in enumerate(names)
    ]
    content.tiles += [
        tile(len(corpus), "document evaluated", "documents evaluated"),
        ("F1 over all decisions", f"{micro['f1']:.2f}"),
    ]
    content.panels.append(Panel("measures", "Measures", "measures.html", {"measures": measures}))
    f1 = [0.0 if np.isnan(m["f1"]) else m["f1"] for m in measures][:MOST_CLASSES]
    content.charts["f1"] = charts.bars(names[:MOST_CLASSES], numbers(f1), "F1", "F1 of each class.", share=True)
    return ["f1"]


def _class_cards(source: ReportSource, names: list[str], judged: Judged | None) -> list[dict[str, Any]] | None:
    """Top words of each class, by contrast with the other classes, and how bursty the evaluated documents are."""
    model = source.model
    told = model._class_words()
    if told is None:
        return None
    total = float(model.class_count_.sum())
    facts, bursty_words = _bursts(source, judged, len(names))
    return [
        {
            "title": name,
            "size": int(model.class_count_[k]),
            "share": percent(model.class_count_[k] / total),
            "distinguishing": best_words(source, told[k], WORDS),
            "common": None,
            "facts": facts[k],
            "bursts": bursty_words[k],
            "central": [],
            "labels": [],
        }
        for k, name in enumerate(names)
    ]


def _bursts(source: ReportSource, judged: Judged | None, n_classes: int) -> tuple[list[Any], list[Any]]:
    """Facts about the repeats in the evaluated documents of each class, and its burstiest words."""
    facts: list[Any] = [[] for _ in range(n_classes)]
    words: list[Any] = [[] for _ in range(n_classes)]
    if judged is None or source.corpus is None:
        return facts, words
    documents_ = source.corpus.select(judged.rows).counts
    known = judged.truth[judged.truth >= 0]
    if len(known) and documents_[judged.truth >= 0].nnz:
        bursts = burstiness(documents_, judged.truth)
        for k in np.unique(known):
            facts[k] = [("Repeats", repeats_sentence(bursts, k, "an evaluated document"))]
            words[k] = burstiest_words(bursts, k, source.words)
    return facts, words
