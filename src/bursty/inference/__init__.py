"""Algorithms that fit models: EM with annealing and what starts it, Monte Carlo EM, held-out likelihood.

Imports families, samplers, engines and kernels; knows no estimator.
"""
