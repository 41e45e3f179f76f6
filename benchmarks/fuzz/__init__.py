"""Files that are damaged, or lie, by the thousand: ``python -m benchmarks.fuzz --minutes 30``.

`mutations` changes bytes, and the parts of containers so that their checksums are right again; `seeds` makes one small
valid file of each format; `targets` opens what came out and uses it; `run` does so in child processes with limits and
counts what went wrong: a crash, more than ten seconds, memory above the budget, an exception that is not our
`ValueError`, something accepted that cannot be used.
"""
