"""What holds for GPUs of Dask workers, in numba's simulator: ``python tests/engines/dask_cuda_cases.py``.

Workers have one thread each; all are threads of this process, so that they see what is patched here.
"""

from __future__ import annotations

import gc
import pickle
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from distributed import Client

sys.path.insert(0, str(Path(__file__).parents[1]))

from bursty import DCMLDA, LDA, Corpus, Mixture, save
from bursty.corpus import write_shards
from bursty.engines import chunks
from bursty.engines import cuda as engine
from bursty.engines import dask_tasks as tasks
from bursty.engines.cuda import CudaChunk, fetch
from bursty.engines.dask import DaskEngine
from bursty.inference.topics import cuda_lda, cuda_sweeps, dcmlda, lda
from bursty.samplers.dcmlda import Hyperparameters

# Few threads, each of which costs time here.
cuda_sweeps.SHAPES, cuda_sweeps.MOVES, cuda_sweeps._COUNTING = ((2**31, 2, 4),), (2, 2), 2

patched = patch.object
DENSE = np.array([[2, 0, 1], [0, 1, 0], [1, 1, 0], [0, 2, 1]], dtype=np.int32)
SAMPLING = {"n_iter": 2, "n_sweeps": 1, "burn_in": 1, "n_samples": 1, "tol": 0, "random_state": 0}
TOPIC_MODELS = DCMLDA(2, **SAMPLING), LDA(2, learn_hyperparameters=True, **SAMPLING)


@contextmanager
def workers(n_workers):
    """A client of threads."""
    options = {"processes": False, "dashboard_address": ":0", "threads_per_worker": 1}
    with Client(n_workers=n_workers, **options) as client:
        yield client


@contextmanager
def small():
    """Two chunks, and a short start."""
    with patched(engine, "_CELLS", 3), patched(dcmlda, "_START_SWEEPS", 2):
        yield


def through(client, model, counts=DENSE):
    """The model fitted on the GPUs of the workers."""
    return model.set_params(engine=DaskEngine(client, device="cuda")).fit(counts)


def found(model):
    """All that a fit found, as arrays."""
    arrays = {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}
    return arrays | {name: np.array(value) for name, value in model.trace_.items() if "second" not in name}


def check_topics_are_those_of_one_gpu_for_any_number_of_workers():
    """With the same chunks and, as the M step of workers is that of the client, with phi drawn by the CPU."""
    for model in TOPIC_MODELS:
        with small(), patched(engine, "cut", in_pairs), patched(cuda_lda, "new_phi", phi_of_the_cpu):
            one = found(model.set_params(engine="cuda").fit(DENSE))
        assert {"_topics", "beta_", "alpha_", "doc_topic_", "log_likelihood"} <= set(one)
        for n_workers in (1, 2):
            with small(), workers(n_workers) as client:
                other = found(through(client, model))
            assert set(one) == set(other)
            for name, value in one.items():
                np.testing.assert_array_equal(other[name], value, err_msg=name)


def in_pairs(counts, size):
    """The chunks of workers."""
    pairs = list(chunks.cut(counts, 2))
    with patched(engine, "cut", chunks.cut):
        assert [len(pair.indptr) for pair in engine.cut_for_cards(counts)] == [len(pair.indptr) for pair in pairs]
    return pairs


def phi_of_the_cpu(counts, *rest):
    """As the client draws it."""
    return lda.new_phi(fetch(counts), *rest)


