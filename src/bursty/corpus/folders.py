"""A folder of text files, with one folder per class: on disk, or inside a zip or tar archive.

    mail/                       class   id
        spam/001.txt            spam    spam/001.txt
        spam/2024/002.txt       spam    spam/2024/002.txt
        ham/001.txt             ham     ham/001.txt

If there are class folders, files beside them (such as a README) are not documents. If there are more files beside the
folders than in them, or no folders, every file is a document without a label: the folders are not classes. Files that
are not text do not count. Hidden files, and links that lead out of the folder, are skipped. Documents are sorted by
id, whatever their order on disk or in the archive.
"""

from __future__ import annotations

import os
import posixpath
import warnings
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from bursty.corpus.core import Corpus
from bursty.corpus.decoding import is_binary, read_text
from bursty.corpus.html import check_installed, declared_encoding, is_html
from bursty.corpus.labels import encode_labels
from bursty.corpus.sources import hidden, member_names, open_binary, stays_inside, walk_archive
from bursty.corpus.text import CountBuilder, TextOptions
from bursty.storage.limits import Budget
from bursty.wording import counted

# A README and a licence beside the class folders are not worth a warning.
_FEW_BESIDE = 2


def read_folder(
    path: Path,
    text_options: TextOptions,
    encoding: str | None = None,
    clean: Callable[[str], str] | None = None,
    include: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
) -> Corpus:
    """Read the text files of a folder or an archive, with options of `bursty.read_corpus`.

    ``include`` and ``exclude`` are matched against names and relative paths.
    """
    names = _folder_names(path) if path.is_dir() else member_names(path)
    n_files = len(names)
    names = [name for name in names if _wanted(name, _patterns(include), _patterns(exclude))]
    if n_files and not names:
        raise ValueError(f"no file of {path} is left by include= and exclude=, of {n_files:,}: check the patterns")
    names, binary = _without_binary(path, names)
    page = next((name for name in names if text_options.reads_html(name)), None)
    if page is not None:
        check_installed(f"{path} has HTML files ({page}), and reading them", ", or skip them: exclude='*.htm*'")
    root = common_root(names)
    beside = [name for name in names if "/" not in name[len(root) :]]
    has_classes = len(beside) <= len(names) - len(beside) > 0
    budget = Budget(str(path), _size(path, names))
    builder = CountBuilder(text_options, budget=budget)
    ids: list[str] = []
    chosen = frozenset(names)
    for name, stream in _walk(path, names):
        short = name[len(root) :]
        if name not in chosen or (has_classes and "/" not in short):
            continue
        if is_binary(stream.peek()):  # type: ignore[attr-defined]  # these streams are buffered
            binary.append(name)
            continue
        given = encoding
        if given is None and is_html(name):
            given = declared_encoding(stream.peek())  # type: ignore[attr-defined]  # these streams are buffered
        try:
            text = read_text(stream, f"{path}:{name}" if path.is_file() else str(path / name), given, budget)
        except ValueError as error:
            if isinstance(error.__cause__, UnicodeDecodeError):
                raise ValueError(f"{error}, or skip it: exclude={short!r}") from error
            raise
        text = text_options.plain_text(text, name)
        builder.append(text if clean is None else clean(text))
        ids.append(short)
    if not ids:
        skipped = f" ({counted(len(binary), 'binary file was', 'binary files were')} skipped)" if binary else ""
        raise ValueError(f"{path} has no text files{skipped}: give a folder of texts, with one folder per class")
    if binary:
        verbs = "is not text and was" if len(binary) == 1 else "are not text and were"
        _warn(f"{len(binary):,} of {counted(len(binary) + len(ids), 'file')} of {path} {verbs} skipped", binary)
    if has_classes and len(beside) > _FEW_BESIDE:
        _warn(f"{path}: {counted(len(beside), 'file')} beside the class folders were skipped", beside)
    elif not has_classes and len(beside) < len(names):
        _warn(
            f"{path}: most files are beside the folders, which are therefore not read as classes; "
            f"{counted(len(names) - len(beside), 'file was', 'files were')} read from folders",
            sorted(set(names).difference(beside)),
        )
    counts, vocabulary = builder.finish()
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__))
    labels: dict[str, Any] = {}
    if has_classes:
        codes, label_names = encode_labels([short.split("/", 1)[0] for short in ids])
        labels = {"labels": codes, "label_names": label_names}
    corpus = Corpus(counts, vocabulary, ids=ids, texts=builder.texts, info=text_options.as_info(), **labels)
    return corpus if np.all(np.diff(order) == 1) else corpus.select(order)


