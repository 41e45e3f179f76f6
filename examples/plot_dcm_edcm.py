"""
What the EDCM gives up
======================

The EDCM replaces the DCM by an exponential family. Where parameters are small, which is where bursts are, the two
agree: documents have nearly the same probabilities (left), and words nearly the same parameters (right).
"""

import matplotlib.pyplot as plt

from bursty import datasets, plot
from bursty.families import DCM, EDCM

corpus, _ = datasets.make_bursty_mixture(400, 800, 3, mean_length=120, s=60, random_state=0)
dcm, edcm = DCM().fit(corpus), EDCM().fit(corpus)

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
plot.probabilities(dcm, edcm, corpus, ax=left)
plot.parameters(dcm, edcm, ax=right)

# %%
# The probabilities of the EDCM as published do not sum to one, so that its perplexity is too high. Those of the
# normalised EDCM do.
print(f"DCM {dcm.perplexity(corpus):.1f}, EDCM {edcm.perplexity(corpus):.1f}, ", end="")
print(f"EDCM normalised {edcm.perplexity(corpus, normalized=True):.1f}")
