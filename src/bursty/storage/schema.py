"""Classes declare how they are stored: a permanent name in files, and rules for their values.

    @storable("LDAHyperparameters", alpha=floats("K", above=0), beta=floats("n_words", above=0))
    @dataclass(frozen=True)
    class Hyperparameters: ...

A file contains only objects of registered classes. When it is read, `check` visits them all: named sizes are bound at
their first occurrence and must agree from then on, so that indices in compiled loops are in bounds. The rules:

| rule | value |
|---|---|
| `floats(*shape, low, above, high, sums)` | array of finite float64 in bounds, summing to one along the axis `sums` |
| `log_shares(*shape, high)` | array of logarithms of probabilities, minus infinity included |
| `integers(*shape, low, high, dtype)` | array of integers in [low, high), of this type if one is given |
| `index(size, *shape)` | integers in [0, size) |
| `flags(*shape)`, `items(*shape)` | array of booleans; array of anything |
| `number(low, high, above)`, `whole(low, high)` | one finite number, one integer, in bounds |
| `part(*kinds, **sizes)` | object of a registered class; ``sizes`` maps its sizes to ours |
| `parts(size, *kinds, **sizes)` | list of them |
| `maybe(rule)` | None, or a value that satisfies the rule |

A size is a number, a name such as ``"K"``, or a product of names such as ``"n_words*K"``; None allows any size.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from bursty.typing import Array

Size = int | str | None
Sizes = dict[str, int]
#: Function of a value, the known sizes, and the location for messages.
Rule = Callable[[Any, Sizes, str], None]
C = TypeVar("C", bound=type)

#: The largest number in a file: far above any parameter or sum, and its logarithms, products and sums are finite.
LARGEST = 1e100


class Mismatch(ValueError):
    """A value violates the declaration of its class."""


@dataclasses.dataclass(frozen=True)
class Declaration:
    """How a class is stored."""

    name: str
    kind: type
    rules: dict[str, Rule]
    check: Callable[[Any, Sizes], None] | None


_BY_NAME: dict[str, Declaration] = {}
_BY_KIND: dict[type, Declaration] = {}


def storable(_name: str, /, *, check: Callable[[Any, Sizes], None] | None = None, **rules: Rule) -> Callable[[C], C]:
    """Register a class under its name in files.

    ``rules`` are given by attribute, in the order of checking; ``check`` is called after them, with the object and the
    sizes, for conditions that rules cannot express.
    """

    def declare(kind: C) -> C:
        known = _BY_NAME.get(_name)
        if known is not None and (known.kind.__module__, known.kind.__qualname__) != (
            kind.__module__,
            kind.__qualname__,
        ):
            raise ValueError(f"the name {_name!r} is already used by {known.kind.__qualname__}: choose another")
        _BY_NAME[_name] = _BY_KIND[kind] = Declaration(_name, kind, rules, check)
        return kind

    return declare


def stored_classes() -> dict[str, type]:
    """The classes allowed in files, by name; objects of other classes are never created."""
    return {name: declaration.kind for name, declaration in _BY_NAME.items()}


def check(value: Any, sizes: Sizes, where: str = "it") -> None:
    """Check every registered object in a value; raises `Mismatch` if one violates its declaration."""
    declaration = _BY_KIND.get(type(value))
    if declaration is not None:
        _check_object(value, declaration, dict(sizes), where)
        return
    for name, item in _inside(value):
        check(item, sizes, f"{where}{name}")


def _check_object(value: Any, declaration: Declaration, sizes: Sizes, where: str) -> None:
    for name, rule in declaration.rules.items():
        if hasattr(value, name):  # attributes missing in older files are left to the class
            rule(getattr(value, name), sizes, f"{where}.{name}")
    if declaration.check is not None:
        declaration.check(value, sizes)
    for name, item in _inside(value):
        if name[1:] not in declaration.rules:
            check(item, {"n_words": sizes["n_words"]}, f"{where}{name}")


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    """Names and values of the children of a value."""
    if isinstance(value, dict):
        yield from ((f"[{key!r}]", item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        yield from ((f"[{number}]", item) for number, item in enumerate(value))
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield from ((f".{field.name}", getattr(value, field.name)) for field in dataclasses.fields(value))
    elif type(value) in _BY_KIND:
        yield from ((f".{name}", item) for name, item in vars(value).items())


# Rules ---------------------------------------------------------------------------------------------------------------


def floats(
    *shape: Size,
    low: float | None = None,
    above: float | None = None,
    high: float | None = None,
    sums: int | None = None,
) -> Rule:
    """Array of finite numbers."""

    def rule(value: Any, sizes: Sizes, where: str) -> None:
        _check_array(value, shape, sizes, where, "f")
        _expect(value.dtype == np.float64, where, f"is of type {value.dtype} instead of float64")
        _expect(bool(np.isfinite(value).all()), where, "has values that are not finite")
        _check_bounds(value, -LARGEST, np.nextafter(LARGEST, np.inf), where)
        _check_bounds(value, low, None if high is None else np.nextafter(high, np.inf), where)
        _expect(
            above is None or not value.size or bool(value.min() > above),
            where,
            f"has values that are not above {above}",
        )
        if sums is not None and value.size:
            _expect(bool(np.allclose(value.sum(axis=sums), 1.0, rtol=0, atol=1e-6)), where, "does not sum to one")

    return rule


def log_shares(*shape: Size, high: float = 1e-6) -> Rule:
    """Array of logarithms of probabilities, up to rounding errors, or up to ``high``; minus infinity is allowed."""

    def rule(value: Any, sizes: Sizes, where: str) -> None:
        _check_array(value, shape, sizes, where, "f")
        _expect(not np.isnan(value).any(), where, "has values that are not numbers")
        _expect(not value.size or bool(value.max() <= high), where, f"has values above {high}")

    return rule


def integers(*shape: Size, low: int | None = None, high: Size = None, dtype: str | None = None) -> Rule:
    """Array of integers in [low, high), of this type if one is given.

    Unsigned ones of 64 bits, whose sums with signed ones are no integers, must be asked for.
    """

    def rule(value: Any, sizes: Sizes, where: str) -> None:
        _check_array(value, shape, sizes, where, "iu")
        fits = value.dtype != np.uint64 if dtype is None else value.dtype == dtype
        _expect(fits, where, f"is of type {value.dtype} instead of {dtype or 'signed integers'}")
        _check_bounds(value, low, None if high is None else _resolve(high, sizes), where)

    return rule


def index(size: Size, *shape: Size, dtype: str | None = None) -> Rule:
    """Array of indices below a size; one-dimensional if no shape is given."""
    return integers(*(shape or (None,)), low=0, high=size, dtype=dtype)


def flags(*shape: Size) -> Rule:
    """Array of booleans."""
    return lambda value, sizes, where: _check_array(value, shape, sizes, where, "b")


def items(*shape: Size) -> Rule:
    """Array of anything."""
    return lambda value, sizes, where: _check_array(value, shape, sizes, where, "biufUSO")


def number(low: float = -LARGEST, high: float = LARGEST, above: float | None = None) -> Rule:
    """One finite number, within inclusive bounds, or above one that is excluded."""

    def rule(value: Any, sizes: Sizes, where: str) -> None:
        _expect(_is_number(value, int | float | np.integer | np.floating), where, "is not a number")
        _expect(math.isfinite(value), where, "is not finite")
        _expect(value >= low, where, f"is below {low}")
        _expect(value <= high, where, f"is above {high}")
        _expect(above is None or value > above, where, f"is not above {above}")

    return rule


def whole(low: int | None = 0, high: int = 2**63 - 1) -> Rule:
    """One integer, within inclusive bounds."""

    def rule(value: Any, sizes: Sizes, where: str) -> None:
        _expect(_is_number(value, int | np.integer), where, "is not an integer")
        _expect(low is None or value >= low, where, f"is below {low}")
        _expect(value <= high, where, f"is above {high}")

    return rule


def size(name: str) -> Rule:
    """One integer equal to this size."""

    def rule(value: Any, sizes: Sizes, where: str) -> None:
        whole()(value, sizes, where)
        _agree(int(value), name, sizes, where)

    return rule


def part(*kinds: type, **renamed: int | str) -> Rule:
    """Object of a registered class, of one of these kinds if any are given."""

    def rule(value: Any, sizes: Sizes, where: str) -> None:
        fits = type(value) in _BY_KIND and (not kinds or isinstance(value, kinds))
        _expect(fits, where, f"is of unexpected type {type(value).__name__}")
        known = {"n_words": sizes["n_words"]} | {inner: _resolve(outer, sizes) for inner, outer in renamed.items()}
        check(value, known, where)

    return rule


def parts(length: Size, *kinds: type, **renamed: int | str) -> Rule:
    """List of registered objects, of this length."""
    each = part(*kinds, **renamed)

    def rule(value: Any, sizes: Sizes, where: str) -> None:
        _expect(isinstance(value, list), where, "is not a list")
        _agree(len(value), length, sizes, where)
        for place, item in enumerate(value):
            each(item, sizes, f"{where}[{place}]")

    return rule


def maybe(rule: Rule) -> Rule:
    """None, or a value that satisfies the rule."""
    return lambda value, sizes, where: None if value is None else rule(value, sizes, where)


def expect_equal(value: Any, source: Any, what: str) -> None:
    """Raise an error if what an object keeps of a value for its users is not that value."""
    _expect(np.array_equal(value, source), what, "differs from what it was made of")


def _expect(fits: bool, where: str, problem: str) -> None:
    if not fits:
        raise Mismatch(f"{where} {problem}")


def _is_number(value: Any, kinds: Any) -> bool:
    return isinstance(value, kinds) and not isinstance(value, bool | np.bool_)


def _check_array(value: Any, shape: tuple[Size, ...], sizes: Sizes, where: str, kinds: str) -> None:
    _expect(isinstance(value, np.ndarray), where, f"is of type {type(value).__name__} instead of an array")
    _expect(value.dtype.kind in kinds, where, f"is an array of unexpected type {value.dtype}")
    _expect(value.ndim == len(shape), where, f"has {value.ndim} dimensions instead of {len(shape)}")
    for length, expected in zip(value.shape, shape, strict=True):
        _agree(length, expected, sizes, where)


def _check_bounds(value: Array, low: float | None, high: float | None, where: str) -> None:
    if not value.size:
        return
    _expect(low is None or bool(value.min() >= low), where, f"has values below {low}")
    _expect(high is None or bool(value.max() < high), where, "has values above the maximum")


def _agree(length: int, expected: Size, sizes: Sizes, where: str) -> None:
    """Check a length against the expected size; an unbound name is bound to it."""
    if isinstance(expected, str) and "*" not in expected:
        sizes.setdefault(expected, length)
    if expected is not None:
        wanted = _resolve(expected, sizes)
        _expect(length == wanted, where, f"has {length} values instead of {wanted} ({expected})")


def _resolve(expected: Size, sizes: Sizes) -> int:
    if isinstance(expected, str):
        return math.prod(sizes[name] for name in expected.split("*"))
    assert expected is not None
    return expected
