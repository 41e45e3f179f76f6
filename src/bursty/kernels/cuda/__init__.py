"""Kernels for NVIDIA cards, written in Python and compiled by numba-cuda.

They draw from the same counter-based streams as the kernels of the processor. `lanes` has what differs between a card
and numba's simulator (``NUMBA_ENABLE_CUDASIM=1``), in which the tests run where there is no card.
"""
