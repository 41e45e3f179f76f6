"""Files and folders that are there whole or not at all: threads, kills at every step, what killed writers leave."""

from __future__ import annotations

import importlib
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bursty.storage import discard, recover, replacing, replacing_folder

module = importlib.import_module("bursty.storage.replacing")  # the package has a function of this name

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]

STEPS = ("open", "mkdir", "rename", "replace", "link", "fsync", "unlink", "rmdir", "listdir", "close")


def killed_at(step: int, work: Callable[[], None]) -> bool:
    """Run in a process that dies at this call into the system; whether it got so far."""
    pid = os.fork()
    if pid == 0:
        left = [step]

        def dying(call):
            def wrapped(*args, **kwargs):
                if left[0] == 0:
                    os._exit(9)
                left[0] -= 1
                return call(*args, **kwargs)

            return wrapped

        try:
            for name in STEPS:
                setattr(os, name, dying(getattr(os, name)))
            work()
        except BaseException:  # the parent must see that this is not a death in time
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert code in (0, 9)
    return code == 9


def put(path: Path, text: str) -> None:
    with replacing(path) as file:
        file.write(text.encode())


def put_folder(path: Path, text: str, keep: bool = False) -> None:
    with replacing_folder(path, keep=keep) as folder:
        for name in "abc":
            (folder / name).write_text(text)


def content(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir() if path.is_file()}


def test_a_file_survives_a_kill_at_every_step(tmp_path):
    path, step = tmp_path / "file", 0
    put(path, "old")
    while killed_at(step, lambda: put(path, "new")):
        assert path.read_text() in ("old", "new")
        put(path, "old")
        assert os.listdir(tmp_path) == ["file"]  # what was left is found and removed
        step += 1
    assert step > 3
    assert path.read_text() == "new"


@pytest.mark.parametrize("keep", [False, True])
def test_a_folder_survives_a_kill_at_every_step(tmp_path, keep):
    path, step = tmp_path / "folder", 0
    put_folder(path, "old")
    (path / "mine").write_text("precious")
    mine = {"mine": "precious"} if keep else {}
    gone = 0
    while killed_at(step, lambda: put_folder(path, "new", keep)):
        gone += not path.exists()
        recover(path)
        found = content(path)
        assert found in (dict.fromkeys("abc", "old") | {"mine": "precious"}, dict.fromkeys("abc", "new") | mine)
        put_folder(path, "old", keep)
        (path / "mine").write_text("precious")
        assert os.listdir(tmp_path) == ["folder"]
        step += 1
    assert step > 10
    assert gone > 0  # the kill between the two renamings was one of them
    assert content(path) == dict.fromkeys("abc", "new") | mine


def test_threads_may_write_one_path(tmp_path):
    path, errors = tmp_path / "file", []
    texts = [str(number) * 10_000 for number in range(8)]

    def write(text: str) -> None:
        try:
            for _ in range(20):
                put(path, text)
                assert path.read_text() in texts
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=(text,)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert os.listdir(tmp_path) == ["file"]


def test_what_another_version_left_is_removed_and_what_is_written_is_not(tmp_path):
    path = tmp_path / "file"
    (tmp_path / ".file.12345.part").write_text("stale")
    (tmp_path / ".file.other.12345.part").write_text("of another file")
    with replacing(path) as first:
        first.write(b"first")
        put(path, "second")
        first.write(b" and last")
    assert path.read_text() == "first and last"
    assert sorted(os.listdir(tmp_path)) == [".file.other.12345.part", "file"]


def test_an_error_leaves_the_old_folder(tmp_path):
    put_folder(tmp_path / "folder", "old")
    with pytest.raises(FileNotFoundError), replacing_folder(tmp_path / "folder") as folder:
        (folder / "missing" / "a").write_text("new")
    assert content(tmp_path / "folder") == dict.fromkeys("abc", "old")
    assert os.listdir(tmp_path) == ["folder"]


def test_a_folder_that_cannot_be_swapped_keeps_what_is_in_it(tmp_path, monkeypatch):
    path = tmp_path / "folder"
    (path / "inner").mkdir(parents=True)
    put_folder(path, "one", keep=True)
    assert (content(path), (path / "inner").is_dir()) == (dict.fromkeys("abc", "one"), True)
    shutil.rmtree(path / "inner")
    monkeypatch.chdir(path)
    put_folder(Path("."), "two", keep=True)
    assert content(Path.cwd()) == content(path) == dict.fromkeys("abc", "two")
    assert sorted(os.listdir(path)) == ["a", "b", "c"]
    (path / "b").unlink()
    (path / "b").mkdir()
    with pytest.raises(IsADirectoryError, match="is a folder, but a file is to be written there"):
        put_folder(path, "three", keep=True)
    assert content(path) == dict.fromkeys("ac", "two")


def test_default_replacement_drops_the_other_files(tmp_path):
    put_folder(tmp_path / "folder", "old")
    (tmp_path / "folder" / "other").write_text("old")
    with replacing_folder(tmp_path / "folder") as folder:
        (folder / "a").write_text("new")
    assert content(tmp_path / "folder") == {"a": "new"}


def test_without_locks_what_is_a_day_old_is_stale(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "fcntl", None)
    old, young = tmp_path / ".file.11111111.part", tmp_path / ".file.22222222.part"
    for path in (old, young):
        path.write_text("left")
    two_days_ago = time.time() - 2 * 86_400
    os.utime(old, (two_days_ago, two_days_ago))
    put(tmp_path / "file", "new")
    assert sorted(os.listdir(tmp_path)) == [young.name, "file"]


def test_what_is_discarded_may_be_gone_already(tmp_path):
    put(tmp_path / "file", "old")
    (tmp_path / ".file.12345.part").write_text("left by a killed process")
    discard(tmp_path / "file")
    assert os.listdir(tmp_path) == []
    discard(tmp_path / "file")


def test_what_is_kept_beside_new_files_keeps_its_times(tmp_path, monkeypatch):
    """Where files cannot be linked they are copied."""
    path = tmp_path / "folder"
    for link in (os.link, None):
        put_folder(path, "old")
        (path / "mine").write_text("precious")
        os.utime(path / "mine", (1e9, 1e9))
        os.chmod(path, 0o750)
        if link is None:
            monkeypatch.setattr(os, "link", _cannot_link)
        put_folder(path, "new", keep=True)
        assert content(path) == dict.fromkeys("abc", "new") | {"mine": "precious"}
        assert (path / "mine").stat().st_mtime == 1e9
        assert path.stat().st_mode & 0o777 == 0o750


def _cannot_link(*args):
    raise OSError(1, "Operation not permitted")
