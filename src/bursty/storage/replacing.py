"""Atomic replacement of files and folders, even if the writing process is killed.

New content is written beside its destination under a temporary name, and renamed once complete:

    .model.bursty.3f1c9a20.part       a file, or a folder, that is being written
    .corpus.bshards.3f1c9a20.old      the folder that a new one is about to replace

The writer holds a lock on what it writes. A temporary name without a lock belongs to a process that was killed, and is
removed by the next write. A killed process can leave a folder under its temporary name only; `recover` restores its own
name, and is called wherever such a folder is opened.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]  # not on Windows: writers do not lock there

# On file systems without locks, a temporary file unchanged for a day is considered stale.
_FORGOTTEN = 86_400.0
_WAIT = 0.05
_PATIENCE = 10.0


@contextmanager
def replacing(path: str | Path) -> Iterator[IO[bytes]]:
    """A file to write to, which replaces `path` at the end if there was no error.

    Any number of threads and processes may do so at once: the last to finish wins. Disk errors name `path`, not the
    temporary file.
    """
    path = Path(path)
    with _errors_of(path):
        _remove_stale(path)
        temporary, lock = _claim(path)
        try:
            with open(temporary, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            os.close(lock)
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: str | Path, *, keep: bool = False) -> Iterator[Path]:
    """A folder to write to, which replaces `path` at the end if there was no error.

    The old folder is renamed, the new one takes its name, and only then is the old one deleted.

    Parameters
    ----------
    path : str or path
    keep : bool
        Keep the other files of the old folder. Where the old folder cannot be renamed (folders inside it, a mount
        point, the current directory, no permission) its files are replaced one after the other.
    """
    path = Path(path)
    path = path.resolve() if path.is_symlink() else path
    with _errors_of(path):
        recover(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        one_by_one = keep and path.is_dir() and not _can_be_swapped(path)
        place = path / "bursty" if one_by_one else path
        _remove_stale(place)
        temporary, lock = _claim(place, folder=True)
    try:
        yield temporary
        _check_files(path, os.listdir(temporary))
        with _errors_of(path):
            _to_disk(temporary)
            if one_by_one:
                _move_files(temporary, path)
            elif path.exists():
                if keep:
                    _keep_others(path, temporary)
                _swap(temporary, path)
            else:
                os.rename(temporary, path)
    finally:
        os.close(lock)
        shutil.rmtree(temporary, ignore_errors=True)


def recover(path: str | Path) -> None:
    """Restore the name of a folder if a process was killed between the two renamings of a replacement."""
    path = Path(path)
    deadline = time.monotonic() + _PATIENCE
    while not path.exists():
        aside = sorted(_names(path, "old"), key=_age)
        if not aside:
            return
        with _taken_if_stale(aside[0]) as stale:
            if stale:
                with suppress(FileNotFoundError):  # another process was faster
                    os.rename(aside[0], path)
                continue
        if time.monotonic() > deadline:
            raise OSError(errno.EBUSY, "it is being replaced by another process; try again later", str(path))
        time.sleep(_WAIT)


def discard(path: str | Path) -> None:
    """Remove a file, and its temporary files left by killed processes."""
    Path(path).unlink(missing_ok=True)
    _remove_stale(Path(path))


def _can_be_swapped(path: Path) -> bool:
    here, there = Path.cwd(), path.resolve()
    if here.is_relative_to(there) or os.path.ismount(there) or not os.access(there.parent, os.W_OK):
        return False
    with os.scandir(there) as entries:
        return all(entry.is_file(follow_symlinks=False) for entry in entries)


def _keep_others(old: Path, new: Path) -> None:
    """Link the files of the old folder that the new one does not have into the new one."""
    shutil.copystat(old, new)
    for name in sorted(set(os.listdir(old)) - set(os.listdir(new))):
        try:
            os.link(old / name, new / name)
        except OSError:
            shutil.copy2(old / name, new / name)


def _check_files(path: Path, names: list[str]) -> None:
    for name in names:
        if (path / name).is_dir():
            raise IsADirectoryError(f"{path / name} is a folder, but a file is to be written there")


def _move_files(source: Path, target: Path) -> None:
    for name in sorted(os.listdir(source)):
        os.replace(source / name, target / name)


def _swap(new: Path, path: Path) -> None:
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.old")
    lock = _lock(path)
    try:
        os.rename(path, aside)
        os.rename(new, path)
    finally:
        if aside.exists() and not path.exists():
            os.rename(aside, path)
        shutil.rmtree(aside, ignore_errors=True)
        if lock is not None:
            os.close(lock)


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Disk errors that name this path instead of the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _claim(path: Path, folder: bool = False) -> tuple[Path, int]:
    """A new temporary name beside the path, locked by this process."""
    while True:
        temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
        if folder:
            temporary.mkdir()
        else:
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        lock = _lock(temporary)
        if lock is not None:  # else another process considered it stale before it was locked, and removed it
            return temporary, lock


def _lock(path: Path) -> int | None:
    """An open file that holds the lock, or None if the path no longer exists; without locks, an unlocked file."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    except OSError:  # Windows opens no folders
        return os.open(os.devnull, os.O_RDONLY)
    if fcntl is not None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
    if not path.exists():
        os.close(handle)
        return None
    return handle


@contextmanager
def _taken_if_stale(path: Path) -> Iterator[bool]:
    """Whether the path has no writer any more; it is locked inside this block."""
    handle = None
    try:
        handle = os.open(path, os.O_RDONLY)
        if fcntl is None:
            raise OSError("no locks")
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stale = True
    except BlockingIOError:
        stale = False
    except OSError:
        stale = _age(path) > _FORGOTTEN
    try:
        yield stale
    finally:
        if handle is not None:
            os.close(handle)


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


def _names(path: Path, suffix: str) -> list[Path]:
    start, end = f".{path.name}.", f".{suffix}"
    try:
        with os.scandir(path.parent) as entries:
            found = [entry.name for entry in entries if entry.name.startswith(start) and entry.name.endswith(end)]
    except OSError:
        return []
    # The middle part has no dot, so that files of "a.b" are not taken for files of "a".
    return [path.parent / name for name in found if "." not in name[len(start) : -len(end)]]


def _remove_stale(path: Path) -> None:
    """Remove temporary files of this path left by killed processes."""
    for kind in ("part", "old"):
        for left in _names(path, kind):
            with _taken_if_stale(left) as stale, suppress(OSError):
                if stale:
                    shutil.rmtree(left) if left.is_dir() else left.unlink()


def _to_disk(folder: Path) -> None:
    """Flush the content to disk before the old one is deleted."""
    for name in os.listdir(folder):
        handle = os.open(folder / name, os.O_RDONLY)
        try:
            with suppress(OSError):
                os.fsync(handle)
        finally:
            os.close(handle)
