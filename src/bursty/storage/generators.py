"""NumPy random generators as plain values that restore the same stream."""

from __future__ import annotations

from typing import Any

import numpy as np

_STREAMS: dict[str, Any] = {
    kind.__name__: kind for kind in (np.random.PCG64, np.random.PCG64DXSM, np.random.SFC64, np.random.MT19937)
}


def take(generator: np.random.Generator | np.random.RandomState) -> dict[str, Any]:
    """The state of a generator, as a dictionary of numbers and arrays."""
    if isinstance(generator, np.random.Generator):
        state = dict(generator.bit_generator.state)
        if state["bit_generator"] not in _STREAMS:
            raise TypeError(f"a generator of kind {state['bit_generator']} cannot be stored: use numpy's default_rng")
        return state
    legacy = dict(generator.get_state(legacy=False))
    if legacy["bit_generator"] != "MT19937":
        raise TypeError(f"a RandomState of kind {legacy['bit_generator']} cannot be stored: use numpy's default_rng")
    return legacy


def make_generator(state: dict[str, Any]) -> np.random.Generator:
    """The generator from the result of `take`; `ValueError` for an invalid state."""
    kind = _STREAMS.get(state.get("bit_generator", ""))
    if kind is None:
        raise ValueError(f"random generators of kind {state.get('bit_generator')!r} are unknown")
    _check_position(state)
    stream = kind(0)
    stream.state = state
    return np.random.Generator(stream)


def make_random_state(state: dict[str, Any]) -> np.random.RandomState:
    """The RandomState from the result of `take`; `ValueError` for an invalid state."""
    if state.get("bit_generator") != "MT19937":
        raise ValueError("the state of a RandomState must be of kind MT19937")
    _check_position(state)
    generator = np.random.RandomState(0)
    generator.set_state(state)
    return generator


def _check_position(state: dict[str, Any]) -> None:
    """Check the position of MT19937: NumPy does not, and would read outside its memory."""
    if state["bit_generator"] == "MT19937" and not 0 <= int(state["state"]["pos"]) <= 624:
        raise ValueError("the position of the random generator is out of bounds")
