"""
Clusters of speeches
====================

Five clusters of two centuries of speeches, found without their years and presidents. Each cluster is a period. The plot
at the right shows the words that distinguish the second largest cluster from the others.
"""

import matplotlib.pyplot as plt

from bursty import Mixture, datasets, plot

corpus = datasets.load("sotu", stop_words="english", token_pattern=r"[^\W\d_]{3,}").filter_words(min_df=3)
model = Mixture(5, random_state=0).fit(corpus)

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
plot.cluster_sizes(model, ax=left)
plot.cluster_words(model, 1, ax=right)

# %%
# When were they given?
years = corpus.metadata["year"]
for cluster, size in enumerate(model.sizes_):
    given = sorted(years[model.labels_ == cluster])
    middle = f"half of them {given[len(given) // 4]} to {given[3 * len(given) // 4]}"
    print(f"cluster {cluster}: {size:3} speeches, {given[0]} to {given[-1]}, {middle}")

# %%
# Which clusters are alike? The tree repeatedly merges the two clusters whose words differ least.
ax = plot.hierarchy(model, n=2)

# %%
# .. seealso:: :doc:`/clustering`
