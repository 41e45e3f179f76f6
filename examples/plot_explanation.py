"""
Why this class?
===============

A classifier guesses the era of the last speech in the test set from its words. The plot splits the log odds of the
predicted class against the runner-up into contributions of the words: what the first occurrence of a word says, and
what its repetitions add. The contributions of all words and of the prior add up to the log odds.
"""

import matplotlib.pyplot as plt
import numpy as np

from bursty import BayesClassifier, datasets

corpus = datasets.load("sotu", stop_words="english", token_pattern=r"[^\W\d_]{3,}").filter_words(min_df=3)
eras = [f"{1790 + 40 * int(era)}s on" for era in (corpus.metadata["year"] - 1790) // 40]
corpus = corpus.with_labels(eras)
train, test = corpus.split(test_size=0.25, random_state=0)
model = BayesClassifier().fit(train, train.label_names[train.labels])
speech = test.select([int(test.metadata["year"].argmax())])
explanation = model.explain(speech, top=12)[0]

fig, ax = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
rows = np.arange(len(explanation.words))[::-1]
ax.barh(rows, explanation.first, color="#0072B2", label="first occurrence")
start = np.where(np.sign(explanation.first) == np.sign(explanation.repeats), explanation.first, 0)
ax.barh(rows, explanation.repeats, left=start, color="#E69F00", label="repetitions")
pairs = zip(explanation.words, explanation.counts, strict=True)
ax.set_yticks(rows, [f"{word} ({count:g})" for word, count in pairs])
ax.axvline(0, color="#333333", linewidth=0.8)
ax.set_xlabel(f"log odds for {explanation.label} against {explanation.against}")
ax.set_title(f"{speech.ids[0]}", loc="left")
ax.legend(frameon=False)

# %%
# As text:
print(explanation)