def check_mixtures_are_those_of_this_process():
    """With labels and weights of documents, which stay with the workers."""
    weights = np.linspace(0.5, 2.0, len(DENSE))
    for family in ("edcm", "dcm"):
        model = Mixture(2, family=family, init="perturb", max_iter=2, tol=0.0, random_state=0)
        here = model.set_params(engine="local").fit(DENSE, sample_weight=weights)
        expected, trace = here.probabilities_, here.trace_["log_likelihood"]
        results = []
        for n_workers in (1, 2) if family == "edcm" else (2,):
            with small(), workers(n_workers) as client:
                there = model.set_params(engine=DaskEngine(client, device="cuda")).fit(DENSE, sample_weight=weights)
                np.testing.assert_allclose(there.probabilities_, expected, rtol=1e-5, atol=1e-8)
                np.testing.assert_allclose(there.trace_["log_likelihood"], trace, rtol=1e-6)
                results.append(found(there))
        for name, value in results[0].items():
            np.testing.assert_array_equal(results[-1][name], value, err_msg=name)


def check_what_was_used_on_the_gpu_can_travel():
    """Chunks, columns and parameters; what released chunks had on the GPU is freed by the next task."""
    with small(), workers(1) as client, tempfile.TemporaryDirectory() as folder:
        documents = DaskEngine(client, device="cuda").place(sp.csr_array(DENSE))
        model = DCMLDA(2, engine=DaskEngine(client, device="cuda"), **SAMPLING)
        model.fit(documents)
        (share,) = client.gather(documents.chunks)
        assert len(share) == 2
        for chunk in share:
            assert isinstance(chunk, CudaChunk)
            assert "on_card" in chunk.__dict__
            arrived = pickle.loads(pickle.dumps(chunk))
            assert not {*engine._ON_CARD, "_is_watched"} & set(arrived.__dict__)
            np.testing.assert_array_equal(arrived.counts.toarray(), chunk.counts.toarray())
            assert isinstance(chunk.select(np.array([0])), CudaChunk)
        mask = np.arange(len(DENSE)) != 3
        chosen = documents.select(mask)
        assert model.transform(chosen).shape == (3, 2)
        save(model, Path(folder) / "model.bursty")
        del chunk, share, documents, chosen
        gc.collect()
        until = time.monotonic() + 60
        while not tasks._released and time.monotonic() < until:
            time.sleep(0.01)
        released = list(tasks._released)
        assert any("on_card" in left for left in released)
        # Shards are chunks as they are, and are opened by the workers.
        sharded = write_shards(Path(folder) / "corpus", Corpus(DENSE))
        assert through(client, DCMLDA(2, **SAMPLING), sharded).beta_.shape == (2, 3)
        assert through(client, DCMLDA(2, **SAMPLING), DENSE.astype(float)).beta_.shape == (2, 3)
        assert not any(left is old for left in tasks._released for old in released)


def check_a_task_leaves_its_parameters_as_they_were():
    """They may have to travel to another worker; its results are plain arrays."""
    chunk = CudaChunk(chunks.Chunk(sp.csr_array(DENSE)))
    params = Hyperparameters(np.ones(2), np.ones((3, 2)))
    shared = {"params": params, "seed": 0, "numbers": range(1), "learn": True}
    topics = np.zeros(DENSE.sum(), dtype=np.uint8)
    ((moved, stats),) = tasks.run_on_card(tasks.map_chunks, dcmlda.sweeps, shared, (0, 1), [chunk], [0], [topics])
    assert set(params.__dict__) == {"alpha", "beta", "background"}
    assert isinstance(moved, np.ndarray)
    assert isinstance(stats, dcmlda.DCMLDAStatistics)
    assert tasks.run_on_card(
        tasks.map_chunks, lda.mixtures, {"alpha": params.alpha, "learn": False}, (0, 1), [chunk], [0], [moved]
    )


CASES = [function for name, function in list(globals().items()) if name.startswith("check_")]

if __name__ == "__main__":
    # The simulator's whole numbers are NumPy's, which warn where 64 bits overflow, as those of a hash do.
    warnings.filterwarnings("ignore", message="overflow encountered")
    warnings.filterwarnings("ignore", message=".* did not converge")
    for function in CASES:
        began = time.perf_counter()
        function()
        print(f"{function.__name__}: passed in {time.perf_counter() - began:.1f} s", flush=True)
