"""Fixtures for the tests of the Dask engine."""

from __future__ import annotations

import importlib

import pytest

from bursty.corpus import shards
from bursty.engines import chunks, local
from bursty.inference import starts


@pytest.fixture(scope="module")
def small_chunks():
    """Chunks of forty documents in every process that places them."""
    from engines.dask_clusters import SIZE, engine

    dask_collections = importlib.import_module("bursty.engines.dask_collections")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "cut", lambda table: chunks.cut(table, SIZE))
        patch.setattr(engine, "cut", lambda table: chunks.cut(table, SIZE))
        patch.setattr(dask_collections, "SHARD_SIZE", SIZE)
        patch.setattr(shards, "SHARD_SIZE", SIZE)
        patch.setattr(starts, "KMEANS_RUNS", 2)
        yield


@pytest.fixture(scope="module")
def client():
    """A client of two workers."""
    from engines.dask_clusters import distributed, start_cluster

    with start_cluster(2) as workers, distributed.Client(workers) as client:
        yield client
