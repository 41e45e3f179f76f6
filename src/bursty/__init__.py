"""Statistical models of counts that come in bursts.

Names are loaded when they are first used, so ``import bursty`` stays light: no compiled kernel, no plotting
library and no cluster client is imported until something asks for it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bursty import datasets, families, metrics, plot, report
    from bursty.corpus import Corpus, read_corpus
    from bursty.inference.checkpoint import Checkpoint
    from bursty.models.choosing import select_components
    from bursty.models.classify import BayesClassifier
    from bursty.models.dcmlda import DCMLDA
    from bursty.models.dpmfs import DPMFS
    from bursty.models.lda import LDA
    from bursty.models.mixture import Mixture
    from bursty.persistence import load, save

__version__ = "0.2.0"

_SUBMODULES = ("corpus", "datasets", "engines", "families", "metrics", "plot", "report")
_OBJECTS = {
    "BayesClassifier": "bursty.models.classify",
    "Checkpoint": "bursty.inference.checkpoint",
    "Corpus": "bursty.corpus",
    "DCMLDA": "bursty.models.dcmlda",
    "DPMFS": "bursty.models.dpmfs",
    "LDA": "bursty.models.lda",
    "Mixture": "bursty.models.mixture",
    "load": "bursty.persistence",
    "read_corpus": "bursty.corpus",
    "save": "bursty.persistence",
    "select_components": "bursty.models.choosing",
}

__all__ = [
    "DCMLDA",
    "DPMFS",
    "LDA",
    "BayesClassifier",
    "Checkpoint",
    "Corpus",
    "Mixture",
    "datasets",
    "families",
    "load",
    "metrics",
    "plot",
    "read_corpus",
    "report",
    "save",
    "select_components",
]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"bursty.{name}")
    if name in _OBJECTS:
        return getattr(importlib.import_module(_OBJECTS[name]), name)
    raise AttributeError(f"module 'bursty' has no attribute {name!r}")


def _versions() -> dict[str, str]:
    """Versions of bursty and of what its results depend on, for reports and records of runs."""
    import platform
    from importlib.metadata import version

    libraries = {name: version(name) for name in ("numpy", "scipy", "numba", "scikit-learn")}
    return {"bursty": __version__, "python": platform.python_version(), **libraries}


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES, *_OBJECTS})
