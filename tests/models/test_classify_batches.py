"""Learning in batches: the same classifier, statistics and sample as from all documents at once."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from bursty.families import get_family
from bursty.models.classify import BayesClassifier
from bursty.models.classify.heldout import SAMPLE_SIZE, Sample
from bursty.models.classify.labels import check_targets
from bursty.models.classify.layout import Layout
from bursty.models.classify.smoothing import fit_groups
from bursty.models.classify.sums import Classes, SparseSums, full, of_tables, summarize

FAMILY_NAMES = ["multinomial", "dcm", "edcm"]


@pytest.mark.parametrize("family", FAMILY_NAMES)
@pytest.mark.parametrize("smoothing", [0.01, "auto", "shrink"])
@pytest.mark.parametrize("complement", [False, True])
def test_partial_fit_equals_fit(classed, family, smoothing, complement):
    X, y = classed
    model = BayesClassifier(family, smoothing=smoothing, complement=complement, refine=None)
    whole = clone(model).fit(X, y)
    batches = clone(model)
    for rows in np.array_split(np.arange(len(y)), 4):
        batches.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert batches.smoothing_ == whole.smoothing_
    np.testing.assert_allclose(batches.predict_proba(X), whole.predict_proba(X), rtol=1e-6, atol=1e-9)


def test_partial_fit_continues_fit_and_takes_classes_that_come_later(classed):
    X, y = classed
    first = np.flatnonzero(y < 2)
    last = np.flatnonzero(y == 2)
    for smoothing in (0.01, None):
        model = BayesClassifier(smoothing=smoothing).partial_fit(X[first], y[first], classes=[2, 1, 0])
        assert set(model.predict(X)) == {0, 1}
        assert np.all(np.isfinite(model.predict_proba(X)))
    model = BayesClassifier(smoothing=0.01).partial_fit(X[first], y[first], classes=[2, 1, 0])
    model.partial_fit(X[last], y[last])
    whole = BayesClassifier(smoothing=0.01).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-8)
    more = BayesClassifier(smoothing=0.01).fit(X[:60], y[:60]).partial_fit(X[60:], y[60:])
    np.testing.assert_allclose(more.predict_proba(X), whole.predict_proba(X), rtol=1e-8)


@pytest.mark.parametrize("family", FAMILY_NAMES)
@pytest.mark.parametrize("options", [{}, {"complement": True}, {"prior": "auto"}])
def test_urns_solved_together_are_those_solved_one_by_one(classed, family, options, monkeypatch):
    if options.get("prior") and family == "multinomial":
        options = {}  # it has no s
    X, y = classed
    together = BayesClassifier(family, **options).fit(X, y)
    monkeypatch.setattr("bursty.models.classify.heldout.TOGETHER", 1)
    monkeypatch.setattr("bursty.models.classify.smoothing.CELLS", 1)
    alone = BayesClassifier(family, **options).fit(X, y)
    assert alone.smoothing_ == together.smoothing_
    np.testing.assert_allclose(alone.parameters_.table, together.parameters_.table, rtol=1e-9)
    np.testing.assert_allclose(alone.predict_proba(X), together.predict_proba(X), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("family", FAMILY_NAMES)
def test_complement_statistics_are_those_of_the_other_classes(classed, family):
    from bursty.engines import Chunk

    X, y = classed
    base, chunk = get_family(family), Chunk(X)
    others = base.update(base.summarize(chunk, (y[:, None] != np.arange(3)).astype(float)))
    kept = summarize(base, X, check_targets(y, len(y), "test"), np.ones((len(y), 1)))
    mine = fit_groups(base, Layout(complement=True, multilabel=False), Classes(kept))
    for params in zip(vars(mine).values(), vars(others).values(), strict=True):
        np.testing.assert_allclose(*params, rtol=1e-9)


@pytest.mark.parametrize("family", [*FAMILY_NAMES, "vonmisesfisher"])
def test_kept_statistics_are_those_of_the_documents(classed, family):
    """Sums of two batches, of each class and of all, and without documents held out: as summarized in one go."""
    from bursty.engines import Assignment, Chunk

    X, y = classed
    base, weights = get_family(family), np.random.default_rng(0).random((len(y), 2)) + 0.5
    weights[:, 0] = 1.0
    targets = check_targets(y, len(y), "test", [0, 1, 2])

    def kept(rows):
        return summarize(base, sp.csr_array(X[rows]), targets[rows], weights[rows])

    def direct(rows, column):
        return base.summarize(Chunk(sp.csr_array(X[rows])), Assignment.single(weights[rows, column]))

    def assert_equal(stats, expected):
        a, b = base.update(stats), base.update(expected)
        for left, right in zip(vars(a).values(), vars(b).values(), strict=True):
            np.testing.assert_allclose(left, right, rtol=1e-7, atol=1e-12)

    whole, some = np.arange(len(y)), np.arange(0, len(y), 3)
    both = [a + b for a, b in zip(kept(whole[:40]), kept(whole[40:]), strict=True)]
    rest = np.setdiff1d(whole, some)
    for column in (0, 1):
        held_out = Classes(both, [column], kept(some))
        assert_equal(full(both, [column]), direct(whole, column))
        assert_equal(held_out.everything(), direct(rest, column))
        for k in range(3):
            assert_equal(held_out[k], direct(rest[y[rest] == k], column))
    tables = [base.summarize(Chunk(X), Assignment(y.astype(np.int32), 3, weights[:, c].copy())) for c in (0, 1)]
    for mine, old in zip(both, of_tables(tables), strict=True):
        assert_equal(full([old], [1]), full([mine], [1]))
    first = next(iter(vars(both[0]).values()))
    if family != "vonmisesfisher":
        assert isinstance(first, SparseSums)
        assert first.columns[0].dtype == np.uint8 or first.columns[0].dtype == np.uint16
        assert first.columns[1].dtype == np.float64


@given(st.integers(1, 40), st.lists(st.integers(1, 40), min_size=1, max_size=5))
def test_the_sample_does_not_depend_on_batches(first, sizes):
    n = sum(sizes)
    X, y = sp.csr_array(np.arange(n * 2).reshape(n, 2) + first), np.arange(n) % 2
    targets = check_targets(y, n, "test", [0, 1])
    whole = Sample.of(X, targets, np.ones(n), 0)
    parts, start = None, 0
    for size in sizes:
        rows = slice(start, start + size)
        part = Sample.of(sp.csr_array(X[rows]), targets[rows], np.ones(size), start)
        parts = part if parts is None else parts + part
        start += size
    np.testing.assert_array_equal(parts.counts.toarray(), whole.counts.toarray())
    np.testing.assert_array_equal(parts.keys, whole.keys)
    folds = np.concatenate(list(whole.folds(n)))
    np.testing.assert_array_equal(np.sort(folds), np.arange(len(whole.keys)))
    assert len(whole.keys) == min(n, SAMPLE_SIZE)
