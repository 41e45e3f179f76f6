"""The Dask engine on real clusters of processes: the same bits as in this process, inputs of Dask, work and traffic."""

from __future__ import annotations

import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from bursty import datasets, families
from bursty.corpus.shards import write_shards
from bursty.engines import chunks, get_engine
from engines.dask_clusters import MARKS, MODELS, SIZE, assert_same, distributed, engine, fitted, start_cluster, tasks

pytestmark = MARKS


@pytest.fixture(scope="module")
def corpus():
    return datasets.make_bursty_mixture(150, 50, 3, random_state=0)[0]


@pytest.mark.parametrize("name", MODELS)
def test_same_bits_as_in_this_process(name, client, corpus):
    model = MODELS[name]
    here, there = (fitted(model, corpus, corpus.labels, engine=where) for where in ("local", "dask"))
    assert_same(here, there)
    for method in ("predict_proba", "log_prob", "transform", "score_samples"):
        if hasattr(here, method):
            np.testing.assert_array_equal(getattr(there, method)(corpus), getattr(here, method)(corpus))


def test_same_bits_for_any_workers_and_any_placement(corpus):
    names = "mixture", "classifier", "lda", "dcmlda"
    here = {name: fitted(MODELS[name], corpus, corpus.labels) for name in names}
    for n_workers in (1, 4):
        with start_cluster(n_workers) as workers, distributed.Client(workers) as client:
            for name in names:
                assert_same(here[name], fitted(MODELS[name], corpus, corpus.labels, engine=client))
            documents = get_engine(client).place(corpus.counts)
            pairs = zip(documents.shares, documents.shares[::-1], strict=True)
            documents.shares = [replace(share, home=other.home) for share, other in pairs]
            resp = np.random.default_rng(0).random((len(corpus), 3))
            local_documents = get_engine("local").place(corpus.counts)
            one, other = (d.sum(chunks.Chunk.sum_by_word, d.split(resp)) for d in (documents, local_documents))
            np.testing.assert_array_equal(one, other)


def test_shards_are_opened_by_the_workers(client, corpus, tmp_path):
    sharded = write_shards(tmp_path / "corpus", corpus)
    assert_same(
        fitted(MODELS["mixture"], corpus, corpus.labels), fitted(MODELS["mixture"], sharded, None, engine="dask")
    )


def test_shards_travel_as_names(corpus, tmp_path):
    sharded = write_shards(tmp_path / "corpus", corpus)
    opened = tasks.OpenShards(str(sharded.path), 1, 3)
    sent = pickle.dumps(opened)
    assert len(sent) < 1_000
    assert tasks.sizeof(opened) < 1_000
    arrived = pickle.loads(sent)
    assert len(arrived) == 2
    for chunk, other in zip(opened, arrived, strict=True):
        np.testing.assert_array_equal(chunk.counts.toarray(), other.counts.toarray())


def test_dask_knows_how_large_our_things_are(corpus):
    counts = corpus.counts
    assert tasks.sizeof([chunks.Chunk(counts)]) >= counts.data.nbytes + counts.indices.nbytes
    added = tasks.TreeSum()
    added.add(chunks.Levels(np.arange(5), np.arange(5), np.ones((5, 1_000)), 5))
    assert tasks.sizeof(added) >= 40_000
    assert tasks.bytes_of({"params": replace(added._branches[0][1], n_items=6)}) >= 40_000


@pytest.mark.parametrize("rows", [150, 40, 33, 7])
def test_dask_arrays_in_blocks_of_any_size(client, corpus, rows):
    import dask.array as da

    dense = da.from_array(corpus.counts.toarray(), chunks=(rows, 20))
    sparse = dense.rechunk({1: -1}).map_blocks(sp.csr_array)
    plain = families.DCM().fit(corpus.counts)
    for X in (dense, sparse):
        model = families.DCM(engine="dask").fit(X)
        np.testing.assert_array_equal(model.alpha_, plain.alpha_)
        np.testing.assert_array_equal(model.log_prob(X), plain.log_prob(corpus.counts))


def test_dask_arrays_in_a_mixture_a_classifier_and_a_topic_model(client, corpus):
    import dask.array as da

    X = da.from_array(corpus.counts.toarray(), chunks=(33, -1))
    for name in ("mixture", "classifier", "dcmlda"):
        here = fitted(MODELS[name], corpus.counts, corpus.labels)
        assert_same(here, fitted(MODELS[name], X, corpus.labels, engine="dask"))


