"""Side by side with peers, in one run, as ratios. ``python -m benchmarks`` runs all of the foundation's tables."""
