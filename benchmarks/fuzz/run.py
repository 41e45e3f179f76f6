"""Mutations in child processes with limits of time and memory; what went wrong is counted and named by its seed."""

from __future__ import annotations

import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.fuzz.targets import Target, attempt

#: Seconds that one file may take.
LIMIT_SECONDS = 10.0
#: Bytes that one small file may take above what the process had.
LIMIT_MEMORY = 2**30
#: Mutations that one child tries.
BATCH = 400


@dataclass
class Outcome:
    """How often what happened, and the seeds of what should not have."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[int, str, str]] = field(default_factory=list)

    @property
    def n_tried(self) -> int:
        """Number of mutations."""
        return sum(self.counts.values())

    def note(self, seed: int, kind: str, text: str) -> None:
        """Count one."""
        self.counts[kind] += 1
        if kind not in ("refused", "accepted"):
            self.faults.append((seed, kind, " ".join(text.split())[:300]))


def fuzz(target: Target, first: int, last: int, deadline: float, outcome: Outcome) -> int:
    """Try the seeds from first to before last; the seed to go on with."""
    seed = first
    while seed < last and time.monotonic() < deadline:
        seed = _child(target, seed, min(last, seed + BATCH), deadline, outcome)
    return seed


def _child(target: Target, first: int, last: int, deadline: float, outcome: Outcome) -> int:
    """One child for these seeds; it ends early where a seed ends it."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        try:
            _try_all(target, first, last, deadline, writing)
        finally:
            os._exit(0)
    os.close(writing)
    seed, ended, used, waited = first, "", _processor_time(pid), 0.0
    with os.fdopen(reading, "rb") as pipe:
        while True:
            ready, _, _ = select.select([pipe], [], [], 1.0)
            if not ready:
                waited += 1.0
                if _processor_time(pid) - used > LIMIT_SECONDS or waited > 12 * LIMIT_SECONDS:
                    os.kill(pid, signal.SIGKILL)
                    ended = "hang"
                    break
                continue
            line = pipe.readline()
            if not line:
                break
            seed, kind, text = json.loads(line)
            outcome.note(seed, kind, text)
            seed, used, waited = seed + 1, _processor_time(pid), 0.0
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if ended or code != 0:
        outcome.note(seed, ended or "crash", f"ended with {code}")
        seed += 1
    return seed


def _processor_time(pid: int) -> float:
    """Seconds of the processor, which a busy machine does not lengthen."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _try_all(target: Target, first: int, last: int, deadline: float, pipe: int) -> None:
    with open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 4 * LIMIT_MEMORY,) * 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
    try:
        for seed in range(first, last):
            if time.monotonic() > deadline:
                return
            place = folder / "file"
            place.mkdir()
            before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.thread_time()
            kind, text = attempt(target, place, seed)
            taken = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
            if taken > LIMIT_MEMORY:
                kind, text = "memory", f"{taken:,} bytes"
            elif time.thread_time() - began > LIMIT_SECONDS:
                kind, text = "hang", "more than ten seconds"
            os.write(pipe, (json.dumps([seed, kind, text]) + "\n").encode())
            shutil.rmtree(place)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def report(outcomes: dict[str, Outcome]) -> str:
    """A table in Markdown, and the faults."""
    lines = ["| format | mutations | refused | accepted and sound | faults |", "|---|---|---|---|---|"]
    for name, outcome in outcomes.items():
        counts = outcome.counts
        lines.append(
            f"| {name} | {outcome.n_tried:,} | {counts['refused']:,} | {counts['accepted']:,} | {len(outcome.faults)} |"
        )
    for name, outcome in outcomes.items():
        shown = Counter((kind, text) for _, kind, text in outcome.faults)
        for (kind, text), times in shown.most_common(40):
            seed = next(s for s, k, t in outcome.faults if (k, t) == (kind, text))
            lines.append(f"{name} seed {seed} ({times} times): {kind}: {text}")
    return "\n".join(lines)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
