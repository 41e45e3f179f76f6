"""
How many clusters?
==================

The plot shows the likelihood of held-out documents for one to eight clusters, where there are four. It rises steeply up
to the true number, and little afterwards. By default, the elbow of the curve is chosen.
"""

from bursty import datasets, plot, select_components

shape = {"mean_length": 60, "s": 30, "concentration": 0.5}
corpus, _ = datasets.make_bursty_mixture(400, 300, 4, **shape, random_state=3)
selection = select_components(corpus, [1, 2, 3, 4, 5, 6, 8], cv=3, random_state=0)
ax = plot.likelihoods(selection)
print(selection)

# %%
# .. seealso:: :doc:`/choosing-a-number`
