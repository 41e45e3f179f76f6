"""A corpus larger than memory, stored on disk in shards of equal numbers of documents that are read one at a time.

    my.bshards/
        index               vocabulary, label names, sizes and checksums of the shards; written last
        00000.npy           counts of the first documents, as one array of int32:
                            row starts, words and counts by document; column starts, documents and counts by word
        00000.names         ids, labels and metadata of these documents

The counts are stored twice, by document and by word, because sums over documents need them by word: a memory-mapped
shard can be used without conversion. The number of documents per shard equals that of a chunk of work (`SHARD_SIZE`),
so that a fit from shards adds the same numbers in the same order as a fit in memory.
"""

from __future__ import annotations

import os
import threading
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from bursty.corpus.checks import check_rows, check_vocabulary
from bursty.corpus.core import Corpus
from bursty.corpus.labels import label_table
from bursty.corpus.sources import stays_inside
from bursty.corpus.storage import NUMBERS
from bursty.corpus.text import TextOptions
from bursty.corpus.units import Units
from bursty.sparse import check_csr
from bursty.storage import read_tree, recover, replacing_folder, write_tree
from bursty.storage.container import DAMAGE
from bursty.typing import Array
from bursty.validation import MAX_COUNT
from bursty.wording import counted

#: Number of documents per shard, and per chunk of work. Changing it changes the last bits of results.
SHARD_SIZE = 32_768
SUFFIX = ".bshards"
_KIND = "shards"
_INDEX = "index"
# NumPy reads the header of a file with the parser of Python, which some versions of Python do not allow two threads.
_HEADER = threading.Lock()


@dataclass(frozen=True)
class Shard:
    """Size and checksum of a shard."""

    documents: int
    cells: int
    tokens: int
    empty: int
    checksum: int


