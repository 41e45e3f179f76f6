"""Explanations of decisions, word by word.

The score of a class is a sum over words, and for urns a sum over occurrences: the first occurrence of a word says what
the document is about, its repeats how bursty the word is in the class. With f_k(w, x) the contribution of word w with
count x to the score of class k, the difference to another class j is

    sum_w [f_k(w, 1) - f_j(w, 1)]  +  sum_w [f_k(w, x) - f_k(w, 1) - f_j(w, x) + f_j(w, 1)]  +  rest

the first occurrences, the repeats, and what depends on no word: class priors and document length. Everything is divided
by the temperature of the document, so that the sum is the log odds of the two classes in `predict_joint_log_proba`. For
the multinomial a repeat counts as much as the first occurrence, for the EDCM it counts nothing. A refined classifier
(`bursty.models.classify.refinement`) adds the contribution of each word to its linear model: sqrt(x) times that of a
single occurrence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from bursty.models.classify.evidence import drop_words
from bursty.models.classify.priors import to_offset
from bursty.models.classify.scoring import Scorer
from bursty.models.classify.settings import Settings
from bursty.typing import Array
from bursty.wording import counted

if TYPE_CHECKING:
    from bursty.models.classify import BayesClassifier


@dataclass(frozen=True)
class Explanation:
    """Explanation of the class of one document, in log odds: positive for the class, negative against it.

    Attributes
    ----------
    label, against : object
        The explained class, and what it is compared with.
    names : pair of str
        Both, by the names of the classes.
    words, counts : ndarray
        The words with the largest contributions, and their counts in the document.
    first, repeats : ndarray
        Contributions of the first occurrence of each word, and of its repeats.
    other_words : float
        Sum over the words that are not listed.
    rest : float
        Contribution of priors and document length.
    total : float
        Log odds of the class.
    unseen : int
        Number of tokens that were ignored because no training document has their word.
    """

    label: Any
    against: Any
    names: tuple[str, str]
    words: Array
    counts: Array
    first: Array
    repeats: Array
    other_words: float
    rest: float
    total: float
    unseen: int

    def __str__(self) -> str:
        lines = [f"{' against '.join(self.names)}: log odds {self.total:+.2f}", "  first  repeats  count  word"]
        lines += [
            f"{first:+7.2f}  {repeats:+7.2f}  {count:5g}  {word}"
            for word, count, first, repeats in zip(self.words, self.counts, self.first, self.repeats, strict=True)
        ]
        lines += [f"{self.other_words:+7.2f}  other words", f"{self.rest:+7.2f}  priors and length"]
        return "\n".join(
            lines + ([f"{counted(self.unseen, 'token')} ignored: never seen in fitting"] if self.unseen else [])
        )


def explain(model: BayesClassifier, counts: sp.csr_array, against: Any, top: int) -> list[Explanation]:
    """One explanation per document."""
    if not isinstance(top, int | np.integer) or top < 1:
        raise ValueError(f"top must be a positive integer, a number of words, not {top!r}")
    if not (family := Settings.of(model).family).is_per_word:
        raise ValueError(
            f"explain needs a score that is a sum over words, which {family.title} does not have: use another"
        )
    scorer = model._scorer()
    known = drop_words(counts, scorer.known)
    unseen = np.asarray(counts.sum(axis=1) - known.sum(axis=1)).ravel()
    return [_explain_one(model, scorer, known[[row]], int(unseen[row]), against, top) for row in range(known.shape[0])]


def _explain_one(
    model: BayesClassifier, scorer: Scorer, counts: sp.csr_array, unseen: int, against: Any, top: int
) -> Explanation:
    values = scorer.transform(counts)
    scores, heats = scorer(counts)
    heat = float(heats[0])
    logits = scores[0] / heat + to_offset(model.class_log_prior_, model._layout)
    refinement = model._refinement
    if refinement is not None:
        linear = refinement.linear(counts)[0]
        logits = refinement.combine(logits, linear)
        refinement = None if np.isnan(linear).any() else refinement
    label = int(np.argmax(logits))
    contrast = _contrast(model, logits, label, against)
    first, repeats = _parts(scorer, counts, values)
    first, repeats = first / heat, repeats / heat
    if refinement is not None:
        more, again = refinement.parts(counts)
        first, repeats = refinement.powers[0] * first + more, refinement.powers[0] * repeats + again
    first, repeats = first @ contrast, repeats @ contrast
    odds = float(logits @ contrast)
    order = np.argsort(-np.abs(first + repeats), kind="stable")
    shown, others = order[:top], order[top:]
    words = getattr(model, "feature_names_in_", np.arange(counts.shape[1]))
    names = class_names(model)
    return Explanation(
        model.classes_[label],
        _other(model, model.classes_, contrast, label, against),
        (str(names[label]), str(_other(model, names, contrast, label, against))),
        np.asarray(words)[counts.indices[shown]],
        counts.data[shown],
        first[shown],
        repeats[shown],
        float((first + repeats)[others].sum()),
        odds - float((first + repeats).sum()),
        odds,
        unseen,
    )


def _contrast(model: BayesClassifier, logits: Array, label: int, against: Any) -> Array:
    """Weights of the classes in the explained difference; multi-label scores are already differences."""
    n_classes = len(model.classes_)
    contrast = np.zeros(n_classes)
    contrast[label] = 1.0
    if model._layout.multilabel:
        return contrast
    if isinstance(against, str) and against == "average":
        contrast -= (1.0 - contrast) / (n_classes - 1)
        return contrast
    if isinstance(against, str) and against == "runner-up":
        other = int(np.argmax(np.where(contrast > 0, -np.inf, logits)))
    else:
        places = np.flatnonzero(model.classes_ == against)
        if len(places) == 0:
            places = np.flatnonzero(class_names(model) == against)
        if len(places) == 0:
            raise ValueError(f'against must be "runner-up", "average" or one of the classes, not {against!r}')
        other = int(places[0])
        if other == label:
            other = int(np.argmax(np.where(contrast > 0, -np.inf, logits)))
    contrast[other] = -1.0
    return contrast


def class_names(model: BayesClassifier) -> Array:
    """The names of the classes; models of version 0.1 have none."""
    return getattr(model, "class_names_", model.classes_)


def _other(model: BayesClassifier, classes: Array, contrast: Array, label: int, against: Any) -> Any:
    """What the class is compared with, one of these classes or names."""
    if model._layout.multilabel:
        return f"not {classes[label]}"
    return "average" if isinstance(against, str) and against == "average" else classes[np.argmin(contrast)]


def _parts(scorer: Scorer, counts: sp.csr_array, values: sp.csr_array) -> tuple[Array, Array]:
    """Contributions of the first occurrence and of the repeats of each word to the scores: words of the document x K.

    Each word is scored as a document of its own, by its evidence, which excludes the term of the document length.
    """
    n = len(counts.indices)
    alone = np.arange(n + 1)
    model = scorer.model
    if model.trust is None and not model.settings.normalize_weights:
        model = replace(model, trust=np.ones(counts.shape[1]))

    def evidence(data: Array) -> Array:
        words = sp.csr_array((data, counts.indices, alone), shape=(n, counts.shape[1]))
        return scorer.layout.scores(model.log_prob(words, scorer.known))

    whole = evidence(values.data)
    if scorer.transform.kind is None:
        once = np.minimum(values.data, 1).astype(values.data.dtype)
        first = evidence(once)
    else:
        first = whole * (np.log(2.0) / np.log1p(counts.data))[:, None]
    return first, whole - first
