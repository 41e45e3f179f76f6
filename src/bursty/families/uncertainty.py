"""Standard errors of the parameters of a DCM, a test against the multinomial, and comparisons of groups of documents.

Whether a model fits is in `bursty.families.predictive`, whose names can be imported from here as well.

Minus the matrix of second derivatives of the log-likelihood in alpha is ``diag(q) - z``, with

    q_w = sum_d (psi'(alpha_w) - psi'(alpha_w + x_dw)),    z = sum_d (psi'(s) - psi'(s + n_d))

and the same z in every entry, so that with v_w = 1 / q_w the covariance matrix of the estimate is

    diag(v) + v v' z / (1 - z sum_w v_w)                   (Sherman and Morrison)

and the variance of s, the sum of all its entries, is ``sum(v) / (1 - z sum(v))``. The maximum is strict where
``z sum(v) < 1``. Words that no document has are at the boundary, alpha = 0, and have no error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import polygamma
from scipy.stats import chi2, false_discovery_control, norm

from bursty.estimator import check_whole, generator
from bursty.families.dcm import DCM
from bursty.families.multinomial import Multinomial
from bursty.families.predictive import STATISTICS, PredictiveCheck, predictive_check
from bursty.typing import Array
from bursty.validation import check_counts

__all__ = [
    "STATISTICS",
    "GroupComparison",
    "ParameterErrors",
    "PredictiveCheck",
    "TestResult",
    "compare_groups",
    "overdispersion_test",
    "parameter_errors",
    "predictive_check",
]

# Half the width of a 95% interval, in standard errors.
_WIDTH = float(norm.ppf(0.975))


@dataclass(frozen=True)
class ParameterErrors:
    """Standard errors of the parameters of a DCM, and 95% intervals (symmetric on the logarithmic scale).

    Attributes
    ----------
    alpha, alpha_error, alpha_low, alpha_high : ndarray of shape (n_words,)
        NaN for words that no document has.
    proportion_error : ndarray of shape (n_words,)
        Standard errors of the proportions ``alpha / s``.
    s, s_error, s_low, s_high : float
        The error is infinite if the likelihood does not bound s from above, for example if no word is repeated.

    See Also
    --------
    parameter_errors

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.families import DCM
    >>> from bursty.families.uncertainty import parameter_errors
    >>> X = np.array([[1, 0], [0, 1], [1, 0]])
    >>> float(parameter_errors(DCM().fit(X), X).s_error)
    inf
    """

    alpha: Array
    alpha_error: Array
    alpha_low: Array
    alpha_high: Array
    proportion_error: Array
    s: float
    s_error: float
    s_low: float
    s_high: float


def parameter_errors(model: DCM, X: Any, sample_weight: Any = None) -> ParameterErrors:
    r"""Standard errors and 95% intervals of alpha and s, from the curvature of the log-likelihood.

    They hold for maximum likelihood with many documents. With more words than documents, s is also biased, which no
    standard error shows: see `bursty.families.bursts.burstiness` for an interval that accounts for it.

    Parameters
    ----------
    model : DCM
        Fitted to X by maximum likelihood, without smoothing.
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
    sample_weight : array-like of shape (n_documents,), optional
        Weights of the fit, such as the posterior of a component of a `Mixture`.

    See Also
    --------
    ParameterErrors : The result.
    bursty.families.bursts.burstiness : An interval of s that holds with few documents.

    Notes
    -----
    The covariance matrix of the estimate is

    .. math:: \mathrm{diag}(v) + \frac{z \, v v^\top}{1 - z \sum_w v_w}

    .. math:: \frac{1}{v_w} = \sum_d \bigl(\psi'(\alpha_w) - \psi'(\alpha_w + x_{dw})\bigr), \qquad
       z = \sum_d \bigl(\psi'(s) - \psi'(s + n_d)\bigr)

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.families import DCM
    >>> from bursty.families.uncertainty import parameter_errors
    >>> fitted = DCM().fit([[5, 1, 0], [0, 3, 4], [2, 2, 2], [7, 0, 1]])
    >>> X = fitted.sample(np.full(200, 30), random_state=0)
    >>> found = parameter_errors(DCM().fit(X), X)
    >>> bool(found.s_low < found.s < found.s_high)
    True
    """
    counts = check_counts(X, owner="parameter_errors", n_words=model.n_features_in_)
    weights = np.ones(counts.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    alpha, s = model.alpha_, float(model.s_)
    lengths = np.asarray(counts.sum(axis=1)).ravel().astype(np.float64)
    entries = sp.coo_array(counts)
    rows, words = entries.coords
    curvature = _trigamma_drop(alpha[words], entries.data.astype(np.float64)) * weights[rows]
    q = np.bincount(words, weights=curvature, minlength=len(alpha))
    z = float(weights @ _trigamma_drop(np.full(len(lengths), s), lengths))
    seen = q > 0
    v = np.divide(1.0, q, out=np.zeros_like(q), where=seen)
    strict = 1.0 - z * v.sum()
    shared = z / strict if strict > 0 else np.inf
    with np.errstate(invalid="ignore"):
        alpha_error = np.where(seen, np.sqrt(v + v**2 * shared), np.nan)
    s_error = float(np.sqrt(v.sum() / strict)) if strict > 0 else float("inf")
    # The gradient of alpha_w / s is (e_w - p_w) / s; p' covariance p needs the sums of v, p v and p^2 v alone.
    p = alpha / s
    with np.errstate(invalid="ignore"):
        of_word = v - 2.0 * p * v + p**2 * v.sum()
        of_shared = (v - p * v.sum()) ** 2 * shared
        proportion_error = np.where(seen, np.sqrt(of_word + of_shared) / s, np.nan)
    low, high = _interval(alpha, alpha_error)
    s_low, s_high = _interval(np.array(s), np.array(s_error))
    return ParameterErrors(
        np.where(seen, alpha, np.nan), alpha_error, low, high, proportion_error, s, s_error, float(s_low), float(s_high)
    )


def _trigamma_drop(a: Array, x: Array) -> Array:
    """``psi'(a) - psi'(a + x)``."""
    return polygamma(1, a) - polygamma(1, a + x)


def _interval(value: Array, error: Array) -> tuple[Array, Array]:
    """95% interval of a positive number, symmetric in its logarithm."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = np.exp(_WIDTH * error / value)
        return value / factor, value * factor


