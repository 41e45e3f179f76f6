"""The interface of an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from bursty.engines.documents import Documents


class Engine(ABC):
    """Somewhere that documents can be placed and worked on."""

    @abstractmethod
    def place(self, counts: Any) -> Documents:
        """Cut a corpus into chunks and put them where they will be worked on."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Engine:
        """Copies of an estimator use the same engine."""
        return self
