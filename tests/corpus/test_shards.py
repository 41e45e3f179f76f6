from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from bursty import DCMLDA, LDA, BayesClassifier, Corpus, Mixture, families, read_corpus
from bursty.corpus import shards as module
from bursty.corpus.shards import ShardedCorpus, write_shards
from bursty.engines import chunks, local
from bursty.storage import read_tree, write_tree


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(module, "SHARD_SIZE", 20)
    monkeypatch.setattr(local, "cut", lambda table: chunks.cut(table, 20))


@pytest.fixture
def corpus():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 70)
    rates = rng.gamma(0.3, 1.0, (3, 30))[labels]
    counts = rng.poisson(rates * rng.gamma(1.0, 1.0, (70, 30))).astype(np.int32)
    counts[5] = 0
    return Corpus(
        counts,
        [f"word{i}" for i in range(30)],
        ids=[f"doc {i}" for i in range(70)],
        labels=labels,
        label_names=["a", "b", "c"],
        metadata={"year": np.arange(70)},
        info={"name": "test"},
    )


@pytest.fixture
def sharded(corpus, tmp_path):
    return write_shards(tmp_path / "corpus", corpus)


def joined(parts):
    return sp.vstack([part.counts for part in parts]).toarray()


def test_names_of_other_documents_are_refused(sharded):
    """Two shards of as many documents; files of 0.1, which do not say whose they are, are read."""
    paths = [sharded.path / f"0000{number}.names" for number in (0, 1)]
    first, second = (path.read_bytes() for path in paths)
    paths[0].write_bytes(second)
    paths[1].write_bytes(first)
    with pytest.raises(ValueError, match=r"shard 0 .* 00000\.names belongs to other counts"):
        ShardedCorpus(sharded.path).ids  # noqa: B018 - reading is what is tested
    for path, content in zip(paths, (first, second), strict=True):
        path.write_bytes(content)
        tree = read_tree(path, "shards")
        del tree["shard"]
        write_tree(path, "shards", tree)
    np.testing.assert_array_equal(ShardedCorpus(sharded.path).ids, sharded.ids)


def test_the_number_of_shards_is_said(corpus, sharded, tmp_path):
    assert repr(sharded).endswith(", 4 shards>")
    assert repr(write_shards(tmp_path / "one", corpus.select(slice(20)))).endswith(", 1 shard>")


def test_round_trip(corpus, sharded):
    assert sharded.path.name == "corpus.bshards"
    assert (sharded.shape, len(sharded)) == ((70, 30), 70)
    assert [shard.documents for shard in sharded.shards] == [20, 20, 20, 10]
    parts = list(sharded.parts())
    np.testing.assert_array_equal(joined(parts), corpus.counts.toarray())
    np.testing.assert_array_equal(sharded.labels, corpus.labels)
    np.testing.assert_array_equal(sharded.ids, corpus.ids)
    np.testing.assert_array_equal(sharded.vocabulary, corpus.vocabulary)
    np.testing.assert_array_equal(np.concatenate([part.metadata["year"] for part in parts]), np.arange(70))
    assert sharded.info == corpus.info
    assert "70 documents x 30 words" in repr(sharded)
    assert sum(shard.empty for shard in sharded.shards) == np.count_nonzero(corpus.counts.sum(axis=1) == 0)


def test_parts_of_any_size_make_the_same_shards(corpus, sharded, tmp_path):
    pieces = [corpus.select(slice(start, start + 13)) for start in range(0, 70, 13)]
    other = write_shards(tmp_path / "pieces", iter(pieces))
    assert other.shards == sharded.shards


def test_several_labels_a_document(corpus, tmp_path):
    table = np.zeros((70, 2), dtype=int)
    table[::2, 0] = table[::3, 1] = 1
    several = Corpus(corpus.counts, corpus.vocabulary, label_matrix=table, label_names=["x", "y"])
    sharded = write_shards(tmp_path / "several", several)
    assert sharded.labels is None
    got = sp.vstack([part.label_matrix for part in sharded.parts()]).toarray()
    np.testing.assert_array_equal(got, table)


