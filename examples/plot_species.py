"""
Species, not words
==================

Counts need not be words. Here are 120 generated samples of 40 species from three habitats. Within a habitat, a species
may thrive in one sample and be absent from the next, which is burstiness. A mixture of DCMs finds the habitats, and its
evidence finds their number.
"""

import matplotlib.pyplot as plt
import numpy as np

from bursty import Corpus, Mixture, metrics, plot, select_components
from bursty.families import DCM
from bursty.families.uncertainty import predictive_check

rng = np.random.default_rng(0)
habitats = rng.gamma(0.6, 1.0, size=(3, 40)) + 0.02
truth = np.repeat([0, 1, 2], 40)
alpha = 12 * habitats / habitats.sum(axis=1, keepdims=True)
counts = [rng.multinomial(500, rng.dirichlet(alpha[k])) for k in truth]
samples = Corpus(counts, [f"species {j + 1}" for j in range(40)])

selection = select_components(samples, [1, 2, 3, 4, 5], random_state=0)
model = Mixture(3, random_state=0).fit(samples)

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
plot.likelihoods(selection, ax=left).set_xticks(range(1, 6))
plot.cluster_words(model, 0, ax=right)
print(f"agreement with the habitats: NMI {metrics.normalized_mutual_information(truth, model.labels_):.2f}")
print(f"s = {DCM().fit(samples).s_:.1f} for all samples together: strongly bursty")

# %%
# Does one DCM describe a habitat? If so, data drawn from the fitted DCM look like the samples: each statistic of the
# samples lies among those of the draws.
one = samples.select(truth == 1)
ax = plot.predictive_check(predictive_check(DCM().fit(one), one, n_draws=199, random_state=0))
