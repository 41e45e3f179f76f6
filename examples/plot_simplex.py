"""
Bursts on the simplex
=====================

Each triangle shows all documents of 30 words over a vocabulary of three, darker where they are more probable. Under a
multinomial, documents look like the average. Under a DCM with the same proportions, they use few words often: the
smaller the sum *s* of its parameters, the more probability moves to the edges and corners.
"""

import matplotlib.pyplot as plt
import numpy as np

from bursty import plot

proportions = np.array([0.4, 0.3, 0.3])
fig, three = plt.subplots(1, 3, figsize=(12, 4), layout="constrained")
plot.simplex(proportions, n=30, family="multinomial", words=["rain", "sun", "wind"], bar=False, ax=three[0])
for ax, s in zip(three[1:], (10, 1.5), strict=True):
    plot.simplex(s * proportions, n=30, family="dcm", words=["rain", "sun", "wind"], bar=False, ax=ax)
    ax.set_title(f"DCM, s = {s:g}", loc="left")
