"""What holds for every family: additive statistics, weights, chunks, threads, input formats, scikit-learn's checks."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.utils.estimator_checks import check_estimator

from bursty import BayesClassifier
from bursty.engines import Assignment, Chunk, cut, total
from bursty.families import DCM, EDCM, FAMILIES, Multinomial, VonMisesFisher
from bursty.kernels import threads
from weights import NOT_FOR_COUNTS

ALL = [estimator for estimator in FAMILIES.values() if estimator.__module__.startswith("bursty.")]
COUNTING = [estimator for estimator in ALL if estimator._family.has_perplexity]


@pytest.fixture(scope="module")
def counts():
    rng = np.random.default_rng(0)
    theta = rng.dirichlet(np.full(40, 0.2), size=120)
    return sp.csr_array(np.array([rng.multinomial(rng.integers(1, 60), t) for t in theta]).astype(np.int32))


def names(params):
    return [field.name for field in fields(params)]


def parameters(family, stats):
    params = family.update(stats)
    return np.concatenate([np.atleast_2d(getattr(params, name)) for name in names(params)])


@pytest.mark.filterwarnings("ignore:.*no words:UserWarning")  # the checks' data has empty documents
@pytest.mark.parametrize("estimator", ALL)
def test_passes_scikit_learns_checks(estimator):
    check_estimator(estimator(), on_skip=None, expected_failed_checks=NOT_FOR_COUNTS)


@pytest.mark.parametrize("estimator", ALL)
def test_statistics_of_chunks_add_up_to_those_of_the_whole(estimator, counts):
    family = estimator._family
    resp = np.random.default_rng(1).dirichlet(np.ones(3), size=counts.shape[0])
    whole = family.summarize(Chunk(counts), resp)
    parts = [family.summarize(c, resp[i * 50 : i * 50 + 50]) for i, c in enumerate(cut(counts, 50))]
    np.testing.assert_allclose(parameters(family, total(parts)), parameters(family, whole), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("estimator", ALL)
def test_components_do_not_mix(estimator, counts):
    """K components at once equal K separate fits, and certain responsibilities equal an assignment."""
    family = estimator._family
    labels = np.random.default_rng(2).integers(0, 3, size=counts.shape[0]).astype(np.int32)
    onehot = (labels[:, None] == np.arange(3)).astype(float)
    chunk = Chunk(counts)
    dense = family.update(family.summarize(chunk, onehot))
    hard = family.update(family.summarize(chunk, Assignment(labels, 3, np.ones(len(labels)))))
    for k in range(3):
        single = estimator().fit(counts[labels == k])
        expected = single._parameters
        for name in names(expected):
            value = getattr(expected, name)[..., 0]
            np.testing.assert_allclose(getattr(dense, name)[..., k], value, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(getattr(hard, name)[..., k], value, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(family.log_prob(chunk, dense)[:, k], log_prob_or_inf(single, counts), rtol=1e-9)


def log_prob_or_inf(model, X):
    return model._log_prob(X, model._family.log_prob)


@pytest.mark.parametrize("estimator", ALL)
def test_same_bits_for_any_number_of_threads(estimator, counts, monkeypatch):
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    family, chunk = estimator._family, Chunk(counts)
    resp = np.random.default_rng(1).dirichlet(np.ones(3), size=counts.shape[0])
    results = []
    for n_threads in (1, 2, 5):
        with threads.using(n_threads):
            params = family.update(family.summarize(Chunk(counts), resp))
            results.append(
                (
                    *(getattr(params, name) for name in names(params)),
                    family.log_prob(chunk, params),
                )
            )
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("estimator", ALL)
def test_weight_two_is_two_copies_and_weight_zero_is_absence(estimator, counts):
    weights = np.random.default_rng(3).integers(0, 3, size=counts.shape[0])
    weighted = estimator().fit(counts, sample_weight=weights)
    repeated = estimator().fit(sp.csr_array(np.repeat(counts.toarray(), weights, axis=0)))
    for name in names(weighted._parameters):
        np.testing.assert_allclose(
            getattr(weighted._parameters, name), getattr(repeated._parameters, name), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("estimator", ALL)
def test_input_formats_agree(estimator, counts):
    dense = counts.toarray()
    names = [f"word{i}" for i in range(dense.shape[1])]
    read_only = dense.copy()
    read_only.setflags(write=False)
    expected = estimator().fit(counts).log_prob(counts)
    forms = [
        dense,
        dense.tolist(),
        np.asfortranarray(dense),
        read_only,
        dense.astype(np.float32),
        dense.astype(np.uint8),
        sp.csr_matrix(dense),
        sp.csc_array(dense),
        sp.coo_array(dense),
        sp.lil_array(dense),
        pd.DataFrame(dense, columns=names),
        pl.DataFrame(dense, schema=names),
        pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(dense), columns=names),
    ]
    for form in forms:
        model = estimator().fit(form)
        np.testing.assert_array_equal(model.log_prob(form), expected)
        if hasattr(form, "columns"):
            assert list(model.feature_names_in_) == names


@pytest.mark.parametrize("estimator", COUNTING)
def test_empty_documents_keep_their_row(estimator, counts):
    with_empty = sp.csr_array(sp.vstack([counts[:5], sp.csr_array((2, counts.shape[1]), dtype=np.int32), counts[5:]]))
    with pytest.warns(UserWarning, match="2 documents have no words"):
        model = estimator().fit(with_empty)
    log_prob = model.log_prob(with_empty)
    assert log_prob.shape == (122,)
    np.testing.assert_array_equal(log_prob[5:7], 0.0)
    np.testing.assert_allclose(np.delete(log_prob, [5, 6]), estimator().fit(counts).log_prob(counts), rtol=1e-10)


def test_empty_document_has_the_uniform_term_of_vmf(counts):
    model = VonMisesFisher().fit(counts)
    value = model.log_prob(np.zeros((1, counts.shape[1]), dtype=int))
    assert np.isfinite(value).all()


@pytest.mark.parametrize("estimator", COUNTING)
def test_unseen_words(estimator):
    train, test = np.array([[2, 1, 0], [1, 3, 0]]), np.array([[1, 0, 1], [1, 1, 0]])
    plain = estimator().fit(train)
    assert plain.log_prob(test)[0] == -np.inf
    with pytest.warns(UserWarning, match=r"1 of 2 documents has probability 0.*smoothing"):
        assert plain.perplexity(test) == np.inf
    assert np.all(np.isfinite(estimator(smoothing=0.01).fit(train).log_prob(test)))


@pytest.mark.parametrize("estimator", [DCM, EDCM])
def test_smoothing_adds_a_share_of_the_smallest_parameter(estimator, counts):
    name = "alpha_" if estimator is DCM else "beta_"
    plain, smooth = (getattr(estimator(smoothing=e).fit(counts), name) for e in (0.0, 0.01))
    np.testing.assert_allclose(smooth, plain + 0.01 * plain[plain > 0].min(), rtol=1e-13)


def test_additive_smoothing_of_the_multinomial():
    theta = Multinomial(smoothing=1.0).fit([[3, 0, 1]]).theta_
    np.testing.assert_allclose(theta, [4 / 7, 1 / 7, 2 / 7])


@pytest.mark.parametrize("estimator", COUNTING)
def test_perplexity_is_its_definition(estimator, counts):
    model = estimator().fit(counts)
    expected = np.exp(-model.log_prob(counts).sum() / counts.sum())
    assert model.perplexity(counts) == pytest.approx(expected, rel=1e-14)
    assert model.perplexity(counts, coefficient=True) < model.perplexity(counts)
    assert model.score(counts) == pytest.approx(model.log_prob(counts).mean())


def test_uniform_multinomial_has_perplexity_w():
    assert Multinomial().fit(np.full((2, 7), 3)).perplexity([[1, 0, 2, 0, 0, 0, 5]]) == pytest.approx(7.0)


@pytest.mark.parametrize("estimator", COUNTING)
def test_samples_have_the_lengths_and_the_seed_decides(estimator, counts):
    model = estimator().fit(counts)
    lengths = np.array([0, 1, 5, 80])
    first, second, third = (model.sample(lengths, random_state=seed) for seed in (1, 1, 2))
    assert sp.issparse(first)
    assert first.shape == (4, counts.shape[1])
    np.testing.assert_array_equal(np.asarray(first.sum(axis=1)).ravel(), lengths)
    assert (first != second).nnz == 0
    assert (first != third).nnz > 0


def test_pickles_and_clones(counts):
    import pickle

    from sklearn.base import clone

    model = EDCM(smoothing=0.5).fit(counts)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.log_prob(counts), model.log_prob(counts))
    assert clone(model).smoothing == 0.5


@given(
    arrays(np.int32, st.tuples(st.integers(1, 7), st.integers(1, 6)), elements=st.integers(0, 9)),
    st.sampled_from(COUNTING),
)
def test_any_small_table_has_a_finite_fit(table, estimator):
    """Whatever the table, parameters are finite and the documents fitted have a finite log-probability."""
    if not table.any():
        with pytest.raises(ValueError, match="every document is empty"):
            estimator().fit(table)
        return
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = estimator().fit(table)
    for name in names(model._parameters):
        assert np.all(np.isfinite(getattr(model._parameters, name)))
    log_prob = model.log_prob(table)
    assert np.all(np.isfinite(log_prob))
    assert np.all(log_prob <= 1e-9)


@pytest.mark.parametrize("estimator", [Multinomial, DCM, EDCM])
def test_urns_can_be_shrunk_towards_the_corpus(estimator):
    X, y = np.array([[3, 1, 0], [0, 1, 4], [2, 2, 0], [1, 0, 5]]), [0, 1, 0, 1]
    shrunk = BayesClassifier(family=estimator(), smoothing="shrink", refine=None).fit(X, y)
    assert shrunk.predict(X).tolist() == y
