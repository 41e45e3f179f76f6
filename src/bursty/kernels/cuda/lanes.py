"""Lanes that work on one document: how they read each other's numbers.

On a card the threads of a warp exchange registers. The simulator knows no warps: there a whole block stands for one,
and numbers go through shared memory.
"""

from __future__ import annotations

from numba import cuda, float64, int32
from numba.core import config

SIMULATED = bool(getattr(config, "ENABLE_CUDASIM", 0))
_ALL = 0xFFFFFFFF

if SIMULATED:

    @cuda.jit(device=True)
    def place():
        """Number of this thread among those that run as one."""
        return cuda.threadIdx.x

    @cuda.jit(device=True)
    def meet():
        """Wait for the others; what they wrote can be read then."""
        cuda.syncthreads()

    @cuda.jit(device=True)
    def read(value, source):
        """The value that another thread has."""
        box = cuda.shared.array(32, float64)
        cuda.syncthreads()
        box[cuda.threadIdx.x] = value
        cuda.syncthreads()
        return type(value)(box[source])

    @cuda.jit(device=True)
    def read_before(value, distance):
        """The value of the thread that many before this one; its own where there is none."""
        return read(value, max(0, cuda.threadIdx.x - distance) if cuda.threadIdx.x >= distance else cuda.threadIdx.x)

    @cuda.jit(device=True)
    def votes(flag):
        """A bit for each thread."""
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
        """Number of this thread among those that run as one."""
        return int32(cuda.threadIdx.x & 31)

    @cuda.jit(device=True, inline=True)
    def meet():
        """Wait for the others; what they wrote can be read then."""
        cuda.syncwarp()

    @cuda.jit(device=True, inline=True)
    def read(value, source):
        """The value that another thread has."""
        return cuda.shfl_sync(_ALL, value, source)

    @cuda.jit(device=True, inline=True)
    def read_before(value, distance):
        """The value of the thread that many before this one; its own where there is none."""
        return cuda.shfl_up_sync(_ALL, value, distance)

    @cuda.jit(device=True, inline=True)
    def votes(flag):
        """A bit for each thread."""
        return cuda.ballot_sync(_ALL, flag)
