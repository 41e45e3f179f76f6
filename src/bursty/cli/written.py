"""What bursty wrote to an output folder: a list of files there, each with its run and a digest of its content.

The next run into the folder removes what earlier runs wrote and it does not write, so that nothing is taken for its
result; a run that uses a model leaves the files of the run that fitted it. Files that were changed since, and files
that bursty did not write, are never removed.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from bursty.cli.messages import say

#: Name of the list.
LIST = ".bursty.json"
MODEL, REPORT = "model.bursty", "report.html"
_MARK = b'<meta name="generator" content="bursty">'


def list_files(staging: Path, folder: Path, names: Iterable[str], command: str) -> None:
    """Write the list of a folder beside the files of a run, which replace those of the same names."""
    run = secrets.token_hex(4)
    files = _listed(folder)
    files |= {name: {"run": run, "command": command, "sha256": _digest(staging / name)} for name in names}
    (staging / LIST).write_text(json.dumps({"files": files}, indent=1), encoding="utf-8")


def remove_stale(folder: Path, names: Collection[str]) -> None:
    """Remove the files of earlier runs, after a run has written these."""
    files = _listed(folder)
    fitted = files.get(MODEL, {}).get("run")
    others = [name for name in sorted(files) if MODEL in names or files[name]["run"] != fitted]
    stale = [name for name in others if name not in names]
    changed = [name for name in stale if _digest(folder / name) != files[name]["sha256"]]
    removed = [name for name in stale if name not in changed]
    page = folder / REPORT
    if MODEL in names and not {REPORT} & {*names, *files} and page.is_file() and _MARK in page.read_bytes()[:4096]:
        removed.append(REPORT)  # made by `bursty report`, or before there were lists
    for name in removed:
        (folder / name).unlink()
    if removed:
        say(f"removed {', '.join(removed)} of an earlier run from {folder}")
    if changed:
        which = "it" if len(changed) == 1 else "them"
        say(f"kept {', '.join(changed)} in {folder}: changed since an earlier run wrote {which}")


def _listed(folder: Path) -> dict[str, dict[str, Any]]:
    """The files of a list that are still in the folder; none if there is no list that can be read."""
    try:
        files = json.loads((folder / LIST).read_text(encoding="utf-8"))["files"]
        return {name: dict(file) for name, file in files.items() if _is_listed(folder, name, file)}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}


def _is_listed(folder: Path, name: str, file: Any) -> bool:
    whole = isinstance(file, dict) and all(isinstance(file.get(key), str) for key in ("run", "command", "sha256"))
    path = folder / name
    return whole and path.name == name and path.is_file() and not path.is_symlink()


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
