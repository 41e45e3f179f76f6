"""What the words of a document say: the log-probability of a family, word by word, and some words louder than others.

    sum_w v_w f(w, x_w)

f(w, x) is the part of word w with count x in the log-probability, v_w = (log(D / df_w))^idf the trust in it. A word
that most documents have tells classes apart by differences of frequency that come more from single documents than
from classes, so that its evidence is worth less; [Rennie2003] puts the same weights on the counts. With v = 1 this is
the log-probability less the term of the document's length, which urns of equal s all share.

| family | f(w, x) |
|---|---|
| multinomial | x log theta_w |
| DCM | log alpha_w + sum_{1 <= j < x} log(alpha_w + j) |
| EDCM | log beta_w, whatever x (and log Gamma(x), the same in all classes) |
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bursty.engines import Chunk
from bursty.families.base import Parameters
from bursty.families.dcm import DCMParameters
from bursty.families.edcm import EDCMParameters
from bursty.families.multinomial import MultinomialParameters
from bursty.kernels import polya

Array = np.ndarray[Any, Any]


class Evidence:
    """The sums over the words of a block of documents."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk = chunk

    def sums(self, params: Parameters, trust: Array | None = None) -> Array:
        """Documents x components."""
        if isinstance(params, DCMParameters):
            out = self.chunk.words(_weighted_log(params.alpha, trust))
            out += self._rising(params.alpha + 1.0, trust)
            return out
        if isinstance(params, EDCMParameters):
            return self.chunk.words(_weighted_log(params.beta, trust))
        assert isinstance(params, MultinomialParameters)
        return self.chunk.tokens(_weighted_log(params.theta, trust))

    def _rising(self, weights: Array, trust: Array | None) -> Array:
        """An urn that has given a word once holds one more of it: repeats are draws from there."""
        repeats = self.chunk.again
        table = polya.log_rising_table(repeats.level_first, repeats.level_values, weights)
        if trust is not None:
            table *= trust[repeats.level_words][:, None]
        return repeats.levels(table)


def _weighted_log(weights: Array, trust: Array | None) -> Array:
    """``trust * log(weights)``; a word that is not trusted at all says nothing, even where it cannot occur."""
    with np.errstate(divide="ignore", invalid="ignore"):
        table = np.log(weights)
        if trust is not None:
            table *= trust[:, None]
            table[trust == 0.0] = 0.0
    return table
