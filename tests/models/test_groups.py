"""Names, merges and the tree of clusters and topics."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
from scipy.cluster.hierarchy import dendrogram, fcluster, is_valid_linkage

import bursty
from bursty import DCMLDA, DPMFS, LDA, Corpus, Mixture, datasets
from bursty.models.hierarchy import agglomerate, make_hierarchy
from bursty.models.naming import find_phrase, name_of, representative, suggest


def information(p, w):
    """Mutual information of group and word, by its definition."""
    q = w @ p
    return sum(w[k] * p[k, v] * np.log(p[k, v] / q[v]) for k in range(len(p)) for v in range(p.shape[1]) if p[k, v] > 0)


def brute_force(p, w):
    """Merge the pair after which most information is left; what is lost after each merge, and the partitions."""
    groups, lost, partitions, whole = [[k] for k in range(len(p))], [], [], information(p, w)

    def left(parts):
        mass = np.array([w[part].sum() for part in parts])
        means = np.array([w[part] @ p[part] / w[part].sum() for part in parts])
        return information(means, mass)

    while len(groups) > 1:
        tried = []
        for a, b in combinations(range(len(groups)), 2):
            merged = [group for i, group in enumerate(groups) if i not in (a, b)] + [groups[a] + groups[b]]
            tried.append((left(merged), merged))
        best = max(tried, key=lambda pair: pair[0])
        groups = best[1]
        lost.append(1 - best[0] / whole)
        partitions.append({frozenset(group) for group in groups})
    return lost, partitions


@pytest.mark.parametrize("seed", range(3))
def test_the_tree_loses_the_least_information_at_each_merge(seed):
    rng = np.random.default_rng(seed)
    p, w = rng.dirichlet(np.full(12, 0.3), 7), rng.dirichlet(np.ones(7))
    linkage, means = agglomerate(p, w)
    lost, partitions = brute_force(p, w)
    np.testing.assert_allclose(linkage[:, 2], lost, atol=1e-12)
    np.testing.assert_allclose(means[-1], w @ p)
    tree = make_hierarchy(p, w, list("abcdefg"), np.arange(12).astype(str))
    for n in range(1, 7):
        assert {frozenset(group) for group in tree.groups(n)} == partitions[6 - n]
        np.testing.assert_allclose(tree.kept(n), 1 - lost[6 - n], atol=1e-12)
        branches = fcluster(tree.linkage, n, "maxclust")
        assert len({(a, b) for a, b in zip(tree.cut(n), branches, strict=True)}) == n
    assert tree.cut(7).tolist() == np.argsort(np.argsort(-w, kind="stable")).tolist()
    assert is_valid_linkage(linkage)
    assert sorted(dendrogram(linkage, no_plot=True)["leaves"]) == list(range(7))
    for node in range(7, 13):
        np.testing.assert_allclose(tree.shares[node], w[tree.members(node)].sum())
    assert all(f"{k + 1}: {name}" in str(tree) for k, name in enumerate("abcdefg"))
    with pytest.raises(ValueError, match="from 1 to the number of groups"):
        tree.cut(8)


def test_a_tree_of_equal_groups_and_of_one():
    p = np.tile(np.array([0.5, 0.25, 0.25]), (3, 1))
    assert agglomerate(p, np.ones(3))[0][:, 2].tolist() == [0.5, 1.0]
    one = make_hierarchy(p[:1], np.ones(1), ["a"], np.array(list("xyz")))
    assert (one.groups(1), one.kept(1), one.n_groups) == ([[0]], 1.0, 1)


def test_real_vectors_are_merged_by_squared_distance():
    points = np.array([[-1.0, 0.0], [-0.9, 0.1], [1.0, 0.0]])
    assert agglomerate(points, np.ones(3))[0][0, :2].tolist() == [0, 1]


@pytest.fixture(scope="module")
def corpus():
    made, _ = datasets.make_bursty_mixture(80, 40, 4, mean_length=40, random_state=0)
    return Corpus(made.counts, [f"word{i}" for i in range(40)], ids=[f"d{i}" for i in range(80)])


MODELS = {
    "Mixture": Mixture(4, random_state=0),
    "of maximum likelihood": Mixture(4, family="multinomial", prior=None, tempering=None, random_state=0),
    "VonMisesFisher": Mixture(4, family="vonmisesfisher", random_state=0),
    "DPMFS": DPMFS(n_iter=30, burn_in=10, random_state=0),
    "LDA": LDA(4, n_iter=5, tol=0, random_state=0),
    "DCMLDA": DCMLDA(4, n_iter=5, tol=0, random_state=0),
    "DCMLDA of given beta": DCMLDA(4, beta=0.5, learn_hyperparameters=False, n_iter=2, tol=0, random_state=0),
}


@pytest.fixture(params=MODELS)
def model(request, corpus):
    from sklearn.base import clone

    return clone(MODELS[request.param]).fit(corpus)


def n_groups(model):
    return len(model.summary())


def test_names_are_given_and_kept(model, corpus, tmp_path):
    automatic = model.names_
    assert automatic == model.suggest_names()
    assert model.rename({1: " second "}).names_[1] == "second"
    assert model.names_[0] == automatic[0]
    assert model.summary()["name"].tolist() == model.names_
    again = bursty.load(bursty.save(model, tmp_path / "model"))
    assert again.names_ == model.names_
    assert model.rename({1: ""}).names_ == automatic
    assert model.rename([f"n{i}" for i in range(len(automatic))]).names_[-1] == f"n{len(automatic) - 1}"
    with pytest.raises(ValueError, match="there is no group 99"):
        model.rename({99: "x"})
    with pytest.raises(TypeError, match="must be a string"):
        model.rename({0: 3})
    with pytest.raises(ValueError, match="a list of"):
        model.rename("abc")
    from sklearn.base import clone

    assert clone(model).fit(corpus).names_ == automatic


def test_a_merged_model_is_a_model(model, corpus, tmp_path):
    tree, before = model.hierarchy(), n_groups(model)
    assert tree.n_groups == before
    groups = tree.groups(2)
    into = tree.cut(2)
    model.rename({0: "first"})
    apart = model.merge(groups, corpus)
    assert apart is model
    assert n_groups(model) == 2
    assert model.summary()["share"].sum() == pytest.approx(1.0)
    assert "first" not in model.names_[: 1 if len(groups[0]) > 1 else 0]
    if hasattr(model, "labels_"):
        assert np.all(np.diff(model.sizes_) <= 0) or isinstance(model, DPMFS)
        posterior = model.predict_proba(corpus)
        np.testing.assert_allclose(posterior.sum(axis=1), 1.0)
        assert np.mean(model.predict(corpus) == model.labels_) > 0.8
        np.testing.assert_allclose(model.label_documents(corpus)[0], model.labels_)
        assert model.sizes_.sum() == 80
    else:
        np.testing.assert_allclose(model.transform(corpus).sum(axis=1), 1.0)
        np.testing.assert_allclose(model.components_.sum(axis=1), 1.0)
        assert np.isfinite(model.perplexity(corpus))
        if hasattr(model, "burstiness") and model.learn_hyperparameters is None:
            assert len(model.burstiness().s) == 2
    if isinstance(model, Mixture):
        np.testing.assert_allclose(model.log_likelihood_, model.score_samples(corpus))
        assert model.trace_["weights"].shape[1] == 2
    again = bursty.load(bursty.save(model, tmp_path / "model", corpus=corpus))
    if hasattr(model, "labels_"):
        np.testing.assert_array_equal(again.predict_proba(corpus), model.predict_proba(corpus))
    if hasattr(model, "partial_fit"):
        model.partial_fit(corpus)
        assert n_groups(model) == 2
    assert len(into) == before


def test_a_merged_mixture_is_that_of_the_merged_responsibilities(corpus):
    resp = np.random.default_rng(0).dirichlet(np.full(3, 0.1), len(corpus))
    common = {"family": "multinomial", "prior": None, "tempering": None, "max_iter": 1, "random_state": 0}
    with pytest.warns(UserWarning, match="converge"):
        three = Mixture(3, init=resp, **common).fit(corpus)
    # What the M step of two components makes of the responsibilities that the three have.
    own = three.predict_proba(corpus)
    counts = corpus.counts.toarray()
    both = np.column_stack([own[:, 0] + own[:, 2], own[:, 1]])
    words = counts.T @ both
    merged = three.merge([0, 2])
    order = np.argsort(-both.sum(axis=0))
    np.testing.assert_allclose(merged.weights_, (both.sum(axis=0) / len(corpus))[order], rtol=1e-2)
    expected = (words / words.sum(axis=0)).T[order]
    found = merged.components_ / merged.components_.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, atol=0.01)


def test_without_documents_labels_are_merged_as_they_are(corpus):
    model = Mixture(4, random_state=0).fit(corpus)
    labels = model.labels_.copy()
    merged = model.merge({"both": [1, 3]})
    assert "both" in merged.names_
    both = merged.names_.index("both")
    np.testing.assert_array_equal(merged.labels_ == both, np.isin(labels, [1, 3]))
    assert len(merged.weights_) == 3
    assert merged.fitted_on(corpus) is None


@pytest.mark.parametrize(
    ("groups", "message"),
    [([[0, 1], [1, 2]], "two of the lists"), ([0, 9], "there is no group 9"), ([["a"]], "there is no group 'a'")],
)
def test_what_cannot_be_merged(corpus, groups, message):
    model = Mixture(3, random_state=0).fit(corpus)
    with pytest.raises(ValueError, match=message):
        model.merge(groups)
    assert len(model.weights_) == 3


def test_phrases():
    weights = {"health": 1.0, "care": 0.8, "cost": 0.9}
    texts = ["The Health Care bill. care of health", "Health Care costs", "health, care", "cost cost"]
    assert find_phrase(texts, weights) == "Health Care"
    assert find_phrase(texts[2:], weights) is None
    assert find_phrase([], weights) is None
    assert name_of(["cost", "health", "care"], "Health Care") == "cost, Health Care"
    assert name_of(["health", "cost", "care"], "Health Care") == "Health Care, cost"
    assert name_of(["a", "b", "c", "d"]) == "a, b, c"


def test_names_have_a_phrase_of_the_texts_and_no_function_words():
    rng = np.random.default_rng(0)
    subjects = [["night bus", "train", "ticket"], ["family doctor", "clinic", "nurse"]]
    texts = [" the ".join(["the", *rng.choice(subjects[i % 2], 6)]) for i in range(40)]
    corpus = Corpus.from_texts(texts, keep_texts=True)
    for model in (Mixture(2, random_state=0).fit(corpus), DCMLDA(2, n_iter=10, tol=0, random_state=0).fit(corpus)):
        names = sorted(model.suggest_names(corpus))
        assert any("night bus" in name for name in names)
        assert any("family doctor" in name for name in names)
        assert not any("the" in name.split(", ") for name in names)
        assert model.summary(corpus)["name"].tolist() == model.suggest_names(corpus)


@pytest.mark.parametrize("other", ["lists", "nothing"])
def test_function_words_do_not_name_the_larger_cluster(other):
    """Beside lists, what distinguishes prose is its function words; and one cluster has nothing to be compared with."""
    rng = np.random.default_rng(0)
    grammar = ["the", "of", "and", "to", "it", "is", "by", "in", "that", "for"]
    subjects = [[f"{name}{i}" for i in range(12)] for name in ("kernel", "pension", "orchid")]
    texts = []
    for i in range(90):
        content = rng.choice(subjects[i % 3], 12)
        texts.append(" ".join(rng.permutation([*grammar * 4, *content])))
    lists = [" ".join(rng.choice([f"glyph{i}" for i in range(30)], 40)) for _ in range(20)]
    corpus = Corpus.from_texts([*texts, *(lists if other == "lists" else [])])
    known = np.repeat([0, 1], [90, len(corpus) - 90])
    options = {"n_iter": 20, "burn_in": 10, "random_state": 0}
    dpmfs = DPMFS(max_components=2 if other == "lists" else 1, **options).fit(corpus, known)
    for model in (dpmfs, Mixture(dpmfs.n_clusters_, random_state=0).fit(corpus, known)):
        assert model.sizes_[0] == 90
        assert not set(model.names_[0].split(", ")) & set(grammar)
        assert not set(model.summary()["words"][0][:3]) & set(grammar)
        tree = make_hierarchy(*model._group_words(), model.names_, corpus.vocabulary, documents=model._document_share)
        assert not set(tree.words[-1][:3]) & set(grammar)


@pytest.mark.filterwarnings("ignore:.*no documents")
def test_a_cluster_without_documents_is_not_named_by_words():
    counts = np.kron(np.eye(2, dtype=int), np.full((10, 3), 4))
    model = Mixture(4, family="multinomial", temperatures=(25, 5, 1), restart=False, random_state=0)
    model.fit(Corpus(counts, list("abcdef")))
    empty = np.flatnonzero(model.sizes_ == 0)
    assert len(empty)
    assert [model.names_[k] for k in empty] == ["(no documents)"] * len(empty)
    assert all(name[0] in "abcdef" for k, name in enumerate(model.names_) if k not in empty)
    assert model.rename({int(empty[0]): "left"}).names_[empty[0]] == "left"


def test_topics_mark_down_common_words_too():
    rng = np.random.default_rng(0)
    counts = np.column_stack([rng.poisson(20, 60), np.kron(np.eye(2, dtype=int), np.full((30, 4), 3))])
    corpus = Corpus(counts, ["the", *"abcdefgh"])
    model = LDA(2, n_iter=20, tol=0, random_state=0).fit(corpus)
    np.testing.assert_allclose(model._document_share, (counts > 0).mean(axis=0))
    marked, plain = model._representative(), model._representative(common=True)
    assert np.all(marked[:, 0] <= 0.01 * plain[:, 0])


def test_words_that_hardly_represent_a_group_are_in_no_phrase():
    words, texts = np.array(["kernel", "driver", "by", "with"], dtype=object), ["by with kernel by with driver"] * 4
    scores = np.array([[1.0, 0.5, 1e-6, 1e-6]])
    assert suggest(scores, words, texts, [np.arange(4)]) == ["kernel, driver, by"]
    assert suggest(np.array([[1.0, 0.5, 0.4, 0.4]]), words, texts, [np.arange(4)]) == ["kernel by, driver"]


def test_scores_mark_down_words_that_most_documents_have():
    p = np.array([[0.5, 0.3, 0.2, 0.0], [0.2, 0.1, 0.1, 0.6]])
    weights, documents = np.array([0.8, 0.2]), np.array([0.9, 0.4, 0.05, 0.0])
    plain = representative(p, weights, weights @ p)
    marked = representative(p, weights, weights @ p, documents)
    rare = np.array([0.002, np.log2(1 / 0.8), 1.0])
    np.testing.assert_allclose(marked[:, :3], plain[:, :3] * [rare, rare**0.16])
    whole = representative(p[:1], np.ones(1), p[0], documents)
    np.testing.assert_allclose(whole[0, :3], p[0, :3] * rare)


def test_shares_are_the_same_in_summary_tree_and_notebook(model):
    shares = model.summary()["share"]
    np.testing.assert_allclose(model.hierarchy().shares[: len(shares)], shares, atol=1e-9)
    cells = re.findall(r"<td[^>]*>(\d+\.\d%)</td>", model._summary_html())
    assert cells == [f"{share:.1%}" for share in shares]


def test_merged_clusters_are_numbered_by_their_documents(corpus):
    model = Mixture(4, random_state=0).fit(corpus)
    model.sizes_, model.weights_ = np.array([40, 20, 15, 5]), np.array([0.4, 0.1, 0.3, 0.2])
    model.merge([1, 2])
    assert model.sizes_.tolist() == [40, 35, 5]