class ShardedCorpus:
    """A corpus on disk. Estimators accept it in place of a `Corpus`.

    It has the attributes of a `Corpus`; those with one row per document (`counts`, `labels`, `ids`, `metadata`) are
    read into memory as a whole on each access. `parts` yields the shards one at a time.

    See Also
    --------
    write_shards, Corpus

    Examples
    --------
    >>> import tempfile
    >>> from bursty import Corpus
    >>> from bursty.corpus import ShardedCorpus, write_shards
    >>> path = f"{tempfile.mkdtemp()}/notes.bshards"
    >>> _ = write_shards(path, Corpus([[2, 0, 1], [0, 3, 0]]))
    >>> ShardedCorpus(path)
    <ShardedCorpus 2 documents x 3 words, 6 tokens, 1 shard>
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        recover(self.path)
        if not (self.path / _INDEX).is_file():
            raise ValueError(f"{path} is not a folder of shards: it has no {_INDEX}. Write it with write_shards")
        index = read_tree(self.path / _INDEX, _KIND)
        try:
            if not all(type(value) is int for row in index["shards"] for value in row):
                raise ValueError("the sizes of the shards are not integers")
            self.shards = [Shard(*row) for row in index["shards"]]
            self.vocabulary: Array = check_vocabulary(index["vocabulary"], len(index["vocabulary"]))
            if not all(type(index[name]) is bool for name in ("has_words", "is_multilabel")):
                raise ValueError("it does not say whether words have names, or documents several labels")
            self.has_words: bool = index["has_words"]
            names = index["label_names"]
            self.label_names: Array | None = None if names is None else check_vocabulary(names, len(names))
            self.is_multilabel: bool = index["is_multilabel"]
            self.info: dict[str, Any] = dict(index["info"])
            self._units = Units.of(self.info.get("units"))
            if min(min(shard.documents, shard.cells, shard.empty) for shard in self.shards) < 0:
                raise ValueError("a shard has a negative size")
        except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
            raise ValueError(f"the index of {path} is damaged ({error}): write the shards again") from error
        self.shape = sum(shard.documents for shard in self.shards), len(self.vocabulary)
        self._checked: set[int] = set()
        for number in range(len(self.shards)):
            self._check_size(number)

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def text_options(self) -> TextOptions | None:
        """How texts became counts, as in `Corpus`."""
        return TextOptions.from_info(self.info)

    @property
    def units(self) -> Units:
        """What documents, words and tokens are called, as in `Corpus`."""
        return self._units

    @property
    def n_documents(self) -> int:
        """Number of documents."""
        return self.shape[0]

    @property
    def n_words(self) -> int:
        """Number of words."""
        return self.shape[1]

    def __repr__(self) -> str:
        documents, words, tokens = self.units.count(*self.shape, sum(shard.tokens for shard in self.shards))
        return f"<ShardedCorpus {documents} x {words}, {tokens}, {counted(len(self.shards), 'shard')}>"

    @property
    def labels(self) -> Array | None:
        """One integer per document, as in `Corpus`."""
        if self.label_names is None or self.is_multilabel:
            return None
        return np.concatenate(self._column("labels"))

    @property
    def label_matrix(self) -> sp.csr_array | None:
        """Documents x classes, 0 or 1, as in `Corpus`."""
        if self.is_multilabel:
            return sp.csr_array(sp.vstack(self._column("label_matrix"), format="csr"))
        labels, names = self.labels, self.label_names
        return None if labels is None or names is None else label_table(labels, len(names))

    @property
    def metadata(self) -> dict[str, Array]:
        """More columns, one value per document."""
        parts = self._column("metadata")
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    @property
    def ids(self) -> Array:
        """One string per document."""
        return np.concatenate(self._column("ids"))

    @property
    def counts(self) -> sp.csr_array:
        """Documents x words, all in memory; not needed by estimators."""
        return sp.csr_array(sp.vstack([self.shard_counts(number) for number in range(len(self.shards))], format="csr"))

    def select(self, documents: Any) -> Corpus:
        """The documents selected by a mask, indices (in that order, repeats allowed) or a slice, in memory."""
        rows = np.arange(len(self))[check_rows(documents, len(self))]
        order = np.argsort(rows, kind="stable")
        chosen, start, parts = rows[order], 0, []
        for part in self.parts():
            own = chosen[(chosen >= start) & (chosen < start + len(part))] - start
            start += len(part)
            if len(own) or (not len(chosen) and start == len(self)):
                parts.append(part.select(own))
        return _joined(parts).select(np.argsort(order, kind="stable"))

    def shard_counts(self, number: int) -> sp.csr_array:
        """The counts of one shard, memory-mapped."""
        indptr, indices, values = self.orders(number)[0]
        return sp.csr_array((values, indices, indptr), shape=(self.shards[number].documents, self.shape[1]))

    def orders(self, number: int) -> tuple[tuple[Array, Array, Array], tuple[Array, Array, Array]]:
        """The counts of one shard by document and by word: starts, columns or rows, values."""
        shard, n_words = self.shards[number], self.shape[1]
        try:
            with _HEADER:
                flat = np.asarray(np.load(self._file(number), mmap_mode="c", allow_pickle=False))
        except DAMAGE as error:
            raise self._damaged(number, error) from error
        lengths = [shard.documents + 1, shard.cells, shard.cells, n_words + 1, shard.cells, shard.cells]
        if flat.dtype != np.int32 or flat.shape != (sum(lengths),):
            raise self._damaged(number, "its size differs from the index")
        parts = np.split(flat, np.cumsum(lengths)[:-1])
        if number not in self._checked:
            self._check(number, flat, parts)
            self._checked.add(number)
        return tuple(parts[:3]), tuple(parts[3:])  # type: ignore[return-value]  # three and three

    def announce(self, number: int) -> None:
        """Ask the operating system to prefetch a shard."""
        if not hasattr(os, "posix_fadvise"):
            return
        try:
            with open(self._file(number), "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
        except OSError:
            return  # reading it raises the error

    def parts(self) -> Iterator[Corpus]:
        """The shards as corpora in memory, one at a time."""
        for number in range(len(self.shards)):
            counts, names = self.shard_counts(number), self._names(number)
            words = self.vocabulary if self.has_words else None
            try:
                part = Corpus(counts, words, label_names=self.label_names, info=self.info, **names)
            except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
                raise self._damaged(number, f"its names do not match ({error})") from error
            yield part

    def _column(self, name: str) -> list[Any]:
        return [self._names(number)[name] for number in range(len(self.shards))]

    def _file(self, number: int) -> Path:
        return self.path / f"{number:05d}.npy"

    def _names(self, number: int) -> dict[str, Any]:
        path = self.path / f"{number:05d}.names"
        if not path.is_file():
            raise self._damaged(number, f"{path.name} is missing")
        names = read_tree(path, _KIND)
        if isinstance(names, dict) and names.pop("shard", None) not in (None, [number, self.shards[number].checksum]):
            raise self._damaged(number, f"{path.name} belongs to other counts")
        keys = {"ids", "metadata", "label_matrix" if self.is_multilabel else "labels"}
        if not isinstance(names, dict) or names.keys() != keys:
            raise self._damaged(number, f"{path.name} does not contain {', '.join(sorted(keys))}")
        labels, metadata = names.get("labels"), names["metadata"]
        if isinstance(labels, np.ndarray) and labels.dtype.kind not in "iu":
            raise self._damaged(number, f"its labels are of type {labels.dtype}")
        if not isinstance(metadata, dict) or not all(type(name) is str for name in metadata):
            raise self._damaged(number, "its columns have no names")
        if any(getattr(column, "dtype", np.dtype("S")).kind not in NUMBERS + "O" for column in metadata.values()):
            raise self._damaged(number, "its columns are neither numbers nor strings")
        lengths = [len(names[key]) for key in ("ids", "labels") if isinstance(names.get(key), np.ndarray)]
        if not lengths or set(lengths) != {self.shards[number].documents}:
            raise self._damaged(number, f"{path.name} does not match the index")
        return names

    def _check_size(self, number: int) -> None:
        shard = self.shards[number]
        least = 4 * (shard.documents + 1 + 4 * shard.cells + self.shape[1] + 1)
        path = self._file(number)
        if not path.is_file():
            raise self._damaged(number, f"{path.name} is missing")
        if not stays_inside(path, self.path):
            raise self._damaged(number, f"{path.name} is a link that leads out of the folder")
        if path.stat().st_size < least:
            raise self._damaged(number, f"{path.name} is shorter than its size in the index")

    def _check(self, number: int, flat: Array, parts: Sequence[Array]) -> None:
        """Check a shard once: its checksum, and that all indices are in bounds."""
        if zlib.crc32(flat.data) != self.shards[number].checksum:
            raise self._damaged(number, "its checksum is wrong")
        indptr, indices, values, starts, rows, by_word = parts
        n_documents, n_words = self.shards[number].documents, self.shape[1]
        try:
            check_csr(indices, indptr, len(values), (n_documents, n_words))
            check_csr(rows, starts, len(by_word), (n_words, n_documents))
        except ValueError as error:
            raise self._damaged(number, error) from error
        if len(values) and values.min() < 1:
            raise self._damaged(number, "it has counts below 1")
        table = sp.csr_array((values, indices, indptr), shape=(n_documents, n_words))
        columns = table.tocsc()
        if not all(map(np.array_equal, (columns.indptr, columns.indices, columns.data), (starts, rows, by_word))):
            raise self._damaged(number, "its counts by word differ from its counts by document")
        lengths = table.sum(axis=1, dtype=np.int64)
        if lengths.max(initial=0) > MAX_COUNT:
            raise self._damaged(number, f"it has a document of {lengths.max():,} tokens, above {MAX_COUNT:,}")
        known = self.shards[number]
        if int(lengths.sum()) != known.tokens or int(np.count_nonzero(lengths == 0)) != known.empty:
            raise self._damaged(number, "its numbers of tokens and empty documents differ from the index")

    def _damaged(self, number: int, reason: Any) -> ValueError:
        return ValueError(f"shard {number} of {self.path} cannot be read: {reason}. Write the shards again")


def write_shards(path: str | Path, corpora: Corpus | Iterable[Corpus]) -> ShardedCorpus:
    """Write documents to a folder of shards, with one shard in memory at a time.

    Parameters
    ----------
    path : str or path-like
        The folder; the suffix ``.bshards`` is added if the name has none. It appears once everything is written; until
        then an existing folder of shards is left unchanged.
    corpora : Corpus or iterable of Corpus
        Parts of one corpus, in order, with the same vocabulary and label names.

    See Also
    --------
    ShardedCorpus : The result.
    read_parts : Where the parts come from.

    Examples
    --------
    >>> import tempfile
    >>> from bursty import Corpus
    >>> from bursty.corpus import write_shards
    >>> first, second = Corpus([[2, 0, 1]]), Corpus([[0, 3, 0]])
    >>> len(write_shards(f"{tempfile.mkdtemp()}/notes.bshards", [first, second]))
    2
    """
    path = Path(path)
    if not path.suffix:
        path = path.with_suffix(SUFFIX)
    recover(path)
    if path.exists() and not (path / _INDEX).is_file():
        raise FileExistsError(f"{path} exists and is not a folder of shards: choose another name")
    with replacing_folder(path) as folder:
        first, shards = None, []
        for number, part in enumerate(_of_size(corpora)):
            first = part if first is None else first
            _check_same(first, part, number)
            shards.append(_write_shard(folder, number, part))
        if first is None:
            raise ValueError("there are no documents to write")
        _write_index(folder, first, shards)
    return ShardedCorpus(path)


def _of_size(corpora: Corpus | Iterable[Corpus]) -> Iterator[Corpus]:
    """The same documents in parts of `SHARD_SIZE`; the last may be smaller."""
    waiting: list[Corpus] = []
    n_waiting = 0
    for corpus in [corpora] if isinstance(corpora, Corpus) else corpora:
        start = 0
        while n_waiting + len(corpus) - start >= SHARD_SIZE:
            stop = start + SHARD_SIZE - n_waiting
            yield _joined([*waiting, corpus.select(slice(start, stop))])
            waiting, n_waiting, start = [], 0, stop
        if start < len(corpus):
            waiting.append(corpus.select(slice(start, len(corpus))))
            n_waiting += len(waiting[-1])
    if waiting:
        yield _joined(waiting)


def _joined(parts: Sequence[Corpus]) -> Corpus:
    if len(parts) == 1:
        return parts[0]
    for number, part in enumerate(parts):
        _check_same(parts[0], part, number)
    first = parts[0]
    target: dict[str, Any] = {"labels": None}
    if first.is_multilabel:
        target = {"label_matrix": sp.vstack([part.label_matrix for part in parts], format="csr")}
    elif first.labels is not None:
        target = {"labels": np.concatenate([part.labels for part in parts])}
    return Corpus(
        sp.vstack([part.counts for part in parts], format="csr"),
        first.vocabulary if first.has_words else None,
        ids=np.concatenate([part.ids for part in parts]),
        label_names=first.label_names,
        metadata={name: np.concatenate([part.metadata[name] for part in parts]) for name in first.metadata},
        info=first.info,
        **target,
    )


def _check_same(first: Corpus, part: Corpus, number: int) -> None:
    if not np.array_equal(first.vocabulary, part.vocabulary):
        raise ValueError(
            f"part {number} has a different vocabulary ({counted(part.n_words, 'word')}) from the first "
            f"({counted(first.n_words, 'word')}): "
            "read all parts with one vocabulary"
        )
    names, known = ([] if part.label_names is None else part.label_names.tolist() for part in (part, first))
    if names != known:
        raise ValueError(f"part {number} has different label names from the first: give all parts the same label_names")


def _write_shard(folder: Path, number: int, part: Corpus) -> Shard:
    rows, columns = part.counts, part.counts.tocsc()
    arrays = [rows.indptr, rows.indices, rows.data, columns.indptr, columns.indices, columns.data]
    flat = np.concatenate([array.astype(np.int32, copy=False) for array in arrays])
    np.save(folder / f"{number:05d}.npy", flat, allow_pickle=False)
    checksum = zlib.crc32(flat.data)
    # Which counts the names belong to; files of 0.1 do not say so.
    names: dict[str, Any] = {"shard": [number, checksum], "ids": part.ids, "metadata": dict(part.metadata)}
    names |= {"label_matrix": part.label_matrix} if part.is_multilabel else {"labels": part.labels}
    write_tree(folder / f"{number:05d}.names", _KIND, names)
    empty = int(np.count_nonzero(np.diff(rows.indptr) == 0))
    return Shard(len(part), rows.nnz, int(rows.data.sum(dtype=np.int64)), empty, checksum)


def _write_index(folder: Path, first: Corpus, shards: Sequence[Shard]) -> None:
    index = {
        "shards": [[s.documents, s.cells, s.tokens, s.empty, s.checksum] for s in shards],
        "vocabulary": first.vocabulary,
        "has_words": first.has_words,
        "label_names": first.label_names,
        "is_multilabel": first.is_multilabel,
        "info": dict(first.info),
    }
    write_tree(folder / _INDEX, _KIND, index)
