"""How one component makes a document: multinomial, DCM, EDCM, von Mises-Fisher.

One file a family; imports engines and kernels only.
"""

from __future__ import annotations

from bursty.families.dcm import DCM
from bursty.families.edcm import EDCM
from bursty.families.multinomial import Multinomial
from bursty.families.vonmisesfisher import VonMisesFisher

__all__ = ["DCM", "EDCM", "Multinomial", "VonMisesFisher"]
