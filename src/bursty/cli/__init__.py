"""The command line: arguments go to the public functions of the library, what these give to the terminal and to files.

There is no mathematics here. `app` names the verbs; `options` are those that verbs share; `delivery` puts results on
stdout and into a folder, all or nothing; `main` turns errors into one line and an exit code. Modules import the
library inside their functions, so that ``bursty --help`` is quick.

This folder may import everything else of the package; nothing imports it.
"""

from __future__ import annotations

from bursty.cli.main import main, run

__all__ = ["main", "run"]
