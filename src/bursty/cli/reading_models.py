"""Results of a fitted model as tables, for verbs that fit one and for verbs that load one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bursty.cli.messages import phase, say
from bursty.cli.tables import Table
from bursty.wording import counted

if TYPE_CHECKING:
    from bursty.cli.options import Reading
    from bursty.corpus import Corpus, ShardedCorpus
    from bursty.persistence import Saved

# Attributes of fitted models that show their kind.
_KINDS = {"labels_": "clusters", "class_count_": "classes", "doc_topic_": "topics"}
_ANALYSIS = ("lowercase", "token_pattern", "stop_words", "ngram_range")
_WORDS = 10
# The ranking of words that is shown, and that names are made of.
_RANKING = "representative"
_COUNTED = "numbered from 1, in files from 0"


def kind_of(model: Any) -> str:
    """Kind of the model: clusters, classes, topics, or (a family) only probabilities."""
    return next((kind for attribute, kind in _KINDS.items() if hasattr(model, attribute)), "probabilities")


def load(path: Path, *kinds: str) -> Saved:
    """Load a saved model, which must be of one of these kinds."""
    from bursty.persistence import locate, read
    from bursty.storage import is_container, recover

    recover(path)
    path = locate(path)
    if not path.exists():
        raise FileNotFoundError(f"no such file or directory: {path}")
    if path.is_file() and path.suffix != ".bursty" and not is_container(path, "model"):
        raise ValueError(f"{path} is not a saved model: give the file model.bursty, or the folder of --out")
    saved = read(path)
    if kinds and kind_of(saved.model) not in kinds:
        name, found = type(saved.model).__name__, kind_of(saved.model)
        raise ValueError(f"{path} is a {name}, a model of {found}; this verb needs a model of {' or '.join(kinds)}")
    return saved


def read_for(saved: Saved, path: Path, reading: Reading) -> Corpus:
    """Read documents with the tokenisation and the vocabulary of the model."""
    from bursty.corpus.read import holds_texts

    with reading.in_options():
        has_texts = holds_texts(path, reading.input_format, reading.given())
    corpus = reading.read(path, counting_of(saved) if has_texts else {})
    words = getattr(saved.model, "feature_names_in_", None)
    if words is None or not corpus.has_words:
        return corpus
    aligned = corpus.align(words)
    tokens, known = int(corpus.counts.sum()), int(aligned.counts.sum())
    if tokens and not known:
        raise ValueError(f"no word of {path} is in the vocabulary of the model")
    if tokens > known:
        new = corpus.n_words - len(set(corpus.vocabulary) & set(words))
        unknown = counted(new, "word is", "words are")
        say(f"{unknown} not in the vocabulary of the model; {(tokens - known) / tokens:.1%} of the tokens are ignored")
    return aligned


def counting_of(saved: Saved) -> dict[str, Any]:
    """The options by which the texts of the fit became counts; models of version 0.1 have them with their run."""
    if saved.pipeline is not None:
        return {"analyzer": saved.pipeline[0].build_analyzer()}
    counted = getattr(saved.model, "text_options_", None)
    if counted is not None:
        return {name: getattr(counted, name) for name in counted.defining()}
    return {name: value for name, value in ((saved.run or {}).get("reading") or {}).items() if name in _ANALYSIS}


def model_input(saved: Saved, corpus: Corpus) -> Any:
    """What the model takes of documents from `read_for`: their counts, or what its vectorizer makes of them."""
    if saved.pipeline is None:
        return corpus
    from bursty.corpus import Corpus
    from bursty.models.vectorizers import to_columns

    columns = to_columns(saved.pipeline[0], corpus)
    if (columns.data != columns.data.round()).any():
        return columns
    several = {"label_matrix": corpus.label_matrix} if corpus.is_multilabel else {"labels": corpus.labels}
    words = getattr(saved.model, "feature_names_in_", None)
    return Corpus(columns, words, ids=corpus.ids, label_names=corpus.label_names, **several)


def read_to_evaluate(saved: Saved, path: Path, reading: Reading) -> Corpus:
    """Documents as the model takes them, with their labels."""
    from bursty.corpus import Corpus

    documents = model_input(saved, read_for(saved, path, reading))
    if not isinstance(documents, Corpus):
        raise ValueError("the vectorizer of this model weighs its counts, which 'infer' takes but 'evaluate' does not")
    return documents


def cluster_table(model: Any) -> Table:
    """One row per cluster."""
    words = [row if size else [] for row, size in zip(model.top_words(_WORDS, by=_RANKING), model.sizes_, strict=True)]
    columns: dict[str, Any] = {
        "cluster": range(len(words)),
        "name": model.names_,
        "documents": model.sizes_,
        "weight": model.weights_,
        "confidence": model.confidence_,
    }
    title = f"Clusters and their most representative words ({_COUNTED})"
    # The number of documents says the same, and agrees with reports, which count documents.
    return Table("clusters", {**columns, "words": words}, title, groups="cluster", wide=("weight",))


def topic_table(model: Any) -> Table:
    """One row per topic, most common first."""
    import numpy as np

    share = model.doc_topic_.mean(axis=0)
    order = np.argsort(-share, kind="stable")
    words = model.top_words(_WORDS, by=_RANKING)
    names = model.names_
    columns: dict[str, Any] = {"topic": order, "name": [names[topic] for topic in order], "share": share[order]}
    if hasattr(model, "s_"):
        columns["s"] = model.s_[order]
        bursts = model.burstiness()
        columns |= {"used_again": bursts.again[order], "used_again_by_chance": bursts.again_by_chance[order]}
    title = f"Topics by mean share of a document ({_COUNTED})"
    wide = ("s", "used_again", "used_again_by_chance")
    return Table("topics", {**columns, "words": [words[topic] for topic in order]}, title, groups="topic", wide=wide)


def word_table(model: Any, kind: str, n: int = 50) -> Table:
    """Top words of each cluster or topic, with their scores."""
    import numpy as np

    scores = model.word_scores(_RANKING)
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    groups, ranks = np.nonzero(np.take_along_axis(scores, best, axis=1) > 0)
    words = best[groups, ranks]
    columns = {
        kind: groups,
        "rank": ranks + 1,
        "word": np.asarray(model.feature_names_in_)[words],
        "score": scores[groups, words],
    }
    return Table("words", columns, shown=False)


def numbers_tried(selection: Any, title: str) -> Table:
    """One row per number of clusters or topics that was compared."""
    columns = {"k": selection.ks, "score": selection.scores, "standard_error": selection.standard_errors}
    return Table("numbers_tried", columns, title)


def document_table(corpus: Corpus | ShardedCorpus, columns: dict[str, Any], *, shown: bool = True) -> Table:
    """One row per document: its id, its label if known, and the prediction, which a document without words has not."""
    from bursty.corpus import Corpus

    if isinstance(corpus, Corpus) and (empty := corpus.counts.indptr[1:] == corpus.counts.indptr[:-1]).any():
        columns = {
            name: [None if gone else value for gone, value in zip(empty, column, strict=True)]
            for name, column in columns.items()
        }
    named: dict[str, Any] = {"id": corpus.ids}
    if corpus.labels is not None and corpus.label_names is not None:
        names = corpus.label_names
        named["label"] = [names[label] if label >= 0 else None for label in corpus.labels]
    groups = next((name for name in ("cluster", "topic") if name in columns), "")
    wide = [name for name in columns if name.startswith(("topic_", "probability_"))]
    return Table("documents", named | columns, shown=shown, groups=groups, wide=wide)


def inferred_columns(model: Any, corpus: Any) -> dict[str, Any]:
    """Predictions for documents, which may be new to the model."""
    kind = kind_of(model)
    with phase("scoring the documents"):
        if kind == "clusters":
            labels, probability = model.label_documents(corpus)
            return {"cluster": labels, "name": name_column(model, labels), "probability": probability}
        if kind == "classes":
            return _class_columns(model, corpus)
        if kind == "topics":
            # For documents of the fit what it found, as for clusters: one run has one answer.
            return topic_columns(model, model.doc_topic_ if model.fitted_on(corpus) else model.transform(corpus))
        return {"tokens": getattr(corpus, "counts", corpus).sum(axis=1), "log_prob": model.log_prob(corpus)}


def name_column(model: Any, groups: Any) -> list[str]:
    """The name of the cluster or topic of each document."""
    names = model.names_
    return [names[group] for group in groups]


def topic_columns(model: Any, mixture: Any) -> dict[str, Any]:
    """The largest topic of each document, and all topic proportions."""
    shares = {f"topic_{topic}": mixture[:, topic] for topic in range(mixture.shape[1])}
    best = mixture.argmax(axis=1)
    return {"topic": best, "name": name_column(model, best), "share": mixture.max(axis=1), **shares}


def _class_columns(model: Any, corpus: Corpus | ShardedCorpus) -> dict[str, Any]:
    proba, names = model.predict_proba(corpus), [str(name) for name in model.classes_]
    if model._layout.multilabel:
        sets = [[name for name, has in zip(names, row > 0.5, strict=True) if has] for row in proba]
        return {"classes": sets, **{f"probability_{name}": proba[:, place] for place, name in enumerate(names)}}
    return {"class": [names[place] for place in proba.argmax(axis=1)], "probability": proba.max(axis=1)}
