"""Corpora and shards that 0.1 wrote are read, to the same content."""

from __future__ import annotations

import numpy as np
import pytest

from bursty import families, read_corpus
from bursty.corpus import ShardedCorpus
from fixtures import make_models

FOLDER = make_models.FOLDER


@pytest.mark.parametrize("name", ["corpus", "corpus-multilabel"])
def test_corpora(name):
    corpus, expected = read_corpus(FOLDER / f"{name}.bcorpus"), make_models.corpus()
    np.testing.assert_array_equal(corpus.counts.toarray(), expected.counts.toarray())
    assert list(corpus.vocabulary) == list(expected.vocabulary)
    assert list(corpus.ids) == list(expected.ids)
    np.testing.assert_array_equal(corpus.metadata["year"], expected.metadata["year"])
    if name == "corpus":
        np.testing.assert_array_equal(corpus.labels, expected.labels)
    else:
        np.testing.assert_array_equal(corpus.label_matrix.toarray(), make_models.two_labels(expected))


def test_shards():
    sharded, expected = ShardedCorpus(FOLDER / "corpus.bshards"), make_models.corpus()
    (part,) = sharded.parts()
    np.testing.assert_array_equal(part.counts.toarray(), expected.counts.toarray())
    np.testing.assert_array_equal(sharded.labels, expected.labels)
    fitted = families.DCM().fit(sharded)
    np.testing.assert_array_equal(fitted.alpha_, families.DCM().fit(expected).alpha_)
