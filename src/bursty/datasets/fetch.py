"""Location of the files of a collection: under ``BURSTY_DATA``, in the cache, or at a public address."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from bursty.datasets.registry import Dataset, Download, File

VARIABLE = "BURSTY_DATA"


class DatasetUnavailable(OSError):
    """Raised if a collection is not on this machine and cannot be downloaded; the message says what to do.

    See Also
    --------
    load

    Examples
    --------
    >>> from bursty import datasets
    >>> try:
    ...     corpus = datasets.load("classic400")
    ... except datasets.DatasetUnavailable:  # its message says where to put the files
    ...     corpus, _ = datasets.make_bursty_mixture(random_state=0)
    """


def find(entry: Dataset) -> tuple[Path, File]:
    """The main file of a collection, downloaded if necessary."""
    for folder in _folders():
        for file in entry.files:
            if (folder / file.path).exists():
                return folder / file.path, file
    errors = []
    for download in entry.downloads:
        try:
            return fetch(download), File(download.path)
        except Exception as error:  # each transport has its own errors; all mean that this source failed
            errors.append(f"{download.url}: {type(error).__name__}: {error}")
    raise DatasetUnavailable(_what_to_do(entry, errors))


def find_beside(entry: Dataset, main: Path) -> list[Path]:
    """The other files of a collection, which must be beside the main one."""
    paths = [main.parent / file.path for file in entry.beside]
    for path in paths:
        if not path.exists():
            raise DatasetUnavailable(f"{entry.name} needs {path.name} beside {main}")
    return paths


def fetch(download: Download) -> Path:
    """Download to the cache, with a progress bar on stderr, and verify the checksum if it is known."""
    import pooch

    target = _cache() / download.path
    path = pooch.retrieve(
        download.url,
        known_hash=download.checksum,
        fname=target.name,
        path=target.parent,
        downloader=pooch.HTTPDownloader(progressbar=_Progress(download.path), timeout=60),
    )
    return Path(path)


def check_sha256(path: Path, file: File, name: str) -> None:
    """Raise an error if a file does not have its known checksum."""
    if file.sha256 is None or not path.is_file():
        return
    with open(path, "rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != file.sha256:
        raise ValueError(
            f"{path} is not the expected file of {name}: its SHA-256 is {found}, not {file.sha256}. "
            "It may be damaged or another version; pass verify=False to read it anyway"
        )


def _folders() -> list[Path]:
    given = os.environ.get(VARIABLE)
    return [*([Path(given)] if given else []), _cache()]


def _cache() -> Path:
    import pooch

    return Path(pooch.os_cache("bursty"))


def _what_to_do(entry: Dataset, errors: list[str]) -> str:
    given = os.environ.get(VARIABLE)
    where = f"{VARIABLE} is {given}" if given else f"{VARIABLE} is not set"
    files = " or ".join(file.path for file in entry.files)
    also = "".join(f" and {file.path}" for file in entry.beside)
    if errors:
        reason = "it could not be downloaded (" + "; ".join(errors) + ")"
    else:
        reason = "it is not publicly available for download"
    return (
        f"the corpus {entry.name!r} ({entry.origin}) is not on this machine, and {reason}. "
        f"Put {files}{also} into a folder and set the environment variable {VARIABLE} to it ({where})"
    )


class _Progress:
    """Progress bar for pooch, drawn by rich."""

    def __init__(self, name: str) -> None:
        self.total = 0
        self._name = name
        self._bar: Any = None
        self._task: Any = None

    def update(self, n_bytes: int) -> None:
        """Advance by a number of bytes."""
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

            columns = (TextColumn(self._name), BarColumn(), DownloadColumn())
            self._bar = Progress(*columns, console=Console(stderr=True))
            self._bar.start()
            self._task = self._bar.add_task(self._name, total=self.total or None)
        self._bar.update(self._task, advance=n_bytes)

    def reset(self) -> None:
        """Reset the bar."""
        if self._bar is not None:
            self._bar.reset(self._task)

    def close(self) -> None:
        """Close the bar."""
        if self._bar is not None:
            self._bar.stop()
