"""``python -m benchmarks.peers [CASE ...] [--short]``: compare, print tables, write JSON."""

from __future__ import annotations

import argparse
import importlib
import logging
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

from benchmarks.peers.harness import RESULTS, Case, memory, run, show, write

MODULES = ("classification", "clustering", "topics", "families", "tables")


def cases() -> dict[str, Case]:
    """All cases by name."""
    modules = (importlib.import_module(f"benchmarks.peers.{name}") for name in MODULES)
    return {case.name: case for module in modules for case in module.CASES}


def main() -> None:
    known = cases()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"some of: {', '.join(known)} (default: all)")
    parser.add_argument("--short", action="store_true", help="small data, one round, without the slowest")
    parser.add_argument("--rounds", type=int, help="rounds, in the place of the case's own")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the JSON files")
    parser.add_argument("--memory", metavar="CONTENDER", help="only print how much memory it takes in one case, MiB")
    arguments = parser.parse_args()
    if unknown := set(arguments.cases) - set(known):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    warnings.simplefilter("ignore", ConvergenceWarning)
    logging.disable(logging.INFO)  # lda and gensim tell all they do
    if arguments.memory:
        print(memory(known[arguments.cases[0]], arguments.memory, short=arguments.short))
        return
    for name in arguments.cases or known:
        result = run(known[name], short=arguments.short, rounds=arguments.rounds)
        show(result)
        write(result, arguments.out)


if __name__ == "__main__":
    main()