def _without_binary(path: Path, names: list[str]) -> tuple[list[str], list[str]]:
    """Names of text files and of others; archives can be read only once, and their files are told apart later."""
    if path.is_file():
        return names, []
    texts: list[str] = []
    binary: list[str] = []
    for name, stream in _walk(path, names):
        (binary if is_binary(stream.peek()) else texts).append(name)  # type: ignore[attr-defined]  # they are buffered
    return texts, binary


def _warn(text: str, names: Sequence[str]) -> None:
    warnings.warn(f"{text}, such as {names[0]}", UserWarning, stacklevel=5)


def _patterns(given: str | Sequence[str]) -> Sequence[str]:
    return (given,) if isinstance(given, str) else given


def _wanted(name: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    def matches(patterns: Sequence[str]) -> bool:
        return any(fnmatch(name, pattern) or fnmatch(posixpath.basename(name), pattern) for pattern in patterns)

    return (not include or matches(include)) and not matches(exclude)


def common_root(names: Sequence[str]) -> str:
    """The leading folders common to all files that contain other folders, and so are not classes.

    Examples
    --------
    >>> common_root(["20news/sci.space/1", "20news/sci.med/1"])
    '20news/'
    >>> common_root(["spam/1", "spam/2"])
    ''
    """
    if not names:
        return ""
    folders = [name.split("/")[:-1] for name in names]
    shared = len(posixpath.commonprefix([min(folders), max(folders)]))
    if all(len(folder) == shared for folder in folders):
        shared -= 1  # the last one contains only files
    return "".join(f"{folder}/" for folder in folders[0][: max(0, shared)])


def _walk(path: Path, names: Sequence[str]) -> Iterator[tuple[str, BinaryIO]]:
    if path.is_file():
        yield from walk_archive(path)
        return
    for name in names:
        with open_binary(path / name) as stream:
            yield name, stream


def _folder_names(path: Path) -> list[str]:
    """Relative paths of the files under a folder, with forward slashes; links to folders are not followed."""
    names: list[str] = []
    outside: list[str] = []
    for folder, files in _folders(path):
        place = Path(folder).relative_to(path).as_posix()
        for name in files:
            full = name if place == "." else posixpath.join(place, name)
            if hidden(full) or not (path / full).is_file():
                continue
            inside = not (path / full).is_symlink() or stays_inside(path / full, path)
            (names if inside else outside).append(full)
    if outside:
        warnings.warn(
            f"{path}: {counted(len(outside), 'link was', 'links were')} skipped for leading out of the folder, such as "
            f"{sorted(outside)[0]}; copy the files if they belong to the corpus",
            UserWarning,
            stacklevel=2,
        )
    return sorted(names)


def _folders(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Each folder with the names of its files; one that cannot be read is an error, unless it is hidden."""

    def stop(error: OSError) -> None:
        if not hidden(Path(error.filename).relative_to(path).as_posix()):
            raise error

    try:
        for folder, _, files in os.walk(path, onerror=stop):
            yield folder, files
    except RecursionError as error:
        raise ValueError(f"{path} has folders that are nested too deeply") from error


def _size(path: Path, names: Sequence[str]) -> int:
    return path.stat().st_size if path.is_file() else sum((path / name).stat().st_size for name in names)
