"""The command line: passes arguments to the public functions of the library, and their results to terminal and files.

There is no mathematics here. `app` lists the verbs; `options` holds the options they share; `results` prints results to
stdout and writes them to a folder, all or nothing; `main` turns errors into one line and an exit code. Modules import
the library inside their functions, so that ``bursty --help`` is quick.

This folder may import everything else of the package; nothing imports it.
"""

from __future__ import annotations

from bursty.cli.main import main, run

__all__ = ["main", "run"]
