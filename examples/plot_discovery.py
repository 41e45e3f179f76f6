"""
Clusters of unknown number
==========================

:class:`bursty.DPMFS` samples partitions of the documents and the words that distinguish them, without being told
how many clusters there are. The trace shows how the four chains settle. The matrix shows how often two documents share
a cluster: the blocks are the three true clusters.
"""

import matplotlib.pyplot as plt
import numpy as np

from bursty import DPMFS, datasets, plot

corpus, _ = datasets.make_bursty_mixture(120, 250, 3, s=20, random_state=0)
model = DPMFS(random_state=0).fit(corpus)  # runs until the chains agree

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
plot.trace(model, "log_joint", ax=left)
order = np.argsort(corpus.labels, kind="stable")
plot.similarity(model.samples_[:, order], labels=corpus.labels[order], ax=right)
print(f"{model.n_clusters_} clusters, {model.discriminative_.sum()} discriminative words")
print(f"settled: {model.converged_}")
