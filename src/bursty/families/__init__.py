"""How one component makes a document: multinomial, DCM, EDCM, von Mises-Fisher.

One file a family; imports engines and kernels only.
"""

from __future__ import annotations

from typing import Any

from bursty.families.base import Family, FamilyEstimator
from bursty.families.dcm import DCM
from bursty.families.edcm import EDCM
from bursty.families.multinomial import Multinomial
from bursty.families.vonmisesfisher import VonMisesFisher

__all__ = ["DCM", "EDCM", "FAMILIES", "Multinomial", "VonMisesFisher", "get_family"]

FAMILIES: dict[str, Family[Any, Any]] = {
    estimator._family.name: estimator._family for estimator in (Multinomial, DCM, EDCM, VonMisesFisher)
}


def get_family(family: Any) -> Family[Any, Any]:
    """The family of that name, or of a family estimator such as ``DCM()``."""
    if isinstance(family, FamilyEstimator):
        return family._family
    if isinstance(family, str) and family in FAMILIES:
        return FAMILIES[family]
    raise ValueError(f"family must be one of {', '.join(map(repr, FAMILIES))} or a family estimator, not {family!r}")
