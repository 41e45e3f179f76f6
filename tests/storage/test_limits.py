"""Limits on files, in numbers: what docs/bad-input.md promises."""

from __future__ import annotations

import resource
from pathlib import Path

import pytest

from bursty.storage import limits
from bursty.storage.limits import Budget


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("8GB", 8 * 10**9),
        ("512 MiB", 2**29),
        ("1000", 1000),
        ("1.5k", 1500),
        ("7b", 7),
        ("3M", 3 * 10**6),
        ("2T", 2 * 10**12),
        ("3KiB", 3 * 2**10),
        ("3GiB", 3 * 2**30),
        ("2TiB", 2**41),
        (1, 1),
    ],
)
def test_sizes(text, size):
    assert limits.parse_size(text) == size


@pytest.fixture
def unlimited(monkeypatch):
    monkeypatch.setattr(limits, "free_memory", lambda: None)
    monkeypatch.delenv(limits.VARIABLE, raising=False)


@pytest.mark.usefixtures("unlimited")
def test_a_file_may_take_256_mib_or_200_times_its_size():
    assert Budget("small", 1).limit == 268_435_456
    large = Budget("large", 10**7)
    assert (large.limit, large.memory, large.longest) == (2 * 10**9, 2 * 10**9, 2 * 10**9 // 24)
    large.spend(2 * 10**9)
    with pytest.raises(ValueError, match="expands to more than 2,000,000,000"):
        large.spend(1)
    large.hold(2 * 10**9, "it")
    with pytest.raises(ValueError, match="it needs about 2,000,000,001 bytes"):
        large.hold(2 * 10**9 + 1, "it")


@pytest.mark.usefixtures("unlimited")
def test_documents_or_words_that_a_header_claims():
    limits.check_claim(2_097_152, 0, "file", "words")
    limits.check_claim(64 * 10**6, 10**6, "file", "words")
    for size, n_entries in ((2_097_153, 0), (64 * 10**6 + 1, 10**6)):
        with pytest.raises(ValueError, match=f"claims {size:,} words but has {n_entries:,} counts"):
            limits.check_claim(size, n_entries, "file", "words")


def test_a_limit_of_the_user_takes_the_place_of_both(monkeypatch):
    monkeypatch.setattr(limits, "free_memory", lambda: 1_000)
    monkeypatch.delenv(limits.VARIABLE, raising=False)
    assert Budget("file", 10).memory == 1_000
    with limits.raised("5k"):
        assert (Budget("file", 10).limit, Budget("file", 10).memory) == (5_000, 5_000)
        with limits.raised(None):
            assert Budget("file", 10).limit == 5_000
        limits.check_claim(39, 0, "file", "words")
        with pytest.raises(ValueError, match="claims 40 words"):
            limits.check_claim(40, 0, "file", "words")
    monkeypatch.setenv(limits.VARIABLE, "6k")
    assert Budget("file", 10).limit == 6_000
    limits.check_memory(limits.FLOOR, "it", "")  # too little to ask
    with pytest.raises(ValueError, match="it needs about 268,435,457 bytes of memory, and 6,000 are free: less"):
        limits.check_memory(limits.FLOOR + 1, "it", "less")


def test_memory_that_a_process_may_take(monkeypatch):
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (used + 10**9, used + 10**9))
    assert limits._of_process() == pytest.approx(10**9, abs=2 * 10**8)
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert limits._of_process() is None


def test_memory_of_the_machine_and_of_a_container(monkeypatch, tmp_path):
    files = {
        "/proc/meminfo": "MemFree: 1 kB\nMemAvailable: 3000 kB\n",
        "/sys/fs/cgroup/memory.max": "max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9000",
        "/sys/fs/cgroup/memory/memory.usage_in_bytes": "4000",
        "/sys/fs/cgroup/memory/memory.stat": "cache 7\ntotal_inactive_file 500\n",
    }

    def read_text(path):
        try:
            return files[str(path)]
        except KeyError:
            raise FileNotFoundError(path) from None

    monkeypatch.setattr(Path, "read_text", read_text)
    monkeypatch.setattr(limits, "_of_process", lambda: None)
    assert limits._of_machine() == 3_072_000
    assert limits._of_container() == 5_500
    assert limits.free_memory() == 5_500
    files |= {"/sys/fs/cgroup/memory.max": "8000", "/sys/fs/cgroup/memory.current": "9000"}
    assert (limits._of_container(), limits.free_memory()) == (-1_000, 0)
