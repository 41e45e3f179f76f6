"""Rules that classes declare for their values."""

from __future__ import annotations

import numpy as np
import pytest

from bursty.storage.schema import (
    Mismatch,
    check,
    floats,
    index,
    integers,
    log_shares,
    maybe,
    number,
    part,
    parts,
    size,
    storable,
    whole,
)


class Toy:
    """Something to declare rules for."""

    def __init__(self, **values):
        vars(self).update(values)


@storable("test Toy", a=floats("K", low=0, high=1), b=maybe(index("K", None)), n=size("K"), c=integers("n_words*K"))
class Declared(Toy):
    pass


@storable("test Outer", inner=part(Declared, K="M"), more=parts("M", Declared, K="M"), x=number(low=0), y=whole())
class Outer(Toy):
    pass


def declared(k=2, **values):
    sound = {"a": np.full(k, 0.5), "b": None, "n": k, "c": np.zeros(3 * k, dtype=int)}
    return Declared(**sound | values)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (declared(), None),
        (declared(a=np.ones(2)), None),
        (declared(b=np.array([0, 1, 1])), None),
        (declared(a=np.ones(3)), r"it.n has 2 values instead of 3"),
        (declared(a=np.array([1.0, 1.5])), "it.a has values above"),
        (declared(a=np.array([1.0, -0.5])), "it.a has values below 0"),
        (declared(a=np.array([1.0, np.nan])), "it.a has values that are not finite"),
        (declared(a=np.ones(2, dtype=np.float32)), "float32 instead of float64"),
        (declared(a=[1.0, 1.0]), "list instead of an array"),
        (declared(a=np.ones((2, 1))), "2 dimensions instead of 1"),
        (declared(b=np.array([0, 2])), "it.b has values above"),
        (declared(b=np.array([-1])), "it.b has values below"),
        (declared(b=np.array([0.0])), "array of unexpected type float64"),
        (declared(n=True), "it.n is not an integer"),
        (declared(a=np.array([1.0, -1e200])), "it.a has values below"),
        (declared(b=np.zeros(2, dtype=np.uint64)), "uint64 instead of signed integers"),
        (declared(c=np.zeros(5, dtype=int)), r"5 values instead of 6 \(n_words\*K\)"),
    ],
)
def test_rules(value, message):
    if message is None:
        check(value, {"n_words": 3})
    else:
        with pytest.raises(Mismatch, match=message):
            check(value, {"n_words": 3})


def test_parts_inherit_the_sizes_they_are_given():
    def outer(**values):
        sound = {"inner": declared(), "more": [declared(), declared()], "x": 1.0, "y": 0}
        return Outer(**sound | values)

    sizes = {"n_words": 3, "M": 2}
    check(outer(), sizes)
    for values, message in (
        ({"inner": declared(3)}, r"it.inner.a has 3 values instead of 2"),
        ({"inner": 7}, "it.inner is of unexpected type int"),
        ({"more": [declared()]}, "it.more has 1 values instead of 2"),
        ({"more": [declared(), declared(1)]}, r"it.more\[1\].a has 1 values"),
        ({"x": np.inf}, "it.x is not finite"),
        ({"x": -1.0}, "it.x is below 0"),
        ({"x": 1e200}, r"it.x is above 1e\+100"),
        ({"y": 1.5}, "it.y is not an integer"),
        ({"y": 2**70}, "it.y is above"),
    ):
        with pytest.raises(Mismatch, match=message):
            check(outer(**values), sizes)


def test_a_name_belongs_to_one_class():
    with pytest.raises(ValueError, match="is already used by"):
        storable("test Toy")(Toy)


@pytest.mark.parametrize(
    ("rule", "sound", "wrong"),
    [
        (number(low=0), (0, 0.0, 1e100), (-1e-9, 2e100, np.nan, True, "1", None)),
        (number(0.0, 1.0), (0.0, 1.0, np.float32(0.5)), (-0.1, 1.1)),
        (number(above=0), (1e-300, 1), (0, 0.0, -1.0)),
        (whole(), (0, 2**63 - 1, np.int8(3)), (-1, 2**63, 1.0, False)),
        (whole(None), (-5, 0), (2**63,)),
        (whole(1, 3), (1, 3), (0, 4)),
    ],
)
def test_numbers_at_their_bounds(rule, sound, wrong):
    for value in sound:
        rule(value, {}, "it")
    for value in wrong:
        with pytest.raises(Mismatch, match=r"^it is "):
            rule(value, {}, "it")


def test_arrays_at_their_bounds():
    floats(None, low=0, high=1)(np.array([0.0, 1.0]), {}, "it")
    floats(None, low=0)(np.empty(0), {}, "it")
    index("K", None)(np.array([0, 2]), {"K": 3}, "it")
    for value, message in (([0, 3], "above"), ([-1, 0], "below")):
        with pytest.raises(Mismatch, match=message):
            index("K", None)(np.array(value), {"K": 3}, "it")


@pytest.mark.parametrize(
    ("rule", "sound", "wrong"),
    [
        (log_shares(None), ([-np.inf, -3.0, 0.0], [5e-7], []), ([2e-6], [np.nan])),
        (log_shares(None, high=1.0), ([1.0],), ([1.1],)),
        (floats(None, sums=0), ([0.5, 0.5], [0.5, 0.5 + 5e-7], []), ([0.5, 0.5 + 2e-6], [1.0, 1.0])),
        (floats(None, above=0), ([1e-300], []), ([0.0, 1.0], [-1.0])),
        (integers(None, low=2), (np.array([2]),), (np.array([1]), np.array([1, 5]))),
        (integers(None, dtype="uint64"), (np.array([2**63], dtype=np.uint64),), (np.array([1]),)),
    ],
)
def test_shares_sums_and_types(rule, sound, wrong):
    for value in sound:
        rule(np.asarray(value), {}, "it")
    for value in wrong:
        with pytest.raises(Mismatch, match=r"^it "):
            rule(np.asarray(value), {}, "it")
