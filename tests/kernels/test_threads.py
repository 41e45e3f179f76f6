"""Work that is shared by threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from bursty.kernels import threads


def test_errors_of_any_thread_are_raised_and_all_ranges_run(monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    seen, here = set(), threading.get_ident()

    def fail_elsewhere(start, stop):
        seen.update(range(start, stop))
        if threading.get_ident() != here:
            failed.set()
            raise OSError("in a helper")
        failed.wait(60)

    failed = threading.Event()
    with threads.using(3), pytest.raises(OSError, match="in a helper"):
        threads.run(fail_elsewhere, np.arange(31))
    seen.clear()
    with threads.using(3):
        threads.run(lambda start, stop: seen.update(range(start, stop)), np.arange(31))
    assert seen == set(range(30))


@pytest.mark.parametrize("n_threads", [2, 3, 16])
def test_ranges_become_smaller(n_threads):
    work = 10**8
    goals = threads._goals(work, n_threads)
    sizes = np.diff([0, *goals, work])
    assert goals == sorted(goals)
    assert sizes[0] == pytest.approx(work / n_threads / 2)
    assert np.all(np.diff(sizes) <= sizes[-1] / 2)
    assert sizes[-1] < work / n_threads / 20
    assert threads._goals(30_000, 2) == [15_000]


def test_many_callers_at_once(monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    sums = np.zeros((40, 30))

    def call(number):
        def add(start, stop):
            sums[number, start:stop] += 1.0

        with threads.using(16):
            for _ in range(20):
                threads.run(add, np.arange(31))

    callers = [threading.Thread(target=call, args=(number,)) for number in range(len(sums))]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert np.all(sums == 20.0)
