"""
Words come in bursts
====================

How often does a word occur in a document? The dots show two centuries of State of the Union addresses. A word that
occurs once is likely to occur again, so that large counts are far more common than they would be in independent draws.
The multinomial fits common words, and falls off a cliff for all others. The Dirichlet compound multinomial (DCM), which
has one more parameter, follows the data for average words. For rare words, it expects more repetitions than there are,
but the shape of the curve is right.
"""

import matplotlib.pyplot as plt
import numpy as np

from bursty import datasets, plot
from bursty.families import DCM, Multinomial
from bursty.metrics import count_probabilities

corpus = datasets.load("sotu").filter_words(min_df=2)
lengths, frequencies = corpus.counts.sum(axis=1), corpus.counts.sum(axis=0)
groups = {"common": 500, "average": 5000, "rare": None}
curves = {"data": count_probabilities(corpus, groups=groups)}
for name, family in (("multinomial", Multinomial()), ("DCM", DCM())):
    # Documents of the same lengths, drawn from the fitted family
    drawn = family.fit(corpus).sample(lengths, random_state=0)
    curves[name] = count_probabilities(drawn, groups=groups, frequencies=frequencies)

fig, panels = plt.subplots(1, 3, figsize=(12, 4), sharey=True, layout="constrained")
looks = {"data": "o", "multinomial": "--", "DCM": "-"}
colours = {"data": "#333333", "multinomial": "#D55E00", "DCM": "#0072B2"}
for ax, (group, longest) in zip(panels, {"common": 100, "average": 40, "rare": 15}.items(), strict=True):
    for name, curve in curves.items():
        shown = np.where(curve.probabilities[group] > 0, curve.probabilities[group], np.nan)[: longest + 1]
        ax.plot(shown, looks[name], color=colours[name], markersize=4, linewidth=2, label=name)
    ax.set(yscale="log", ylim=(3e-7, 1.5), xlabel="occurrences in a speech")
    ax.set_title(f"{group} words ({curves['data'].n_words[group]:,})", loc="left")
panels[0].set_ylabel("probability")
panels[0].legend(frameon=False)

# %%
# The data alone, in one plot:
ax = plot.count_probabilities(curves["data"])
