"""
Annealing, step by step
=======================

The settings of Elkan (2006) anneal EM: at a temperature of 25, a document belongs to all components, and at 1 to one of
them. The log-likelihood of the model (multiplied by the temperature, so that phases can be compared) rises within each
phase. The default of :class:`bursty.Mixture` needs no annealing, because it starts from k-means in LSA space.
"""

import matplotlib.pyplot as plt

from bursty import Mixture, datasets, metrics, plot

shape = {"mean_length": 40, "s": 30, "concentration": 1.0}
corpus, _ = datasets.make_bursty_mixture(600, 400, 4, **shape, random_state=1)
annealed = Mixture.from_paper("elkan2006", 4, random_state=0).fit(corpus)
default = Mixture(4, random_state=0).fit(corpus)

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
plot.trace(annealed, ax=left).set_title("Annealed", loc="left")
plot.trace(default, "moved", ax=right).set_title("Default", loc="left")
left.ticklabel_format(axis="y", useOffset=False)
right.set(xticks=range(1, default.n_iter_ + 1), ylabel="how far documents moved")
for name, model in (("annealed", annealed), ("default", default)):
    nmi = metrics.normalized_mutual_information(corpus.labels, model.labels_)
    print(f"{name}: {model.n_iter_} iterations, NMI with the true clusters {nmi:.2f}")
