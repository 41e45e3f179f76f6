"""Gibbs samplers: one file per sampler, with `State`, `sweep` and `log_joint`.

A sampler works on a chunk of documents with given hyperparameters; `bursty.inference` learns these.
Imports engines and kernels only.
"""
