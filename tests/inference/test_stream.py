"""A running mean of statistics, in which old chunks fade."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bursty.engines import Chunk
from bursty.families import get_family
from bursty.inference.stream import FORGOTTEN, Stream
from bursty.inference.topics.lda import LDAStatistics
from bursty.samplers.tokens import item_levels, length_levels


def test_steps_of_a_stream():
    tables = [np.array([[4.0, 0.0], [2.0, 2.0]]), np.array([[0.0, 6.0], [0.0, 0.0]])]
    stats = [LDAStatistics(*_levels(t), 1.0, *_levels(t), t) for t in tables]
    mixed = Stream.begin(stats[0], 2).mix(stats[1], 3)
    step = 3.0**-0.6
    np.testing.assert_allclose(mixed.mean.word_topics, (1 - step) * tables[0] / 2 + step * tables[1] / 3)
    assert (mixed.n_documents, mixed.n_chunks) == (5, 1)
    back = Stream.unpack(type(stats[0]), mixed.pack())
    np.testing.assert_array_equal(back.mean.word_topics, mixed.mean.word_topics)
    np.testing.assert_array_equal(back.mean.words.weights, mixed.mean.words.weights)
    faded = Stream(stats[0] * (FORGOTTEN / 100), 2).pack()["mean"]
    assert faded["word_topics"].nnz == len(faded["words"]["items"]) == 0


def _levels(table):
    counts = table.astype(np.int64)
    return item_levels(counts), length_levels(counts.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("name", ["multinomial", "dcm"])
def test_a_mean_of_chunks_is_a_weighted_sum(name):
    """Of all documents, with the steps of online EM: (t + 2) to the power of -0.6 for chunk t."""
    family, rng = get_family(name), np.random.default_rng(0)
    tables = [rng.poisson(1.0, size=(4, 5)).astype(np.int32) for _ in range(4)]
    stats = [family.summarize(Chunk(sp.csr_array(table)), np.ones((4, 2))) for table in tables]
    stream, weights = Stream.begin(stats[0], 4), [0.25, 0.0, 0.0, 0.0]
    for t in (1, 2, 3):
        stream = stream.mix(stats[t], 4.0)
        step = (t + 2.0) ** -0.6
        weights = [w * (1 - step) for w in weights]
        weights[t] = step / 4
    assert (stream.n_documents, stream.n_chunks) == (16, 3)
    whole = stats[0] * weights[0]
    for one, weight in zip(stats[1:], weights[1:], strict=True):
        whole = whole + one * weight
    expected = family.update(whole).table
    np.testing.assert_allclose(family.update(stream.mean).table, expected)
    back = Stream.unpack(type(stats[0]), stream.pack())
    np.testing.assert_allclose(family.update(back.mean).table, expected)
    assert (back.n_documents, back.n_chunks) == (16, 3)


def test_what_has_faded_is_dropped_and_no_more():
    tokens = np.array([[0.5 * FORGOTTEN, 3.0], [2 * FORGOTTEN, 0.0]])
    kind = type(get_family("multinomial").summarize(Chunk(sp.csr_array(np.eye(2, dtype=np.int32))), np.ones((2, 2))))
    kept = Stream.unpack(kind, Stream(kind(tokens), 1).pack()).mean.tokens
    np.testing.assert_array_equal(kept, [[0.0, 3.0], [2 * FORGOTTEN, 0.0]])


def test_a_stream_that_does_not_fit_is_refused():
    kind = type(get_family("multinomial").summarize(Chunk(sp.csr_array(np.eye(2, dtype=np.int32))), np.ones((2, 2))))
    packed = Stream(kind(np.ones((5, 2))), 3).pack()
    Stream.check(kind, packed, {"n_words": 5, "K": 2})
    for sizes in ({"n_words": 4, "K": 2}, {"n_words": 5, "K": 3}):
        with pytest.raises(ValueError, match=r"the stream has a table of shape \(5, 2\)"):
            Stream.check(kind, packed, sizes)
    with pytest.raises(ValueError, match="n_documents"):
        Stream.check(kind, {**packed, "n_documents": -1}, {"n_words": 5, "K": 2})
