"""Memory of a GPU and launches of kernels, for the versions of functions that run there.

Allocating and freeing memory of a GPU waits for all running kernels. Therefore arrays that are no longer used leave
their memory to the next array of the same size; it is freed if memory runs out.
"""

from __future__ import annotations

import math
import weakref
from collections import defaultdict
from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from typing import Any

import numba
import numpy as np
from numba import cuda

from bursty.engines.cuda import out_of_memory
from bursty.kernels.cuda import sums, urns
from bursty.kernels.cuda.lanes import SIMULATED
from bursty.typing import Array

# Threads of a block where nothing is said.
_THREADS = 128
# Memory that is not in use, by number of bytes.
_unused: dict[int, list[Any]] = defaultdict(list)
# Memory of this process that a GPU can write to at any time and that is not in use, by shape and type.
_pinned: dict[tuple[Any, str], list[Any]] = defaultdict(list)


def launch(kernel: Any, n_items: int, *args: Any, stream: Any = 0) -> None:
    """A thread for each item."""
    launch_blocks(kernel, -(-n_items // _THREADS), _THREADS, *args, stream=stream)


def launch_blocks(
    kernel: Any, n_blocks: int, n_threads: int, *args: Any, stream: Any = 0, shared_bytes: int = 0
) -> None:
    """Blocks of threads, which may have shared memory."""
    if n_blocks:
        kernel[n_blocks, n_threads, stream, shared_bytes](*map(_as_argument, args))


class _Argument(cuda.In):  # type: ignore[name-defined]  # the types are those of Numba's own
    """An array on the GPU, whose address and shape are looked up for its first kernel only."""

    @property
    def _numba_type_(self) -> Any:
        return self.value._numba_type_

    def to_device(self, retr: list[Any], stream: Any = 0) -> Any:
        known = self.value.__dict__
        if "_known_view" not in known:
            view = super().to_device(retr, stream)
            if view is self.value:  # it would never be freed
                return view
            known["_known_view"] = view
        return known["_known_view"]


def _as_argument(value: Any) -> Any:
    if isinstance(value, np.ndarray):  # Numba would copy it back, too
        value = on_card(value)
    return value if SIMULATED or not hasattr(value, "copy_to_host") else _Argument(value)


def empty(shape: Any, dtype: Any) -> Any:
    """An array on the GPU; its memory is used again once nothing refers to it (views of it do not count)."""
    # Without NumPy, whose functions take longer than a kernel to launch.
    dtype, shape = np.dtype(dtype), tuple(int(n) for n in (shape if isinstance(shape, tuple) else (shape,)))
    unused = _unused[math.prod(shape) * dtype.itemsize]
    array, memory = _on_memory(unused.pop(), shape, dtype) if unused else _allocate(shape, dtype)
    weakref.finalize(array, unused.append, memory).atexit = False
    return array


def _on_memory(memory: Any, shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
    """An array on memory that is not in use, and that memory."""
    arrays: Any = cuda.simulator.cudadrv.devicearray if SIMULATED else cuda.cudadrv.devicearray
    if SIMULATED:
        return arrays.FakeCUDAArray(memory.view(dtype).reshape(shape)), memory
    strides = tuple(dtype.itemsize * math.prod(shape[i + 1 :]) for i in range(len(shape)))
    array = arrays.DeviceNDArray(shape, strides, dtype, gpu_data=memory)
    array.__dict__["_numba_type_"] = _type_of(dtype, len(shape))
    return array, memory


@lru_cache
def _type_of(dtype: Any, n_dimensions: int) -> Any:
    """The type that a kernel sees, which takes longer to find than a kernel to launch."""
    return numba.types.Array(numba.from_dtype(dtype), n_dimensions, "C")


def _allocate(shape: tuple[int, ...], dtype: Any) -> tuple[Any, Any]:
    """An array on new memory, after freeing what is not in use if that is needed, and that memory."""
    if SIMULATED:  # as the memory of a GPU: not cleared
        return _on_memory(np.full(math.prod(shape) * dtype.itemsize, 255, dtype=np.uint8), shape, dtype)
    try:
        array = cuda.device_array(shape, dtype)
    except cuda.cudadrv.driver.CudaAPIError:
        free_unused()
        try:
            array = cuda.device_array(shape, dtype)
        except cuda.cudadrv.driver.CudaAPIError:
            raise out_of_memory(math.prod(shape) * dtype.itemsize, "a table needs") from None
    return array, array.gpu_data


def free_unused() -> None:
    """Free memory that is not in use."""
    _unused.clear()


def zeros(shape: tuple[int, ...], dtype: Any) -> Any:
    """The same, cleared."""
    table = empty(shape, dtype)
    launch(sums.clear, table.size, table.reshape(table.size) if table.ndim > 1 else table)
    return table


def on_card(values: Any) -> Any:
    """An array on the GPU, copied if it is not there."""
    if isinstance(values, CardMatrix):
        return values.array
    return values if hasattr(values, "copy_to_host") else copied(values)


def copied(values: Any) -> Any:
    """An array on the GPU that may be changed."""
    values = values if hasattr(values, "copy_to_host") else np.ascontiguousarray(values)  # strides of one row are any
    copy = empty(values.shape, values.dtype)
    if values.size:
        copy.copy_to_device(values if values.strides == copy.strides else values.copy())
    return copy


class Later:
    """A small array that is copied to this process as soon as it is there, while the GPU goes on with what follows."""

    _event: Any = None

    def __init__(self, array: Any) -> None:
        if SIMULATED:
            self._copy = array.copy_to_host()
            return
        stream, self._event = cuda.legacy_default_stream(), cuda.event(timing=False)  # type: ignore[call-arg]  # the simulator has none
        unused = _pinned[array.shape, array.dtype.str]
        self._copy = unused.pop() if unused else cuda.pinned_array(array.shape, array.dtype)
        array.copy_to_host(self._copy, stream=stream)
        self._event.record(stream)

    @cached_property
    def value(self) -> Array:
        """Waits until it is there."""
        if self._event is None:
            return self._copy
        self._event.synchronize()
        found = self._copy.copy()
        _pinned[found.shape, found.dtype.str].append(self._copy)
        return found


def column_sums(values: Any) -> Any:
    """Sums over the rows, on the GPU, in one order of adding."""
    while len(values) > 1:
        out = empty((-(-values.shape[0] // sums.BLOCK), values.shape[1]), np.float64)
        launch(sums.add_blocks, out.size, values, out)
        values = out
    return values


def host_sums(values: Any) -> Array:
    """Sums over the rows, in this process."""
    return np.asarray(column_sums(values).copy_to_host()[0])


class CardMatrix(np.lib.mixins.NDArrayOperatorsMixin):
    """A table on the GPU, in double precision, with the arithmetic of statistics and parameters: rows x components.

    It can be added to another table or to a number for each row, and multiplied or divided by a number for each column;
    sums of columns are in this process. NumPy makes a copy there of it where it can do nothing else.
    """

    def __init__(self, array: Any) -> None:
        self.array, self.shape, self.ndim = array, array.shape, array.ndim

    def __len__(self) -> int:
        return int(self.shape[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.copy_to_host(), dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        left, right = inputs if len(inputs) == 2 else (None, None)
        if method != "__call__" or options or not isinstance(left, CardMatrix) or ufunc not in _ARITHMETIC:
            return NotImplemented
        return CardMatrix(_ARITHMETIC[ufunc](left, right, empty(self.shape, np.float64)))

    def copy_to_host(self) -> Array:
        """In this process."""
        return np.asarray(self.array.copy_to_host())

    def sum(self, axis: int) -> Array:
        """Sums of the columns, in this process."""
        if axis != 0:
            raise ValueError(f"tables on a GPU are summed over axis 0, not {axis}")
        return host_sums(self.array)


def _add(left: CardMatrix, right: Any, out: Any) -> Any:
    if isinstance(right, CardMatrix):
        launch(sums.add_tables, out.size, left.array, right.array, out)
    else:
        column = np.broadcast_to(right, (len(left), 1))[:, 0]
        launch(urns.add_column, out.size, left.array, on_card(column), out)
    return out


def _scaled(left: CardMatrix, right: Any, out: Any, is_quotient: bool = False) -> Any:
    factors = on_card(np.broadcast_to(np.asarray(right, dtype=np.float64), left.shape[1:]))
    launch(urns.scale_columns, out.size, left.array, factors, is_quotient, out)
    return out


_ARITHMETIC: dict[Any, Callable[..., Any]] = {
    np.add: _add,
    np.multiply: _scaled,
    np.true_divide: partial(_scaled, is_quotient=True),
}
