"""How one component makes a document: multinomial, DCM, EDCM, von Mises-Fisher.

One file a family; imports engines and kernels only.
"""

from __future__ import annotations

from typing import Any

from bursty.families.base import Family, FamilyEstimator
from bursty.families.dcm import DCM, DCMParameters
from bursty.families.edcm import EDCM, EDCMParameters
from bursty.families.multinomial import Multinomial, MultinomialParameters
from bursty.families.vonmisesfisher import VMFParameters, VonMisesFisher

__all__ = ["DCM", "EDCM", "FAMILIES", "PARAMETERS", "Multinomial", "VonMisesFisher", "get_family"]

#: The classes of fitted parameters, by name.
PARAMETERS: dict[str, type] = {
    kind.__name__: kind for kind in (MultinomialParameters, DCMParameters, EDCMParameters, VMFParameters)
}

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
