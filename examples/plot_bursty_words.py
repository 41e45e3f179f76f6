"""
Which words are bursty?
=======================

The burstiness of a word is how often it occurs, on average, in the documents that have it at all. Function words are
frequent everywhere. The words that stand out at the left occur in few speeches, but often there: they say what a speech
is about.
"""

import matplotlib.pyplot as plt
import numpy as np

from bursty import datasets, metrics

corpus = datasets.load("sotu", token_pattern=r"[^\W\d_]{3,}").filter_words(min_df=5)
documents = (corpus.counts > 0).sum(axis=0)
times = metrics.burstiness(corpus, axis="word")

fig, ax = plt.subplots(figsize=(7.5, 4.8), layout="constrained")
ax.scatter(documents / len(corpus), times, s=4, color="#0072B2", alpha=0.25, linewidth=0)
bursty = np.argsort(-times * (documents < 0.4 * len(corpus)))
named = list(np.flatnonzero(np.isin(corpus.vocabulary, ["the", "and", "our"])))
for word in bursty[:30]:  # the burstiest, unless their names would overlap
    if all(abs(documents[word] - documents[other]) > 0.06 * len(corpus) for other in named):
        named.append(word)
for word in named:
    place = documents[word] / len(corpus), times[word]
    ax.annotate(corpus.vocabulary[word], place, ha="center", va="bottom")
ax.set(yscale="log", xlabel="share of the speeches that have the word", ylabel="occurrences in these")
ax.set_title("Bursty words stand above the others of their frequency", loc="left")

# %%
# The same as numbers:
for word in bursty[:8]:
    print(f"{corpus.vocabulary[word]:12} {times[word]:5.1f} times in each of {documents[word]} speeches")
