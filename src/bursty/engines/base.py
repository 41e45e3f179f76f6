"""The interface of an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from bursty.engines.documents import Documents


class Engine(ABC):
    """A place where documents are stored and processed.

    Examples
    --------
    >>> from bursty.engines import Engine, get_engine
    >>> isinstance(get_engine("local"), Engine)
    True
    """

    @abstractmethod
    def place(self, counts: Any) -> Documents:
        """Cut a corpus into chunks and place them where they will be processed."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Engine:
        """Copies of an estimator use the same engine."""
        return self
