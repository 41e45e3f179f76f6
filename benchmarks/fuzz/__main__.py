"""Arguments of the fuzzer; see the package."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import benchmarks.fuzz
from benchmarks.fuzz.run import Outcome, fuzz, report, say
from benchmarks.fuzz.targets import targets, warm_up


def main() -> int:
    parser = argparse.ArgumentParser(
        description=benchmarks.fuzz.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0, help="stop after this time")
    parser.add_argument(
        "--mutations", type=int, default=10_000, help="per container format; half as many of the others"
    )
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("formats", nargs="*", help="only these")
    options = parser.parse_args()
    chosen = [target for target in targets() if not options.formats or target.name in options.formats]
    for target in chosen:
        with tempfile.TemporaryDirectory() as folder:
            warm_up(target, Path(folder))
    deadline = time.monotonic() + 60.0 * options.minutes
    outcomes = {target.name: Outcome() for target in chosen}
    seeds, told = dict.fromkeys(outcomes, options.first), dict.fromkeys(outcomes, 0)
    share = max(1, options.mutations // 10)
    while time.monotonic() < deadline:
        open_ones = []
        for target in chosen:
            last = options.first + (options.mutations if target.container else options.mutations // 2)
            if seeds[target.name] < last:
                open_ones.append(target)
                stop = min(last, seeds[target.name] + share)
                seeds[target.name] = fuzz(target, seeds[target.name], stop, deadline, outcomes[target.name])
                done = outcomes[target.name]
                for seed, kind, text in done.faults[told[target.name] :]:
                    say(f"{target.name} seed {seed}: {kind}: {text}")
                told[target.name] = len(done.faults)
                say(f"{target.name}: {done.n_tried:,} tried, {len(done.faults)} faults")
        if not open_ones:
            break
    print(report(outcomes))
    return int(any(outcome.faults for outcome in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
