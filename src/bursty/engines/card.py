"""Memory of a GPU and launches of kernels, for the versions of functions that run there.

Allocating and freeing memory of a GPU waits for all running kernels. Therefore arrays that are no longer used leave
their memory to the next array of the same size; it is freed if memory runs out.
"""

from __future__ import annotations

import weakref
from collections import defaultdict
from typing import Any

import numpy as np
from numba import cuda

from bursty.engines.cuda import out_of_memory
from bursty.kernels.cuda import sums
from bursty.kernels.cuda.lanes import SIMULATED

Array = np.ndarray[Any, Any]

# Threads of a block where nothing is said.
_THREADS = 128
# Memory that is not in use, by number of bytes.
_unused: dict[int, list[Any]] = defaultdict(list)


def launch(kernel: Any, n_items: int, *args: Any, stream: Any = 0) -> None:
    """A thread for each item."""
    if n_items:
        kernel[-(-n_items // _THREADS), _THREADS, stream](*args)


def empty(shape: Any, dtype: Any) -> Any:
    """An array on the GPU; its memory is used again once nothing refers to it (views of it do not count)."""
    if SIMULATED:
        return cuda.device_array(shape, dtype)
    dtype, shape = np.dtype(dtype), tuple(np.atleast_1d(shape).tolist())
    unused = _unused[int(np.prod(shape)) * dtype.itemsize]
    if unused:
        memory = unused.pop()
        strides = tuple(dtype.itemsize * int(np.prod(shape[i + 1 :])) for i in range(len(shape)))
        make: Any = cuda.cudadrv.devicearray.DeviceNDArray
        array = make(shape, strides, dtype, gpu_data=memory)
    else:
        array = _allocate(shape, dtype)
        memory = array.gpu_data
    weakref.finalize(array, unused.append, memory).atexit = False
    return array


def _allocate(shape: tuple[int, ...], dtype: Any) -> Any:
    """New memory, after freeing what is not in use if that is needed."""
    try:
        return cuda.device_array(shape, dtype)
    except cuda.cudadrv.driver.CudaAPIError:
        free_unused()
    try:
        return cuda.device_array(shape, dtype)
    except cuda.cudadrv.driver.CudaAPIError:
        raise out_of_memory(int(np.prod(shape)) * np.dtype(dtype).itemsize, "a table needs") from None


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
    return values if hasattr(values, "copy_to_host") else cuda.to_device(np.ascontiguousarray(values))


def copied(values: Any) -> Any:
    """An array on the GPU that may be changed."""
    if not hasattr(values, "copy_to_host"):
        return cuda.to_device(np.ascontiguousarray(values))
    copy = empty(values.shape, values.dtype)
    copy.copy_to_device(values)
    return copy


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
