"""Checkpoints of long fits: everything needed to resume, written to one file at intervals.

The file exists while a fit is unfinished. A fit that finds it resumes from it, to the same bits as a fit that was never
stopped. It is written completely or not at all, records the documents and parameters it belongs to, and is rejected for
any others.
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

_KIND = "checkpoint"
# Parameters that do not affect the result.
_FREE = frozenset({"checkpoint", "engine", "n_jobs", "verbose"})


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often a fit writes a checkpoint.

    Parameters
    ----------
    path : str or path
        The file. A fit that finds it resumes from it; it is removed when the fit is complete.
    iterations : int, default 10
        Number of iterations between two checkpoints.
    minutes : float, optional
        Number of minutes between two checkpoints, instead of iterations; written at the end of an iteration.

    See Also
    --------
    save : For finished models.

    Examples
    --------
    >>> from bursty import LDA, Checkpoint, datasets
    >>> corpus, _ = datasets.make_bursty_mixture(60, 30, 2, random_state=0)
    >>> checkpoint = Checkpoint("lda.checkpoint", minutes=5)
    >>> model = LDA(2, n_iter=10, tol=0, random_state=0, checkpoint=checkpoint).fit(corpus)
    """

    path: str | Path
    iterations: int = 10
    minutes: float | None = None

    @classmethod
    def of(cls, value: Any) -> Checkpoint | None:
        """Convert the parameter of an estimator, which is None, a path or a checkpoint."""
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
        """Raise if a value makes no sense."""
        if (
            not isinstance(self.iterations, int | np.integer)
            or isinstance(self.iterations, bool)
            or self.iterations < 1
        ):
            raise ValueError(f"iterations of a checkpoint must be a positive integer, not {self.iterations!r}")
        if self.minutes is not None and not (isinstance(self.minutes, int | float) and self.minutes >= 0):
            raise ValueError(f"minutes of a checkpoint must be a non-negative number, not {self.minutes!r}")
        if not Path(self.path).absolute().parent.is_dir():
            raise ValueError(f"checkpoint: no such directory: {Path(self.path).absolute().parent}")


@dataclass
class CheckpointWriter:
    """Writes and reads the checkpoint of one fit; does nothing if the fit has none."""

    where: Checkpoint | None
    owner: Mapping[str, str] = field(default_factory=dict)
    _n_since: int = 0
    _last: float = field(default_factory=time.monotonic)

    @classmethod
    def of(
        cls, estimator: Any, documents: Documents, y: Any = None, sample_weight: Any = None, **more: Any
    ) -> CheckpointWriter:
        """For a fit of this estimator to these documents (and labels, weights and whatever else it is given)."""
        where = Checkpoint.of(estimator.checkpoint)
        if where is None:
            return cls(None)
        owner = {"model": type(estimator).__name__, "documents": documents.fingerprint}
        owner |= {name: _described(value) for name, value in (("labels", y), ("weights", sample_weight))}
        owner |= {name: _described(value) for name, value in more.items() if value is not None}
        owner |= {
            name: _described(value) for name, value in estimator.get_params(deep=False).items() if name not in _FREE
        }
        return cls(where, owner)

    @property
    def active(self) -> bool:
        """Whether the fit has a checkpoint."""
        return self.where is not None

    def resume(self) -> Any:
        """The state that was written last, or None if there is none; raises if it belongs to another fit."""
        if self.where is None or not Path(self.where.path).exists():
            return None
        try:
            kept = read_tree(self.where.path, _KIND, stored_classes())
        except ValueError as error:
            raise ValueError(f"{error}, or remove it to start the fit from scratch") from error
        if not isinstance(kept, dict) or not isinstance(kept.get("owner"), dict) or "state" not in kept:
            raise ValueError(f"{self.where.path} is not a checkpoint of a fit: choose another path")
        owner = {str(name): value for name, value in kept["owner"].items()}
        for name in sorted(self.owner.keys() | owner.keys(), key=lambda name: (name != "model", name)):
            if owner.get(name) != self.owner.get(name):
                what = "other documents" if name == "documents" else f"{name} {owner.get(name, 'not set')}"
                mine = "" if name == "documents" else f", and this fit has {self.owner.get(name, 'not set')}"
                raise ValueError(
                    f"the checkpoint {self.where.path} belongs to a fit with {what}{mine}: remove it to start "
                    "from scratch, or choose another path"
                )
        return kept["state"]

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Name the file in errors about a state that cannot be resumed."""
        try:
            yield
        except (KeyError, TypeError, IndexError, AttributeError, ValueError, OverflowError) as error:
            where = None if self.where is None else self.where.path
            raise ValueError(
                f"{where} is not a checkpoint that this fit can resume from ({error}): remove it to start from scratch"
            ) from error

    def keep(self, state: Any) -> None:
        """Count an iteration, and write if it is time. ``state`` is a function that returns the tree to write."""
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
        """Remove the file: the fit is complete."""
        if self.where is not None:
            discard(self.where.path)

    def write(self, state: Any) -> None:
        """Write now; if that fails, the fit continues."""
        if self.where is None:
            return
        try:
            write_tree(self.where.path, _KIND, {"owner": dict(self.owner), "state": state}, stored_classes())
        except OSError as error:
            warnings.warn(
                f"the checkpoint {self.where.path} could not be written ({error}); the fit continues, and "
                "the previous checkpoint is still there",
                UserWarning,
                stacklevel=4,
            )


def _described(value: Any) -> str:
    """A text for a parameter, equal for equal values."""
    if isinstance(value, np.ndarray) or (isinstance(value, list | tuple) and len(value) > 20):
        array = np.asarray(value)
        data = array.tobytes() if array.dtype != object else repr(array.tolist()).encode()
        return f"array of shape {array.shape}, {zlib.crc32(data):08x}"
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return "a random generator"
    return repr(value)
