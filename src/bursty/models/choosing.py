"""The number of clusters, for users: `select_components`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bursty.models.mixture import Mixture
from bursty.models.selection import Selection, select


def select_components(
    X: Any, ks: Sequence[int] | None = None, criterion: str = "auto", cv: int | None = None, **parameters: Any
) -> Selection:
    r"""Choose the number of clusters: fit each number and compare.

    ``Mixture("auto")`` chooses by the same rule.

    Parameters
    ----------
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
    ks : sequence of int, optional
        The numbers to compare; by default a growing sequence from 1 to 30.
    criterion : {"auto", "heldout", "laplace", "aic", "bic", "icl"}, default "auto"
        "heldout": log-likelihood of held-out documents. The choice is the elbow of the curve; ``choices`` has the
        one-standard-error and the stability choice beside it. "laplace": evidence of a DCM mixture with a gamma prior
        on alpha (0.1, 0.1), which also gives "aic", "bic" and "icl". "auto" is "laplace" for tables with few columns,
        many of them filled, and "heldout" for text: with thousands of words the information criteria count every word
        of every component as a parameter and favour very few clusters.
    cv : int, optional
        Number of folds for "heldout"; 5 by default.
    **parameters
        Parameters of `Mixture`.

    Returns
    -------
    Selection
        Scores of each number, other columns, what each rule would choose, and the choice, ``n_components``.

    See Also
    --------
    Mixture : ``Mixture("auto")`` uses the same rule.
    bursty.plot.likelihoods : A plot of the result.

    Notes
    -----
    All scores are per document. With :math:`L` the maximum of the log-likelihood of D documents, and
    :math:`m = k (W + 1) - 1` parameters of k clusters of W words:

    .. math:: \mathrm{AIC} = \frac{L - m}{D}, \qquad \mathrm{BIC} = \frac{L - \frac{m}{2} \log D}{D}

    .. math:: \mathrm{Laplace} = \frac{1}{D} \left( \log p(X, \hat\theta) + \frac{m}{2} \log 2 \pi
       - \frac{1}{2} \log |H| + \log k! \right)

    with :math:`\hat\theta` the mode of the posterior in :math:`\log \alpha` and the weights, H the curvature there
    (Holmes, Harris and Quince 2012), and k! for the numberings of the clusters. ICL is the BIC less the entropy of the
    assignments.

    Examples
    --------
    >>> from bursty import datasets, select_components
    >>> corpus, _ = datasets.make_bursty_mixture(150, 30, 2, random_state=0)
    >>> select_components(corpus, ks=(1, 2, 3), random_state=0).n_components
    2
    """
    mixture = Mixture(**parameters)
    return select(mixture, mixture._place(X, reset=True), ks, criterion, cv)
