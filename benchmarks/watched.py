"""A plugin of pytest for `benchmarks.mutants`: which functions of a module each test calls, and how long it takes.

The variable WATCHED has the name of the module and the file to write, with a colon between. Calls are noted and not
lines, which would make parsers slow.
"""

from __future__ import annotations

import inspect
import json
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

MODULE, _, NOTES = os.environ.get("WATCHED", "").partition(":")
PLACE = os.sep + MODULE.replace(".", os.sep)
_found: dict[str, Any] = {}
_calls: dict[str, list[tuple[int, int]]] = defaultdict(list)
_seen: set[int] = set()
_failed: set[str] = set()


def _watch(frame: FrameType, event: str, argument: Any) -> None:
    code = frame.f_code
    # What runs on import (modules, bodies of classes) is not optimised code.
    if PLACE not in code.co_filename or id(code) in _seen or not code.co_flags & inspect.CO_OPTIMIZED:
        return
    _seen.add(id(code))
    lines = [line for _, _, line in code.co_lines() if line]
    _calls["bursty" + code.co_filename.rpartition(f"{os.sep}bursty")[2]].append((min(lines), max(lines)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _calls.clear()
    _seen.clear()
    began = os.times()
    threading.settrace(_watch)
    sys.settrace(_watch)
    try:
        return (yield)
    finally:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]  # as it was
        # Of this process, and of those that it waited for.
        seconds = sum(os.times()[:4]) - sum(began[:4])
        _found[item.nodeid] = {"seconds": seconds, "calls": dict(_calls), "failed": item.nodeid in _failed}


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    Path(NOTES).write_text(json.dumps(_found))
