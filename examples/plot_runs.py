"""
Does a better likelihood mean better clusters?
==============================================

One mark per run, from ten random starts each: perplexity against mutual information with the true clusters. Runs of
one family that fit better also cluster better; across families the comparison says nothing, since a multinomial's
perplexity is far higher throughout.
"""

from bursty import Mixture, datasets, metrics, plot

corpus, _ = datasets.make_bursty_mixture(300, 300, 4, mean_length=40, s=30, concentration=0.5, random_state=2)
results = {}
for family in ("multinomial", "edcm", "dcm"):
    models = [Mixture.from_paper("elkan2006", 4, family=family, random_state=seed).fit(corpus) for seed in range(10)]
    results[family] = (
        [model.perplexity(corpus) for model in models],
        [metrics.mutual_information(corpus.labels, model.labels_) for model in models],
    )
ax = plot.runs(results)
