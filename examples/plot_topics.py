"""
Topics over time
================

DCMLDA, whose topics account for bursts, finds eight topics in two centuries of speeches. The first plot shows the words
of four of them.
"""

import matplotlib.pyplot as plt

from bursty import DCMLDA, datasets, plot

corpus = datasets.load("sotu", stop_words="english", token_pattern=r"[^\W\d_]{3,}").filter_words(min_df=5)
model = DCMLDA(8, random_state=0).fit(corpus)

fig, four = plt.subplots(2, 2, figsize=(10, 7.5), layout="constrained")
for topic, ax in enumerate(four.flat):
    plot.topic_words(model, topic, n=8, ax=ax)

# %%
# Their shares of the speeches of each year, as a moving average over eleven years:
fig, ax = plt.subplots(figsize=(10, 4.6), layout="constrained")
plot.topics_over(model, corpus.metadata["year"], topics=[0, 1, 2, 3], window=11, ax=ax)
