"""Kernels for NVIDIA GPUs, written in Python and compiled by numba-cuda.

They draw from the same counter-based streams as the CPU kernels. `lanes` has what differs between a GPU and the
simulator of Numba (``NUMBA_ENABLE_CUDASIM=1``), in which the tests run without a GPU.
"""