def test_dask_data_frames_name_the_words(client, corpus):
    dd = pytest.importorskip("dask.dataframe")
    import pandas as pd

    frame = pd.DataFrame(corpus.counts.toarray(), columns=corpus.vocabulary.tolist())
    model = families.EDCM(engine="dask").fit(dd.from_pandas(frame, npartitions=4))
    assert model.feature_names_in_.tolist() == corpus.vocabulary.tolist()
    np.testing.assert_array_equal(model.beta_, families.EDCM().fit(frame).beta_)


def test_dask_bags_of_documents(client, corpus):
    import dask.bag as db

    rows = [corpus.counts[[i]] for i in range(len(corpus))]
    plain = families.EDCM().fit(corpus.counts)
    for documents in (rows, [row.toarray().ravel() for row in rows]):
        model = families.EDCM(engine="dask").fit(db.from_sequence(documents, npartitions=4))
        np.testing.assert_array_equal(model.beta_, plain.beta_)


def test_bad_blocks_are_named_before_any_work(client):
    import dask.array as da

    X = da.from_array(np.array([[1, 2], [3, -4]]), chunks=(1, 2))
    with pytest.raises(ValueError, match="Negative values in data passed to DCM"):
        families.DCM(engine="dask").fit(X)
    with pytest.raises(ValueError, match='use engine="dask"'):
        families.DCM().fit(X)
    with pytest.raises(ValueError, match="documents x words"):
        families.DCM(engine="dask").fit(da.ones(3))
    model = families.DCM(engine="dask").fit(da.ones((3, 4), dtype=int, chunks=(2, 4)))
    with pytest.raises(ValueError, match="4 features"):
        model.log_prob(da.ones((3, 5), dtype=int, chunks=(2, 5)))


def test_long_chains_are_cut_without_a_change(client, corpus, monkeypatch):
    here = fitted(MODELS["dcmlda"], corpus, None, n_iter=4)
    monkeypatch.setattr(engine, "GENERATIONS", 2)
    assert_same(here, fitted(MODELS["dcmlda"], corpus, None, n_iter=4, engine="dask"))


def test_work_is_shared_evenly(client, corpus):
    """Eight chunks of about equal size are four for each of two workers, wherever the exact middle falls."""
    for start in range(5):
        shuffled = corpus.counts[np.random.default_rng(start).permutation(len(corpus))]
        placed = get_engine(client).place(sp.csr_array(sp.vstack([shuffled] * 3)[: 8 * SIZE]))
        assert [(share.start, share.stop) for share in placed.shares] == [(0, 4), (4, 8)]
        assert len({share.home for share in placed.shares}) == 2


def test_every_thread_of_a_worker_has_a_share(corpus):
    with start_cluster(1, threads_per_worker=2) as workers, distributed.Client(workers, set_as_default=False) as client:
        placed = get_engine(client).place(corpus.counts)
        assert [(share.start, share.stop) for share in placed.shares] == [(0, 2), (2, 4)]
        assert placed.n_tokens == corpus.counts.sum()


@pytest.mark.parametrize("times", [1, 10])
def test_an_iteration_has_as_many_tasks_as_threads(times, client, corpus, monkeypatch):
    """Whatever the number of chunks: what is common to all, two shares, and one to add."""
    placed = get_engine(client).place(sp.csr_array(sp.vstack([corpus.counts] * times)))
    submit, tasks = engine._run, []
    monkeypatch.setattr(engine, "_run", lambda *args: tasks.append(args) or submit(*args))
    assert placed.sum(chunks.Chunk.document_frequency).sum() == times * corpus.counts.nnz
    assert len(tasks) == 4


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc's settings")
def test_workers_keep_the_memory_of_a_chunk_for_the_next(client, corpus):
    """Dask's setting would have every large array given back and cleared anew, page by page."""
    get_engine(client).place(corpus.counts).sum(chunks.Chunk.document_frequency)

    def faults():
        import resource

        def touch():
            np.ones(2**18)
            return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

        first, *_, last = (touch() for _ in range(11))
        return last - first

    # Given back, the array would be cleared ten times. Other threads of the worker touch a few pages, too.
    assert client.submit(faults, pure=False).result() < 10 * (2**18 * 8 // 4096) / 2


def _bytes_between_workers(client):
    return sum(client.run(lambda dask_worker: sum(t["total"] for t in dask_worker.transfer_incoming_log)).values())


@pytest.mark.parametrize("name", ["mixture", "dcmlda"])
def test_traffic_between_workers_does_not_grow_with_the_documents(name, client, corpus):
    sent = []
    for times in (1, 8):
        X = sp.csr_array(sp.vstack([corpus.counts] * times))
        before = _bytes_between_workers(client)
        fitted(MODELS[name], X, None, engine=client)
        sent.append(_bytes_between_workers(client) - before)
    assert sent[1] < 3.0 * sent[0]
