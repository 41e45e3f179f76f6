"""The methods of [Madsen2005] Tables 1-3 by their names there, and those with the EDCM.

A name is read from right to left: the family (M, DCM, EDCM), the transformation of the counts before it (L, TW-L),
and C in front for complement modelling, which for the multinomial comes with log-normalised weights.
"""

from __future__ import annotations

from typing import Any

_FAMILIES = {"M": "multinomial", "DCM": "dcm", "EDCM": "edcm"}
_TRANSFORMS = {"": None, "L-": "log", "TW-L-": "tfidf"}

NAMES = tuple(
    f"{complement}{transform}{family}"
    for complement in ("", "C-")
    for family in _FAMILIES
    for transform in _TRANSFORMS
    if family == "M" or not transform
)


def preset(name: str) -> dict[str, Any]:
    """Parameters of the method of this name."""
    if name not in NAMES:
        raise ValueError(f"no method is called {name!r}; there are {', '.join(NAMES)}")
    complement = name.startswith("C-")
    heuristics, _, family = name.removeprefix("C-").rpartition("-")
    return {
        "family": _FAMILIES[family],
        "complement": complement,
        "transform": _TRANSFORMS[f"{heuristics}-" if heuristics else ""],
        "normalize_weights": complement and family == "M",
        "smoothing": 0.01,
        "class_prior": "uniform",
        "calibrate": None,
    }
