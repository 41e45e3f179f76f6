"""Long fits that survive: what a fit needs to go on, written to one file now and then.

The file is there while a fit is not finished, and a fit that finds it goes on from it, to the same bits as one that was
never stopped. It is written whole or not at all, says which documents and parameters it belongs to, and is refused for
any other.
"""

from __future__ import annotations

import time
import warnings
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bursty.engines import Documents
from bursty.storage import discard, read_tree, write_tree
from bursty.storage.schema import stored_classes

Array = np.ndarray[Any, Any]

_KIND = "checkpoint"
# Parameters that do not change the result.
_FREE = frozenset({"checkpoint", "engine", "n_jobs", "verbose"})


@dataclass(frozen=True)
class Checkpoint:
    """Where, and how often, a fit writes what it needs to go on.

    Parameters
    ----------
    path : str or path
        The file. A fit that finds it goes on from it; it is removed when the fit is done.
    iterations : int, default 10
        Write after so many iterations.
    minutes : float, optional
        Write after so many minutes instead, at the end of an iteration.
    """

    path: str | Path
    iterations: int = 10
    minutes: float | None = None

    @classmethod
    def of(cls, value: Any) -> Checkpoint | None:
        """What an estimator was given: None, a path or a checkpoint."""
        if value is None or isinstance(value, cls):
            checkpoint = value
        elif isinstance(value, str | Path):
            checkpoint = cls(value)
        else:
            raise ValueError(f"checkpoint must be a path, a bursty.Checkpoint or None, not {value!r}")
        if checkpoint is not None:
            checkpoint.check()
        return checkpoint

    def check(self) -> None:
        """Refuse what cannot be meant."""
        if (
            not isinstance(self.iterations, int | np.integer)
            or isinstance(self.iterations, bool)
            or self.iterations < 1
        ):
            raise ValueError(f"iterations of a checkpoint must be a whole number above 0, not {self.iterations!r}")
        if self.minutes is not None and not (isinstance(self.minutes, int | float) and self.minutes >= 0):
            raise ValueError(f"minutes of a checkpoint must be a number, zero or more, not {self.minutes!r}")
        if not Path(self.path).absolute().parent.is_dir():
            raise ValueError(f"checkpoint: there is no folder {Path(self.path).absolute().parent} to write to")


@dataclass
class Keeper:
    """The checkpoint of one fit; without a place to write it does nothing."""

    where: Checkpoint | None
    owner: Mapping[str, str] = field(default_factory=dict)
    _n_since: int = 0
    _last: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, estimator: Any, documents: Documents, y: Any = None, sample_weight: Any = None) -> Keeper:
        """For a fit of this estimator to these documents (and labels, and weights)."""
        where = Checkpoint.of(estimator.checkpoint)
        if where is None:
            return cls(None)
        owner = {"model": type(estimator).__name__, "documents": documents.fingerprint}
        owner |= {name: _described(value) for name, value in (("labels", y), ("weights", sample_weight))}
        owner |= {
            name: _described(value) for name, value in estimator.get_params(deep=False).items() if name not in _FREE
        }
        return cls(where, owner)

    @property
    def active(self) -> bool:
        """Whether there is anywhere to write."""
        return self.where is not None

    def resume(self) -> Any:
        """What was written last, or None where nothing was; another fit's is refused."""
        if self.where is None or not Path(self.where.path).exists():
            return None
        try:
            kept = read_tree(self.where.path, _KIND, stored_classes())
        except ValueError as error:
            raise ValueError(f"{error}, or remove it to start the fit afresh") from error
        if not isinstance(kept, dict) or not isinstance(kept.get("owner"), dict) or "state" not in kept:
            raise ValueError(f"{self.where.path} is not a checkpoint of a fit: choose another path")
        owner = {str(name): value for name, value in kept["owner"].items()}
        for name in sorted(self.owner.keys() | owner.keys(), key=lambda name: (name != "model", name)):
            if owner.get(name) != self.owner.get(name):
                what = "other documents" if name == "documents" else f"{name} {owner.get(name, 'not set')}"
                mine = "" if name == "documents" else f", and this fit has {self.owner.get(name, 'not set')}"
                raise ValueError(
                    f"the checkpoint {self.where.path} belongs to a fit with {what}{mine}: remove it to start "
                    "afresh, or choose another path"
                )
        return kept["state"]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Say which file it is where what was written cannot be gone on from."""
        try:
            yield
        except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError) as error:
            where = None if self.where is None else self.where.path
            raise ValueError(
                f"{where} is not a checkpoint that this fit can go on from ({error}): remove it to start the fit afresh"
            ) from error

    def keep(self, state: Any) -> None:
        """Count an iteration; write when it is time. ``state`` is a function that gives the tree to write."""
        if self.where is None:
            return
        self._n_since += 1
        if self.where.minutes is None:
            due = self._n_since >= self.where.iterations
        else:
            due = time.monotonic() - self._last >= 60.0 * self.where.minutes
        if due:
            self._n_since, self._last = 0, time.monotonic()
            self.write(state())

    def done(self) -> None:
        """The fit is finished: there is nothing to go on with."""
        if self.where is not None:
            discard(self.where.path)

    def write(self, state: Any) -> None:
        """Write now; where that fails, the fit goes on."""
        if self.where is None:
            return
        try:
            write_tree(self.where.path, _KIND, {"owner": dict(self.owner), "state": state}, stored_classes())
        except OSError as error:
            warnings.warn(
                f"the checkpoint {self.where.path} could not be written ({error}); the fit goes on, and what was "
                "written before is still there",
                UserWarning,
                stacklevel=4,
            )


def _described(value: Any) -> str:
    """A parameter as a text that is the same for the same value."""
    if isinstance(value, np.ndarray) or (isinstance(value, list | tuple) and len(value) > 20):
        array = np.asarray(value)
        data = array.tobytes() if array.dtype != object else repr(array.tolist()).encode()
        return f"array of shape {array.shape}, {zlib.crc32(data):08x}"
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return "a random generator"
    return repr(value)
