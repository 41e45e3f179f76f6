"""Classification by Bayes' rule with any family.

| module | what it has |
|---|---|
| `classifier`, `prediction` | the estimator: learning, predicting |
| `settings` | its parameters, checked |
| `labels` | y in all its forms |
| `layout` | which groups of documents are modelled: classes, complements, several labels a document |
| `sums`, `training` | what is kept of the documents: statistics of the classes, zeros left out |
| `smoothing` | a constant, or a pull towards the corpus |
| `heldout` | what is learned from documents held out |
| `calibration`, `priors` | how sure to be |
| `refinement` | a linear model of discriminative words, beside the urns |
| `evidence`, `scoring` | what the words of a few documents at a time say, and the scores this makes |
| `transforms`, `presets` | the heuristics and the names of the papers |
| `explain` | why a document goes to its class |
"""

from __future__ import annotations

from bursty.models.classify.classifier import BayesClassifier

__all__ = ["BayesClassifier"]
