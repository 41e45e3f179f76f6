from __future__ import annotations

import frozen


def test_only_what_keeps_count_can_be_changed():
    assert frozen.changeable("bursty.corpus") == {"Entries", "_Elements"}
