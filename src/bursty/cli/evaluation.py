"""Evaluation of clusters and classes against known labels, as facts and tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from bursty.cli.messages import say
from bursty.cli.results import Results
from bursty.cli.tables import Table
from bursty.wording import counted

if TYPE_CHECKING:
    from bursty.corpus import Corpus

#: Number of confusions that are printed; of hundreds of classes there are thousands.
MOST_CONFUSIONS = 30


def evaluate_classes(model: Any, corpus: Corpus, results: Results) -> None:
    """Accuracy, measures per class, and the most frequent confusions of a classifier."""
    if corpus.is_multilabel:
        _evaluate_sets(model, corpus, results)
    else:
        _evaluate_single(model, corpus, results)


def evaluate_clusters(labels: Any, corpus: Corpus, results: Results) -> None:
    """Agreement of clusters with labels that the fit did not see."""
    import numpy as np

    from bursty.metrics import match_clusters, mutual_information, normalized_mutual_information

    numbers = np.asarray(corpus.labels)
    # Documents without words are in no cluster.
    known = (numbers >= 0) & (np.diff(corpus.counts.indptr) > 0)
    truth = np.asarray(corpus.label_names)[numbers[known]]
    found = np.asarray(labels)[known]
    match = match_clusters(truth, found)
    agreed = np.mean([match.get(cluster) == label for cluster, label in zip(found.tolist(), truth, strict=True)])
    results.facts |= {
        "documents_with_label": int(known.sum()),
        "labels": len(np.unique(truth)),
        "clusters": len(np.unique(found)),
        "mutual_information": mutual_information(truth, found),
        "normalized_mutual_information": normalized_mutual_information(truth, found),
        "agreement_one_cluster_a_label": agreed,
    }
    results.tables.append(_pairs("contingency", {"cluster": found, "label": truth}))


def _evaluate_single(model: Any, corpus: Corpus, results: Results) -> None:
    import numpy as np
    from sklearn.metrics import accuracy_score, log_loss, precision_recall_fscore_support

    known = corpus.select(corpus.labels >= 0)  # type: ignore[operator]  # checked before
    truth, names = np.asarray(known.label_names)[known.labels], model.classes_.astype(str)
    strange = sorted(set(truth) - set(names))
    if strange:
        raise ValueError(f"the model has no class {strange[0]!r}; its classes are {', '.join(names[:8])}")
    proba = model.predict_proba(known)
    found = names[proba.argmax(axis=1)]
    precision, recall, f1, support = precision_recall_fscore_support(truth, found, labels=names, zero_division=np.nan)
    results.facts |= {
        "accuracy": accuracy_score(truth, found),
        "mean_f1": _mean_of_known(f1),
        "log_loss": log_loss(truth, proba, labels=names),
    }
    columns = {"class": names, "documents": support, "precision": precision, "recall": recall, "f1": f1}
    confusions = _pairs("confusions", {"class": truth, "taken_for": found}, MOST_CONFUSIONS)
    results.tables += [Table("classes", columns, "Classes"), confusions]


def _evaluate_sets(model: Any, corpus: Corpus, results: Results) -> None:
    import numpy as np
    from sklearn.metrics import precision_recall_fscore_support

    from bursty.metrics import break_even

    names, known = model.classes_.astype(str), [str(name) for name in corpus.label_names]  # type: ignore[union-attr]  # checked before
    strange = set(known) - set(names)
    if strange:
        classes = counted(len(strange), "class is", "classes are")
        say(f"{classes} unknown to the model and ignored, such as {min(strange)!r}")
    table = corpus.label_matrix.toarray()  # type: ignore[union-attr]  # checked before
    nobody = np.zeros(len(corpus), dtype=table.dtype)
    truth = np.column_stack([table[:, known.index(name)] if name in known else nobody for name in names])
    found, scores = np.asarray(model.predict(corpus)), model.scores(corpus)
    precision, recall, f1, support = precision_recall_fscore_support(truth, found, average=None, zero_division=np.nan)
    results.facts |= {
        "all_classes_right": float(np.mean((truth == found).all(axis=1))),
        "mean_f1": _mean_of_known(f1),
        "break_even_micro": break_even(truth, scores),
        "break_even_macro": break_even(truth, scores, average="macro"),
    }
    columns = {"class": names, "documents": support, "precision": precision, "recall": recall, "f1": f1}
    results.tables.append(Table("classes", columns, "Classes"))


def _mean_of_known(values: Any) -> float:
    """The mean over the classes that occur, in the documents or the predictions: the others have no F1."""
    known = values[values == values]
    return float(known.mean()) if len(known) else float("nan")


def _pairs(name: str, sides: dict[str, Any], most: int | None = None) -> Table:
    """Number of documents with each pair of names, without pairs of equal names (correct predictions)."""
    import numpy as np

    (first, left), (second, right) = sides.items()
    counts = Counter(zip(np.asarray(left).tolist(), np.asarray(right).tolist(), strict=True))
    pairs = sorted((pair for pair in counts if pair[0] != pair[1]), key=lambda pair: (-counts[pair], pair))
    columns = {
        first: [pair[0] for pair in pairs],
        second: [pair[1] for pair in pairs],
        "documents": [counts[pair] for pair in pairs],
    }
    groups = first if first == "cluster" else ""
    return Table(name, columns, name.capitalize(), shown=bool(pairs), groups=groups, most=most)
