"""Messages to the user, on stderr: notes, warnings and progress bars, never results."""

from __future__ import annotations

import json
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

_STEERING = "\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_UNSAFE = re.compile(f"[\x00-\x1f{_STEERING}]")
_UNSAFE_JSON = re.compile(f"[{_STEERING}]")


def printable(text: str) -> str:
    """The text safe for a terminal: control characters and changes of writing direction are escaped."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def as_json(value: Any, indent: int | None = None) -> str:
    """JSON whose strings steer no terminal and change no direction: such characters are escaped, and none is lost."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return _UNSAFE_JSON.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def say(text: str) -> None:
    """Print one line to stderr."""
    print(printable(text), file=sys.stderr, flush=True)


def in_flags(text: str) -> str:
    """A message of the library in the words of the command line: its options instead of parameters."""
    for pattern, flag in _IN_FLAGS:
        text = pattern.sub(flag, text)
    return " ".join(text.split())


# First what says the same as the rest of its message, then names of parameters.
_IN_FLAGS = [
    (re.compile(pattern), flag)
    for pattern, flag in (
        (r"n_(?:samples|features)=\d+ should be >= n_components=\d+: ", ""),
        (r"\b(?:max_iter|n_iter) or tol\b", "--iterations"),
        (r"fewer n_components, lower temperatures or more starts \(n_init\)", "a smaller --k, or more --starts"),
        (r"\bn_components=", "--k "),
        (r"\blower n_components\b", "give a smaller --k"),
        (r"\bn_components\b", "--k"),
        (r"\bmax_components\b", "--max-k"),
        (r"\b(?:max_iter|n_iter)\b", "--iterations"),
        (r"\bn_init\b", "--starts"),
        (r"raise --iterations,(?: n_chains,)? or split_steps", "raise --iterations"),
        (r"\bn_jobs\b", "--jobs"),
        (r"^(family|init|sampler) must be\b", r"--\1 must be"),
        (r'\bfamily="(\w+)"', r"--family \1"),
        (r" or (?:a family estimator|an array)(?=, not)", ""),
        (
            r'^units must be three names, such as \("sample", "taxon", "read"\)',
            "--units must be like sample,taxon,read",
        ),
        (r"\brandom_state\b", "--seed"),
    )
]


@contextmanager
def phase(description: str) -> Iterator[None]:
    """A progress bar for a step of unknown length."""
    with progress(description, None, True):
        yield


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Print each warning of the library once, in one line."""
    heard: list[str] = []

    def show(message: Any, *_: Any, **__: Any) -> None:
        text = in_flags(str(message))
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
    """Remembers Ctrl-C and termination signals, because some fits catch them and return early; the verb must stop too.

    SIGTERM (from ``kill``, batch systems, containers) and SIGHUP (a terminal that closes) clean up as Ctrl-C does.
    """

    _SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))

    def __init__(self) -> None:
        self.came: int | None = None

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watch for signals inside this block (only the main thread receives them)."""
        self.came = None
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.getsignal(number) for number in self._SIGNALS}
        heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]  # nohup ignores SIGHUP
        for number in heard:
            signal.signal(number, self._hear)
        try:
            yield
        finally:
            for number in heard:
                signal.signal(number, before[number])

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal was received."""
        if self.came is not None:
            raise KeyboardInterrupt

    @property
    def exit_code(self) -> int:
        """Exit code that shells expect after a signal: 130 for Ctrl-C, 143 for SIGTERM."""
        return 128 + (self.came or signal.SIGINT)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        self.came = number
        raise KeyboardInterrupt


interrupts = Interrupts()
