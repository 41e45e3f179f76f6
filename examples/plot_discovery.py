"""
Clusters of unknown number
==========================

:class:`bursty.DPMFS` samples partitions of the documents and the words that distinguish them; nobody says how many
clusters there are. The trace shows when the chains have settled; the matrix shows how often two documents share a
cluster: the blocks are the three true clusters.
"""

import matplotlib.pyplot as plt
import numpy as np

from bursty import DPMFS, datasets, plot

corpus, _ = datasets.make_bursty_mixture(120, 250, 3, s=20, random_state=0)
chains = [DPMFS(n_iter=80, random_state=seed).fit(corpus) for seed in range(3)]

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
for seed, model in enumerate(chains):
    plot.trace(model, label=f"seed {seed}", ax=left)
order = np.argsort(corpus.labels, kind="stable")
plot.similarity(np.vstack([model.samples_ for model in chains])[:, order], labels=corpus.labels[order], ax=right)
print([model.n_clusters_ for model in chains], "clusters;", chains[0].discriminative_.sum(), "discriminative words")
