"""
Clusters of speeches
====================

Five clusters of two centuries of speeches, found without years or presidents. Each is a period: the plot at the right
has the words that distinguish the second largest from the others.
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
    print(f"cluster {cluster}: {size:3} speeches, {given[0]} to {given[-1]}, half of them {given[len(given) // 4]} to "
          f"{given[3 * len(given) // 4]}")  # fmt: skip

# %%
# Which of them are alike? The tree merges the two clusters whose words differ least, again and again.
ax = plot.hierarchy(model, n=2)

# %%
# .. seealso:: :doc:`/clustering`
