"""bursty beside other libraries: one harness for all comparisons.

A `Case` names the work, the contenders, the data and the columns. `run` lets every contender work once per round, in
turn, so that a slow minute of the machine meets all of them; it gives medians with their range and, of times, ratios to
the first contender within each round. `python -m benchmarks.peers` prints the tables and writes one JSON file per case,
from which the documentation makes its page.

A new case is a module in this folder with a list `CASES`, and its line in `MODULES` of ``__main__.py``.
"""
