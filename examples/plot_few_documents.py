"""
Burstiness from few documents
=============================

Maximum likelihood treats the estimated proportions of the words as known, so that the counts look less bursty than they
are: with few documents, the estimate of *s* is too large and often infinite. ``prior="auto"`` averages over the
proportions instead. Each mark is one generated corpus, and the line is the true *s*.
"""

import matplotlib.pyplot as plt
import numpy as np

from bursty.families import DCM

rng = np.random.default_rng(0)
proportions = 1 / np.arange(1, 301)
alpha = 200 * proportions / proportions.sum()
sizes = [5, 10, 20, 50, 100, 200]

fig, ax = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
for shift, (name, prior) in enumerate((("maximum likelihood", None), ('prior="auto"', "auto"))):
    found = []
    for size in sizes:
        for _ in range(8):
            X = np.array([rng.multinomial(40, rng.dirichlet(alpha)) for _ in range(size)])
            found.append((size * (0.95 + 0.1 * shift), min(DCM(prior=prior).fit(X).s_, 1e5)))
    colour = ("#D55E00", "#0072B2")[shift]
    ax.scatter(*zip(*found, strict=True), s=18, marker="os"[shift], color=colour, label=name, alpha=0.7)
ax.axhline(200, color="#333333", linewidth=1)
ax.set(xscale="log", yscale="log", xlabel="documents", ylabel="s (100,000: no bursts found)")
ax.set_xticks(sizes, [str(size) for size in sizes])
ax.legend(frameon=False)
