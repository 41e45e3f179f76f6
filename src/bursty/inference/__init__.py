"""Algorithms that fit models: expectation-maximization with annealing, and what starts it.

Imports families, engines and kernels; knows no estimator.
"""
