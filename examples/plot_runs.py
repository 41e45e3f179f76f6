"""
Does a better likelihood mean better clusters?
==============================================

Each mark is one run, with ten random starts per family: its perplexity, and the mutual information of its clusters with
the true ones. Within a family, runs that fit better also cluster better. Across families the comparison says nothing,
since the perplexity of the multinomial is far higher throughout.
"""

from bursty import Mixture, datasets, metrics, plot

shape = {"mean_length": 40, "s": 30, "concentration": 0.5}
corpus, _ = datasets.make_bursty_mixture(300, 300, 4, **shape, random_state=2)
results = {}
for family in ("multinomial", "edcm", "dcm"):
    models = []
    for seed in range(10):
        model = Mixture.from_paper("elkan2006", 4, family=family, random_state=seed)
        models.append(model.fit(corpus))
    results[family] = (
        [model.perplexity(corpus) for model in models],
        [metrics.mutual_information(corpus.labels, model.labels_) for model in models],
    )
ax = plot.runs(results)