@dataclass(frozen=True)
class TestResult:
    """A test statistic and its p-value.

    See Also
    --------
    overdispersion_test

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.families.uncertainty import overdispersion_test
    >>> overdispersion_test(np.array([[2, 2], [2, 2], [2, 2]]))
    TestResult(statistic=0.0, p_value=1.0)
    """

    #: Not a test of pytest.
    __test__ = False

    statistic: float
    p_value: float


def overdispersion_test(X: Any) -> TestResult:
    r"""Likelihood-ratio test of a DCM against the multinomial: do counts vary more than those of one multinomial?

    Under the multinomial, s is infinite, at the boundary of the parameters: the statistic is then zero in half of all
    samples, and chi-squared with one degree of freedom in the other half. This holds for many documents of few words.
    With more words than documents use the test of `bursty.families.bursts.burstiness`, which needs no such limit.

    Parameters
    ----------
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)

    See Also
    --------
    bursty.families.bursts.burstiness : A test that needs no maximum likelihood.
    predictive_check : Where a model does not fit.

    Notes
    -----
    The statistic is

    .. math::

       2 \Bigl(\max_\alpha \log p_\mathrm{DCM}(x \mid \alpha)
       - \max_\theta \log p_\mathrm{mult}(x \mid \theta)\Bigr)

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.families.uncertainty import overdispersion_test
    >>> rng = np.random.default_rng(0)
    >>> bool(overdispersion_test(rng.multinomial(30, [0.2, 0.3, 0.5], size=50)).p_value > 0.01)
    True
    """
    counts = check_counts(X, owner="overdispersion_test")
    gain = float(DCM().fit(counts).log_prob(counts).sum() - Multinomial().fit(counts).log_prob(counts).sum())
    statistic = max(0.0, 2.0 * gain)
    return TestResult(statistic, 0.5 * float(chi2.sf(statistic, 1)) if statistic > 0 else 1.0)


@dataclass(frozen=True)
class GroupComparison:
    """Whether groups of documents have the same composition, and the same s.

    Attributes
    ----------
    names : ndarray of shape (n_groups,)
    proportions, proportion_errors : ndarray of shape (n_groups, n_words)
        Of a DCM of each group.
    s, s_errors : ndarray of shape (n_groups,)
    composition : TestResult
        Variance over groups of the square roots of the proportions, and its p-value over permutations of the documents.
    dispersion : TestResult
        Wald test that log s is the same in all groups.
    word_p_values : ndarray of shape (n_words,)
        Wald tests that a word has the same proportion in all groups, adjusted for their number (false discovery rate,
        Benjamini and Hochberg); NaN for words that a group does not have.

    See Also
    --------
    compare_groups

    Examples
    --------
    >>> import numpy as np
    >>> from bursty.families.uncertainty import compare_groups
    >>> X = np.array([[4, 2], [1, 5], [6, 0], [3, 3], [0, 6], [5, 1]])
    >>> groups = ["a", "a", "a", "b", "b", "b"]
    >>> compare_groups(X, groups, n_permutations=9, random_state=0).names.tolist()
    ['a', 'b']
    """

    names: Array
    proportions: Array
    proportion_errors: Array
    s: Array
    s_errors: Array
    composition: TestResult
    dispersion: TestResult
    word_p_values: Array


