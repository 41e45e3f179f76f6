"""``python -m bursty`` is the command line where the script `bursty` is not on the path."""

from __future__ import annotations

from bursty.cli import main

if __name__ == "__main__":
    main()
