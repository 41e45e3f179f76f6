"""A plugin of pytest for `benchmarks.mutants`: which lines of a module each test runs, how long it takes, and
whether it starts a process.

The variable WATCHED has the name of the module and the file to write, with a colon between.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

MODULE, _, NOTES = os.environ.get("WATCHED", "").partition(":")
PLACE = os.sep + MODULE.replace(".", os.sep)
_found: dict[str, Any] = {}
_lines: dict[str, set[int]] = defaultdict(set)
_processes: list[str] = []


def _note_process(event: str, _: Any) -> None:
    if event in ("os.fork", "os.posix_spawn", "subprocess.Popen"):
        _processes.append(event)


sys.addaudithook(_note_process)


def _watch(frame: FrameType, event: str, argument: Any) -> Any:
    name = frame.f_code.co_filename
    if PLACE not in name:
        return None
    lines = _lines["bursty" + name.rpartition(f"{os.sep}bursty")[2]]

    def note(frame: FrameType, event: str, argument: Any) -> Any:
        lines.add(frame.f_lineno)
        return note

    return note(frame, event, argument)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _lines.clear()
    _processes.clear()
    began = time.process_time()
    threading.settrace(_watch)
    sys.settrace(_watch)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]  # as it was
        lines = {name: sorted(found) for name, found in _lines.items()}
        _found[item.nodeid] = {"seconds": time.process_time() - began, "lines": lines, "process": bool(_processes)}


def pytest_sessionfinish() -> None:
    Path(NOTES).write_text(json.dumps(_found))
