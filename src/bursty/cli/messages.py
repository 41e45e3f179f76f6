"""What is said to the person at the terminal, on stderr: notes, warnings, bars; never results."""

from __future__ import annotations

import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from bursty.progress import progress

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(text: str) -> str:
    """The text without what would steer a terminal: control characters and changes of direction are spelled out."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def say(text: str) -> None:
    """One line on stderr."""
    print(printable(text), file=sys.stderr, flush=True)


@contextmanager
def phase(description: str) -> Iterator[None]:
    """A bar while something of unknown length goes on."""
    with progress(description, None, True):
        yield


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Warnings of the library as single lines, each once."""
    heard: list[str] = []

    def show(message: Any, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if text not in heard:
            heard.append(text)
            say(f"warning: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        warnings.filterwarnings("ignore", category=FutureWarning)
        warnings.showwarning = show
        yield


class Interrupts:
    """Remembers Ctrl-C: some fits end early on it and give what they have reached, and the verb must stop too."""

    def __init__(self) -> None:
        self.came = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch inside this block (in the main thread, which is the one that hears it)."""
        self.came = False
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._hear)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def check(self) -> None:
        """Stop here if Ctrl-C came."""
        if self.came:
            raise KeyboardInterrupt

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.came = True
        raise KeyboardInterrupt


interrupts = Interrupts()
