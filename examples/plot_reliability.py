"""
Can the probabilities be trusted?
=================================

Naive Bayes is often right and always sure. In a reliability diagram, documents are grouped by the probability of the
predicted class, which should equal the share of correct predictions in the group. Without calibration, the multinomial
gives nearly every document a probability near one. By default, :class:`bursty.BayesClassifier` learns how sure to be.
"""

import matplotlib.pyplot as plt

from bursty import BayesClassifier, datasets, plot

shape = {"mean_length": 30, "s": 15, "concentration": 3.0}
corpus, _ = datasets.make_bursty_mixture(1500, 300, 6, **shape, random_state=4)
train, test = corpus.split(test_size=0.5, random_state=0)

fig, ax = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
plain = BayesClassifier("multinomial", smoothing=0.1).fit(train)
learned = BayesClassifier().fit(train)
for name, model in (("naive Bayes", plain), ("BayesClassifier()", learned)):
    plot.reliability(test.labels, model.predict_proba(test), model.classes_, label=name, ax=ax)
    print(f"{name}: accuracy {model.score(test, test.labels):.2f}")