ESTIMATORS = [
    families.DCM(),
    families.EDCM(smoothing=0.01),
    families.VonMisesFisher(),
    Mixture(3, random_state=0),
    Mixture(3, family="dcm", init="perturb", max_iter=20, tol=1e-3, random_state=0),
    BayesClassifier(),
    BayesClassifier.from_name("C-TW-L-M"),
    LDA(3, n_iter=5, tol=0, random_state=0),
    DCMLDA(3, n_iter=5, tol=0, random_state=0),
]


@pytest.mark.filterwarnings("ignore:1 document has no words", "ignore:EM did not converge")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_fit_from_shards_is_the_fit_from_memory_to_the_bit(estimator, corpus, sharded):
    from sklearn.base import clone

    memory, disk = (clone(estimator).fit(X, corpus.labels) for X in (corpus, sharded))
    compared = 0
    for name, value in vars(memory).items():
        if isinstance(value, np.ndarray) and name != "trace_":
            np.testing.assert_array_equal(np.asarray(getattr(disk, name)), value, err_msg=name)
            compared += 1
    assert compared >= 1
    for method in ("predict_proba", "score_samples", "log_prob", "transform", "predict_joint_log_proba"):
        if hasattr(memory, method):
            np.testing.assert_array_equal(getattr(disk, method)(sharded), getattr(memory, method)(corpus))


def test_the_folder_appears_whole_or_not_at_all(corpus, sharded, tmp_path, monkeypatch):
    before = sorted(path.name for path in sharded.path.iterdir())

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.np, "save", full)
    with pytest.raises(OSError, match="No space left"):
        write_shards(sharded.path, corpus)
    assert sorted(path.name for path in sharded.path.iterdir()) == before
    assert [path.name for path in tmp_path.iterdir()] == ["corpus.bshards"]
    np.testing.assert_array_equal(joined(ShardedCorpus(sharded.path).parts()), corpus.counts.toarray())


def test_writing_again_replaces(corpus, sharded):
    again = write_shards(sharded.path, corpus.select(slice(0, 10)))
    assert len(again) == 10


def test_a_folder_of_other_things_is_left_alone(corpus, tmp_path):
    folder = tmp_path / "mine.bshards"
    folder.mkdir()
    (folder / "precious").write_text("x")
    with pytest.raises(FileExistsError, match="not a folder of shards"):
        write_shards(folder, corpus)
    assert (folder / "precious").read_text() == "x"


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: (path / "00001.npy").unlink(), "shard 1 .* missing"),
        (lambda path: (path / "00002.npy").write_bytes(b"short"), "shard 2 .* shorter"),
        (lambda path: (path / "index").unlink(), "has no index"),
        (lambda path: (path / "index").write_bytes(b"PK\x03\x04 nonsense"), "index"),
    ],
)
def test_missing_and_short_shards_are_named_at_once(sharded, spoil, message):
    spoil(sharded.path)
    with pytest.raises(ValueError, match=message):
        ShardedCorpus(sharded.path)


@pytest.mark.filterwarnings("ignore:1 document has no words")
def test_a_flipped_byte_is_found_before_it_is_used(sharded):
    path = sharded.path / "00003.npy"
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"shard 3 of .* checksum"):
        families.DCM().fit(ShardedCorpus(sharded.path))


def test_positions_outside_the_table_are_refused_even_with_a_right_checksum(sharded):
    import zlib

    path = sharded.path / "00000.npy"
    flat = np.load(path)
    flat[25] = 10_000_000  # a word
    np.save(path, flat)
    index = read_tree(sharded.path / "index", "shards")
    index["shards"][0][4] = zlib.crc32(flat.data)
    write_tree(sharded.path / "index", "shards", index)
    with pytest.raises(ValueError, match=r"shard 0 of .* but there are 30 columns"):
        ShardedCorpus(sharded.path).shard_counts(0)


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("index", lambda tree: tree["shards"][0].__setitem__(0, 10.0), "not integers"),
        ("index", lambda tree: tree.__setitem__("has_words", 1), "whether words have names"),
        ("00000.names", lambda tree: tree.__setitem__("labels", tree["labels"] * 1.0), "labels are of type float64"),
        ("00000.names", lambda tree: tree.__setitem__("metadata", {0: tree["metadata"]["year"]}), "have no names"),
        ("00000.names", lambda tree: tree.__setitem__("more", 1), "does not contain ids, labels, metadata"),
    ],
)
def test_values_of_other_types_are_refused(sharded, file, change, message):
    """They would be converted without a word."""
    tree = read_tree(sharded.path / file, "shards")
    change(tree)
    write_tree(sharded.path / file, "shards", tree)
    with pytest.raises(ValueError, match=message):
        list(ShardedCorpus(sharded.path).parts())


