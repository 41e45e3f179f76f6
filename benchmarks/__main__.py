"""All tables of the foundation, one after the other."""

from __future__ import annotations

from benchmarks import families, passes, start

for benchmark in (start, families, passes):
    benchmark.main()
