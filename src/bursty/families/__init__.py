"""Families of distributions of documents: multinomial, DCM, EDCM, von Mises-Fisher, Dirichlet.

One file per family; imports engines and kernels only. A class of your own that derives from `FamilyEstimator` is
registered in `FAMILIES` like these.
"""

from __future__ import annotations

from bursty.families.base import Family, Parameters, Statistics
from bursty.families.dcm import DCM
from bursty.families.dirichlet import Dirichlet
from bursty.families.edcm import EDCM
from bursty.families.estimator import FAMILIES, FamilyEstimator, family_of, get_family
from bursty.families.gamma import GammaPrior
from bursty.families.multinomial import Multinomial
from bursty.families.vonmisesfisher import VonMisesFisher

__all__ = [
    "DCM",
    "EDCM",
    "FAMILIES",
    "Dirichlet",
    "Family",
    "FamilyEstimator",
    "GammaPrior",
    "Multinomial",
    "Parameters",
    "Statistics",
    "VonMisesFisher",
    "family_of",
    "get_family",
]
