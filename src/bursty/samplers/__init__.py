"""Gibbs samplers: one file a sampler, with `State`, `init`, `sweep` and `log_joint`.

A sampler works on a chunk of documents with given hyperparameters; learning these is `bursty.inference`'s task.
Imports engines and kernels only.
"""
