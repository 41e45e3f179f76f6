"""
How many clusters?
==================

The likelihood of documents that were left out, for one to eight clusters; there are four. It rises steeply up to the
true number and little afterwards. The elbow is the default choice.
"""

from bursty import datasets, plot, select_components

corpus, _ = datasets.make_bursty_mixture(400, 300, 4, mean_length=60, s=30, concentration=0.5, random_state=3)
selection = select_components(corpus, [1, 2, 3, 4, 5, 6, 8], cv=3, random_state=0)
ax = plot.likelihoods(selection)
print(selection)

# %%
# .. seealso:: :doc:`/choosing-a-number`
