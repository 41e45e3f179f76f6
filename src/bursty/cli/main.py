"""The command: arguments in, exit code out.

| code | meaning |
|---|---|
| 0 | done |
| 1 | failed: the disk is full, memory ran out, a bug |
| 2 | invalid arguments or input; one line on stderr says what to do |
| 130, 143, 129 | stopped: Ctrl-C, SIGTERM, SIGHUP |
"""

from __future__ import annotations

import errno
import os
import re
import shlex
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from bursty.cli.messages import in_flags, interrupts, plain_warnings, printable
from bursty.cli.results import COMMAND

_INPUT_ERRORS = (ValueError, TypeError, FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError)
# Of names that no file can have: too long, links that lead in a circle.
_PATH_ERRORS = (errno.ENAMETOOLONG, errno.ELOOP)


def main() -> NoReturn:
    """Run the command line of this process, and exit."""
    _open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # standard streams have it
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _close_stdout()
    sys.exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run these arguments and return the exit code."""
    debug = "--debug" in arguments
    COMMAND.set(shlex.join(["bursty", *arguments]))
    try:
        with interrupts.watched(), plain_warnings():
            return _call([argument for argument in arguments if argument != "--debug"])
    except KeyboardInterrupt:
        _complain("stopped")
        return interrupts.exit_code
    except BrokenPipeError:
        _close_stdout()
        return 0
    except Exception as error:
        if debug:
            traceback.print_exc()
        return _explain(error)


def _call(arguments: list[str]) -> int:
    import typer

    from bursty.cli.app import app

    if "_BURSTY_COMPLETE" in os.environ:
        app(arguments, prog_name="bursty")
    empty = next((argument for argument in arguments if not argument or re.fullmatch("--[a-z-]+=", argument)), None)
    if empty is not None:  # as a path it would be the current directory
        raise ValueError(f"the argument {empty!r} is empty: is a variable of the shell not set?")
    command = typer.main.get_command(app)
    try:
        with command.make_context("bursty", arguments or ["--help"]) as context:
            command.invoke(context)
    except typer.Exit as done:
        return int(done.exit_code)
    return 0


def _explain(error: Exception) -> int:
    """Print an error in one line, and return the exit code."""
    if hasattr(error, "format_message"):
        return _explain_usage(error)
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        text = f"{place}{error.strerror}"
    else:
        text = str(error) or type(error).__name__
    if isinstance(error, _INPUT_ERRORS) or getattr(error, "errno", None) in _PATH_ERRORS:
        _complain(in_flags(text))
        return 2
    if isinstance(error, MemoryError):
        text = "out of memory: reduce the number of words (--min-df) or of documents"
    elif not isinstance(error, OSError):
        text = f"{type(error).__name__}: {text} (--debug shows where)"
    _complain(f"failed: {text}")
    return 1


def _explain_usage(error: Exception) -> int:
    """Print typer's error about the arguments; without arguments only the help is shown."""
    context = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError":
        return 2
    hint = f" (see '{context.command_path} --help')" if context is not None else ""
    _complain(error.format_message().rstrip(".") + hint)  # type: ignore[attr-defined]  # errors of click have it
    return int(getattr(error, "exit_code", 2))


def _complain(text: str) -> None:
    print(f"bursty: {printable(' '.join(text.split()))}", file=sys.stderr, flush=True)


def _open_closed_streams() -> None:
    """Connect standard streams that were closed to the null device, before another file gets their numbers."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(handle)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8"))  # noqa: SIM115 - until the process ends


def _close_stdout() -> None:
    """The reader of our output has closed the pipe: discard the rest without an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