def compare_groups(X: Any, groups: Any, *, n_permutations: int = 999, random_state: Any = None) -> GroupComparison:
    r"""Compare groups of documents: a DCM of each, and tests of equal composition and equal s.

    Parameters
    ----------
    X : {array-like, sparse matrix, Corpus} of shape (n_documents, n_words)
    groups : array-like of shape (n_documents,)
        The group of each document: two or more different values, each of at least two documents.
    n_permutations : int, default 999
        Number of random assignments of documents to groups that the composition is compared with.
    random_state : int, Generator or RandomState, optional

    See Also
    --------
    GroupComparison : The result.

    Notes
    -----
    With proportions :math:`p_g = \alpha_g / s_g`, the statistic of the composition is the sum over words of the
    variance of :math:`\sqrt{p_{gw}}` between groups, compared with that of random assignments. Those of
    :math:`\log s_g`, and of the proportion of each word, are Wald's,

    .. math:: \sum_g \frac{(\hat\theta_g - \bar\theta)^2}{\sigma_g^2}, \qquad
       \bar\theta = \frac{\sum_g \hat\theta_g / \sigma_g^2}{\sum_g 1 / \sigma_g^2},

    compared with the chi-squared distribution with one degree of freedom less than groups. The p-values of words are
    adjusted for their number (Benjamini and Hochberg).

    Examples
    --------
    >>> import numpy as np
    >>> from bursty import datasets
    >>> from bursty.families.uncertainty import compare_groups
    >>> corpus, _ = datasets.make_bursty_mixture(60, 20, 2, random_state=0)
    >>> found = compare_groups(corpus, corpus.labels, n_permutations=99, random_state=0)
    >>> found.composition.p_value
    0.01
    """
    counts = check_counts(X, owner="compare_groups")
    check_whole("n_permutations", n_permutations, 1)
    names, labels, sizes = np.unique(np.asarray(groups), return_inverse=True, return_counts=True)
    if labels.shape != (counts.shape[0],):
        raise ValueError(
            f"groups has {labels.size} entries and X has {counts.shape[0]} documents: give one per document"
        )
    if len(names) < 2 or sizes.min() < 2:
        found = ", ".join(f"{name}: {size}" for name, size in zip(names, sizes, strict=True))
        raise ValueError(f"compare_groups needs at least two groups of at least two documents each, not {found}")
    parts = [counts[labels == k] for k in range(len(names))]
    if any(part.nnz == 0 for part in parts):
        raise ValueError("a group has no words: leave it out")
    errors = [parameter_errors(DCM().fit(part), part) for part in parts]
    proportions = np.array([np.nan_to_num(found.alpha) / found.s for found in errors])
    spread, rng = _spread(proportions), generator(random_state)
    more = sum(
        _spread(_proportions(counts, rng.permutation(labels), len(names))) >= spread for _ in range(n_permutations)
    )
    s, s_errors = np.array([found.s for found in errors]), np.array([found.s_error for found in errors])
    proportion_errors = np.array([found.proportion_error for found in errors])
    words = _wald(proportions, proportion_errors)[1]
    words[np.isfinite(words)] = false_discovery_control(words[np.isfinite(words)])
    statistic, p_value = _wald(np.log(s)[:, None], (s_errors / s)[:, None])
    return GroupComparison(
        names,
        proportions,
        proportion_errors,
        s,
        s_errors,
        TestResult(spread, (1 + more) / (1 + n_permutations)),
        TestResult(float(statistic[0]), float(p_value[0])),
        words,
    )


def _proportions(counts: sp.csr_array, labels: Array, n_groups: int) -> Array:
    fits = [DCM().fit(counts[labels == k]) for k in range(n_groups)]
    return np.array([fit.alpha_ / fit.s_ for fit in fits])


def _spread(proportions: Array) -> float:
    return float(np.sqrt(proportions).var(axis=0).sum())


def _wald(values: Array, errors: Array) -> tuple[Array, Array]:
    """Statistics and p-values of the hypotheses that the rows have the same value, column by column."""
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.where(np.isfinite(errors), 1.0 / errors**2, np.where(np.isnan(errors), np.nan, 0.0))
        mean = (weights * values).sum(axis=0) / weights.sum(axis=0)
        statistic = (weights * (values - mean) ** 2).sum(axis=0)
    return statistic, chi2.sf(statistic, len(values) - 1)
