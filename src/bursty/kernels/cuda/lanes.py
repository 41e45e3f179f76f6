"""Communication between the lanes that process one document.

On a GPU, the threads of a warp exchange registers. The simulator has no warps: there, a whole block acts as one, and
numbers are exchanged through shared memory.
"""

from __future__ import annotations

from numba import cuda, float64, int32
from numba.core import config

SIMULATED = bool(getattr(config, "ENABLE_CUDASIM", 0))
_ALL = 0xFFFFFFFF

if SIMULATED:

    @cuda.jit(device=True)
    def place():
        """Index of this thread in its warp."""
        return cuda.threadIdx.x

    @cuda.jit(device=True)
    def meet():
        """Wait for the other threads, after which their writes are visible."""
        cuda.syncthreads()

    @cuda.jit(device=True)
    def read(value, source):
        """The value of another thread."""
        box = cuda.shared.array(32, float64)
        cuda.syncthreads()
        box[cuda.threadIdx.x] = value
        cuda.syncthreads()
        return type(value)(box[source])

    @cuda.jit(device=True)
    def read_before(value, distance):
        """The value of the thread this many before; its own if there is none."""
        return read(value, max(0, cuda.threadIdx.x - distance) if cuda.threadIdx.x >= distance else cuda.threadIdx.x)

    @cuda.jit(device=True)
    def votes(flag):
        """One bit per thread."""
        box = cuda.shared.array(32, int32)
        cuda.syncthreads()
        box[cuda.threadIdx.x] = flag
        cuda.syncthreads()
        bits = 0
        for i in range(cuda.blockDim.x):
            bits |= int(box[i] != 0) << i
        return bits

else:

    @cuda.jit(device=True, inline=True)
    def place():
        """Index of this thread in its warp."""
        return int32(cuda.threadIdx.x & 31)

    @cuda.jit(device=True, inline=True)
    def meet():
        """Wait for the other threads, after which their writes are visible."""
        cuda.syncwarp()

    @cuda.jit(device=True, inline=True)
    def read(value, source):
        """The value of another thread."""
        return cuda.shfl_sync(_ALL, value, source)

    @cuda.jit(device=True, inline=True)
    def read_before(value, distance):
        """The value of the thread this many before; its own if there is none."""
        return cuda.shfl_up_sync(_ALL, value, distance)

    @cuda.jit(device=True, inline=True)
    def votes(flag):
        """One bit per thread."""
        return cuda.ballot_sync(_ALL, flag)
