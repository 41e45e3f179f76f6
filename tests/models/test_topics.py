"""What LDA and DCMLDA share: streams, the topics of words, several starts, interruptions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import bursty
from bursty import DCMLDA, LDA, Checkpoint, Corpus
from bursty.engines import chunks, local
from bursty.inference import checkpoint as checkpoints
from bursty.inference import mcem
from bursty.kernels import threads
from samplers import oracles_topics as oracles

N_WORDS = 40
KINDS = [DCMLDA, LDA]


def make(kind, n_documents, seed=0):
    """Documents of three topics with their own words, and some words that all share."""
    rng = np.random.default_rng(seed)
    beta = np.full((N_WORDS, 3), 0.02)
    for k, s in enumerate((4.0, 12.0, 40.0)):
        beta[10 * k : 10 * k + 10, k], beta[30:, k] = 0.09 * s, 0.01 * s
    alpha, lengths = np.array([0.3, 0.5, 0.2]), rng.integers(40, 120, size=n_documents)
    if kind is DCMLDA:
        return oracles.make_dcmlda(lengths, alpha, beta, rng)[0]
    return oracles.make_lda(lengths, alpha, beta / beta.sum(axis=0), rng)


def stream(kind, counts, size, **options):
    model = kind(3, random_state=1, **options)
    for start in range(0, len(counts), size):
        model.partial_fit(counts[start : start + size])
    return model


def short(kind, **options):
    return kind(
        **{
            "n_components": 3,
            "random_state": 0,
            "n_iter": 4,
            "burn_in": 3,
            "n_sweeps": 1,
            "n_samples": 2,
            "tol": 0,
            **options,
        }
    )


# Streams -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_comes_near_to_a_fit_of_all(kind):
    counts, new = make(kind, 900), make(kind, 150, seed=9)
    whole = kind(3, random_state=1).fit(counts).score(new)
    first, all_of_it = (stream(kind, part, 100, n_init=3).score(new) for part in (counts[:100], counts))
    assert all_of_it > first
    assert whole - all_of_it < 0.4 * (whole - first)


def test_the_first_call_is_a_fit():
    counts = make(LDA, 60)
    one, other = short(LDA).fit(counts), short(LDA).partial_fit(counts)
    assert one.components_.tobytes() == other.components_.tobytes()
    assert one.doc_topic_.tobytes() == other.doc_topic_.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_has_the_same_bits_for_any_threads_and_chunks(kind, monkeypatch):
    counts = make(kind, 150)
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    fits = [stream(kind, counts, 50, n_jobs=n, n_iter=4, tol=0) for n in (1, 2, 5)]
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 17))
    fits.append(stream(kind, counts, 50, n_iter=4, tol=0))
    for other in fits[1:]:
        for name in ("alpha_", "beta_", "components_", "doc_topic_"):
            assert getattr(fits[0], name).tobytes() == getattr(other, name).tobytes(), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_has_the_same_bits_for_any_chunks(kind, monkeypatch):
    counts, options = make(kind, 100), {"learn_hyperparameters": True, "n_sweeps": 2}
    whole = short(kind, **options).fit(counts)
    for size in (7, 33):
        monkeypatch.setattr(local, "cut", lambda table, size=size: chunks.cut(table, size))
        parts = short(kind, **options).fit(counts)
        for name in ("alpha_", "beta_", "components_", "doc_topic_"):
            assert getattr(whole, name).tobytes() == getattr(parts, name).tobytes(), name


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_goes_on_after_it_was_saved(kind, tmp_path):
    counts = make(kind, 120)
    model = stream(kind, counts[:80], 40, n_iter=4, tol=0)
    back = bursty.load(bursty.save(model, tmp_path / "kept"))
    for learner in (model, back):
        learner.partial_fit(counts[80:])
    assert model.components_.tobytes() == back.components_.tobytes()
    assert model.alpha_.tobytes() == back.alpha_.tobytes()


def test_what_a_stream_keeps_does_not_grow():
    """As large as what its documents have, however many chunks come; what has faded is let go."""

    def size(model):
        return sum(part["weights"].nnz for part in model._stream["mean"].values() if isinstance(part, dict))

    counts = make(DCMLDA, 40)
    model = short(DCMLDA).partial_fit(counts)
    sizes = []
    for t in range(1, 120):
        model.partial_fit(counts[t % 30 : t % 30 + 10] * (1 + t % 7 if t < 40 else 1))
        sizes.append(size(model))
    assert sizes[-1] < 1.05 * sizes[50]
    assert all(len(value) < 5000 for value in (model._topics, model.doc_topic_))


@pytest.mark.parametrize("kind", KINDS)
def test_chunks_that_say_nothing_or_do_not_fit(kind):
    counts = make(kind, 60)
    model = short(kind).partial_fit(counts)
    before = model.components_.copy()
    with pytest.warns(UserWarning, match="5 documents have no words"):
        model.partial_fit(np.zeros((5, N_WORDS), dtype=int))
    np.testing.assert_allclose(model.components_, before, atol=0.02)
    np.testing.assert_allclose(model.doc_topic_, np.tile(model.doc_topic_[0], (5, 1)))
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(counts[:, :7])
    with pytest.raises(ValueError, match=r"there are 3 topics so far.*call fit to start again"):
        model.set_params(n_components=4).partial_fit(counts)


def test_fixed_hyperparameters_stay_fixed_in_a_stream():
    counts = make(LDA, 90)
    model = stream(LDA, counts, 30, learn_hyperparameters=False, alpha=0.4, beta=0.1, n_iter=5, tol=0)
    np.testing.assert_array_equal(model.alpha_, 0.4)
    np.testing.assert_array_equal(model.beta_, 0.1)
    np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)


# Topics of words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_topics_of_words(kind):
    counts = make(kind, 150)
    model = kind(3, random_state=0, n_iter=30, tol=0).fit(counts)
    new = make(kind, 20, seed=5)
    new[3] = 0
    found, sparse = model.assign(new), sp.csr_array(new)
    np.testing.assert_array_equal(found.indptr, sparse.indptr)
    np.testing.assert_array_equal(found.words, sparse.indices)
    np.testing.assert_array_equal(found.counts, sparse.data)
    assert found.probabilities.shape == (sparse.nnz, 3)
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.topics, found.probabilities.toarray().argmax(axis=1))
    # A document's mixture is that of its words.
    for row, mixture in enumerate(model.transform(new)):
        own = found.document(row)
        mean = own.counts @ own.probabilities.toarray() + model.alpha_
        np.testing.assert_allclose(mixture, mean / mean.sum())
    # Words that mainly one topic has mainly come from that topic.
    order = model.components_[:, :30].argmax(axis=0)
    clear = found.words < 30
    assert np.mean(found.topics[clear] == order[found.words[clear]]) > 0.7


@pytest.mark.parametrize("kind", KINDS)
def test_topics_of_words_do_not_depend_on_neighbours_threads_or_memory(kind, monkeypatch):
    from bursty.inference import heldout

    counts = make(kind, 40)
    model = short(kind).fit(counts)
    whole = model.assign(counts)
    monkeypatch.setattr(threads, "MIN_WORK", 1)
    monkeypatch.setattr(heldout, "_TABLE", 200)
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 7))
    parts = model.set_params(n_jobs=2).assign(counts)
    assert whole.probabilities.data.tobytes() == parts.probabilities.data.tobytes()
    np.testing.assert_array_equal(whole.probabilities.indices, parts.probabilities.indices)
    np.testing.assert_array_equal(whole.topics, parts.topics)
    alone = model.assign(counts[[7]])
    np.testing.assert_array_equal(alone.probabilities.toarray(), whole.document(7).probabilities.toarray())


def test_topics_of_words_need_a_fit_and_its_words():
    with pytest.raises(NotFittedError):
        LDA().assign(np.ones((2, 3), dtype=int))
    corpus = Corpus(make(LDA, 20), [f"word{i}" for i in range(N_WORDS)])
    model = short(LDA).fit(corpus)
    with pytest.raises(ValueError, match="vocabulary of these documents"):
        model.assign(Corpus(corpus.counts, [f"other{i}" for i in range(N_WORDS)]))


# Several starts, and interruptions ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_of_several_starts(kind):
    counts = make(kind, 60)
    rng = np.random.default_rng(6)
    singles = [short(kind, random_state=rng).fit(counts) for _ in range(5)]

    def score(model):
        """Mean of the last ten iterations, or of the later half: that of one is noisy."""
        values = model.trace_["log_likelihood"]
        return np.mean(values[-min(10, len(values) // 2 + 1) :])

    best = max(singles, key=score)
    assert best is not singles[0]
    several = short(kind, n_init=5, random_state=6).fit(counts)
    assert several.components_.tobytes() == best.components_.tobytes()
    assert several.doc_topic_.tobytes() == best.doc_topic_.tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [1, 4, 5, 9, 12])
def test_several_starts_survive_being_stopped(kind, after, tmp_path, monkeypatch):
    counts, where = make(kind, 30), Checkpoint(tmp_path / "fit", iterations=1)
    whole = short(kind, n_init=3).fit(counts)
    write_tree, written = checkpoints.write_tree, []

    def write(*args):
        write_tree(*args)
        written.append(1)
        if len(written) == after:
            raise RuntimeError("stopped")

    monkeypatch.setattr(checkpoints, "write_tree", write)
    with pytest.raises(RuntimeError, match="stopped"):
        short(kind, n_init=3, checkpoint=where).fit(counts)
    resumed = short(kind, n_init=3, checkpoint=where).fit(counts)
    assert whole.components_.tobytes() == resumed.components_.tobytes()
    assert whole.doc_topic_.tobytes() == resumed.doc_topic_.tobytes()
    assert len(written) == 12
    assert not where.path.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_interrupted_in_the_middle_of_an_iteration(kind, tmp_path, monkeypatch):
    """Ctrl-C keeps the last whole iteration: a fit that finds the checkpoint ends as if nothing had happened."""
    counts, where = make(kind, 30), tmp_path / "fit"
    whole = short(kind, n_sweeps=3).fit(counts)
    move, calls = mcem.Chains.move, []

    def interrupted(self, *args, **shared):
        calls.append(1)
        if len(calls) == (8 if kind is LDA else 24):
            raise KeyboardInterrupt
        return move(self, *args, **shared)

    monkeypatch.setattr(mcem.Chains, "move", interrupted)
    with pytest.warns(UserWarning, match=r"interrupted after [123] iterations.*warm_start=True"):
        model = short(kind, n_sweeps=3, checkpoint=where).fit(counts)
    monkeypatch.undo()
    assert model.transform(counts).shape == (30, 3)
    assert where.exists()
    resumed = short(kind, n_sweeps=3, checkpoint=where).fit(counts)
    assert whole.components_.tobytes() == resumed.components_.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_interrupted_at_the_end(kind, monkeypatch):
    counts = make(kind, 30)
    average, calls = mcem.average, []

    def interrupted(*args):
        calls.append(args[-1])
        if len(calls) == 1:
            raise KeyboardInterrupt
        return average(*args)

    monkeypatch.setattr(mcem, "average", interrupted)
    with pytest.warns(UserWarning, match="interrupted after 4 iterations"):
        model = short(kind).fit(counts)
    assert calls == [2, 1]
    assert model.doc_topic_.shape == (30, 3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_init": 0}, "n_init must be a positive integer"),
        ({"n_samples": 1.5}, "n_samples must be a positive integer"),
        ({"n_sweeps": 0}, "n_sweeps must be"),
        ({"tol": -1.0}, "tol must be a finite non-negative number"),
        ({"alpha": [1.0, np.nan, 1.0]}, "alpha must be finite and above 0, but holds nan"),
        ({"beta": np.inf}, "beta must be finite and above 0, but holds inf"),
        ({"beta": 0.0}, "beta must be finite and above 0, but holds 0"),
        ({"learn_hyperparameters": "some"}, "learn_hyperparameters must be"),
        ({"n_components": N_WORDS + 1}, "40 words cannot make 41 topics"),
    ],
)
def test_bad_parameters(kind, options, message):
    with pytest.raises(ValueError, match=message):
        short(kind, **options).fit(make(kind, 10))


def test_core_documents_of_topics_are_those_of_the_fit():
    counts = make(LDA, 10)
    model = short(LDA).fit(counts)
    assert [len(rows) for rows in model.core_documents(np.int64(2))] == [2] * len(model.alpha_)
    with pytest.raises(TypeError, match=r"n must be an integer, not .*: the documents are always those of the fit"):
        model.core_documents(counts)


@pytest.mark.parametrize("kind", KINDS)
def test_as_many_topics_as_words_and_documents_of_no_and_one_word(kind):
    counts = np.array([[3, 0, 1, 0], [0, 2, 0, 4], [0, 0, 0, 0], [0, 1, 0, 0]])
    with pytest.warns(UserWarning, match="1 document has no words"):
        model = kind(4, random_state=0, n_iter=5, tol=0).fit(counts)
    assert np.all(np.isfinite(model.components_))
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1.0)
    scores = model.score_samples(counts)
    assert scores[2] == 0.0
    mean = model.alpha_ @ model.components_ / model.alpha_.sum()
    np.testing.assert_allclose(scores[3], np.log(mean[1]), rtol=1e-10)
    np.testing.assert_allclose(model.transform(counts)[2], model.alpha_ / model.alpha_.sum())


def test_progress_says_how_likely_how_fast_and_how_long(monkeypatch):
    from bursty.models import topics

    said = []

    class Bar:
        def __enter__(self):
            return said.append

        def __exit__(self, *args):
            return None

    def bar(description, total, enabled):
        said.append((description, total, enabled))
        return Bar()

    monkeypatch.setattr(topics, "progress", bar)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        short(LDA, n_init=2, verbose=1).fit(make(LDA, 10))
    assert said[0] == ("topics", 8, True)
    assert len(said) == 9
    assert "nats/token" in said[1]
    assert "tokens/s" in said[1]
