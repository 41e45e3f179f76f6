"""Classification by Bayes' rule with any family.

| module | what it has |
|---|---|
| `classifier`, `prediction` | the estimator: learning, predicting |
| `settings` | its parameters, checked |
| `labels` | y in all its forms |
| `layout` | which groups of documents are modelled: classes, complements, several labels per document |
| `sums`, `training` | what is kept of the training documents: statistics of the classes, without zeros |
| `smoothing` | a constant, or shrinkage towards the corpus |
| `heldout` | learning from held-out documents |
| `calibration`, `priors` | calibrated probabilities |
| `refinement` | a linear model of discriminative words, beside the urns |
| `evidence`, `scoring` | the evidence of words, for a few documents at a time, and the resulting scores |
| `transforms`, `presets` | heuristics of the papers, and methods by their names there |
| `explain` | the words behind a decision |
"""

from __future__ import annotations

from bursty.models.classify.classifier import BayesClassifier

__all__ = ["BayesClassifier"]
