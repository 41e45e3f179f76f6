"""Compiled loops: plain arrays in, plain arrays out, no knowledge of models.

Imports nothing of bursty outside this folder. Every kernel releases the GIL, works on a range ``[start, stop)``
of its outer loop and writes only to that range, so that `threads.run` can split it without changing a bit of
the result. Each docstring says what the kernel equals in NumPy; the tests assert just that.
"""