def test_pickled_shards_are_never_loaded(sharded):
    np.save(sharded.path / "00000.npy", np.array([{"a": 1}] * 5000, dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="shard 0 of"):
        ShardedCorpus(sharded.path).shard_counts(0)


def test_parts_of_one_corpus_have_one_vocabulary_and_one_set_of_labels(corpus, tmp_path):
    other = Corpus(corpus.counts, [f"other{i}" for i in range(30)], labels=corpus.labels, label_names=["a", "b", "c"])
    with pytest.raises(ValueError, match="part 1 has a different vocabulary"):
        write_shards(tmp_path / "mixed", [corpus, other])
    with pytest.raises(ValueError, match="part 1 has different label names"):
        write_shards(tmp_path / "mixed", [corpus, corpus.with_labels(corpus.labels, ["x", "y", "z"])])
    with pytest.raises(ValueError, match="no documents"):
        write_shards(tmp_path / "none", [])
    assert list(tmp_path.iterdir()) == []


def test_another_vocabulary_than_the_model(corpus, sharded):
    model = families.Multinomial(smoothing=0.1)
    with pytest.warns(UserWarning, match="no words"):
        model.fit(Corpus(corpus.counts, [f"other{i}" for i in range(30)]))
    with pytest.raises(ValueError, match="not the one Multinomial was fitted on"):
        model.log_prob(sharded)


def table(path, n=75):
    rng = np.random.default_rng(3)
    words = np.array(["alpha", "beta", "gamma", "delta", "zeta", "eta", "theta", "iota"])
    lines = ["id\tlabel\ttext"]
    for i in range(n):
        text = " ".join(rng.choice(words[: 3 + i // 15], rng.integers(0, 9)))
        lines.append(f"d{i}\t{'' if i % 9 == 0 else 'class' + str(i // 30)}\t{text}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    "options",
    [{}, {"min_df": 3, "max_df": 0.8, "drop_most_common": 1}, {"vocabulary": ["eta", "alpha"]}, {"max_documents": 41}],
)
def test_a_table_read_in_parts_is_the_table_read_whole(tmp_path, options):
    from bursty import read_corpus
    from bursty.corpus import read_parts

    path = table(tmp_path / "some.tsv")
    whole = read_corpus(path, **options)
    parts = list(read_parts(path, size=20, **options))
    assert all(len(part) <= 20 for part in parts)
    np.testing.assert_array_equal(joined(parts), whole.counts.toarray())
    for part in parts:
        assert part.vocabulary.tolist() == whole.vocabulary.tolist()
        assert part.label_names.tolist() == whole.label_names.tolist()
    np.testing.assert_array_equal(np.concatenate([part.labels for part in parts]), whole.labels)
    assert np.concatenate([part.ids for part in parts]).tolist() == whole.ids.tolist()
    assert len(write_shards(tmp_path / "out", read_parts(path, **options))) == len(whole)


def test_what_is_not_a_table_of_texts_is_cut(tmp_path, corpus):
    from bursty.corpus import read_parts

    saved = corpus.save(tmp_path / "corpus")
    np.testing.assert_array_equal(joined(read_parts(saved, size=33)), corpus.counts.toarray())
    with pytest.raises(FileNotFoundError, match="no such file or directory"):
        list(read_parts(tmp_path / "nothing"))


def test_read_corpus_says_what_opens_shards(tmp_path):
    path = write_shards(tmp_path / "notes", [Corpus.from_texts(["rain falls", "sun shines"])]).path
    with pytest.raises(ValueError, match=r"notes.bshards is a folder of shards.*ShardedCorpus\('.*notes.bshards'\)"):
        read_corpus(path)
