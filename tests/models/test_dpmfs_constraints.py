"""Documents that must, or must not, share a cluster of `DPMFS`."""

from __future__ import annotations

import numpy as np
import pytest

from bursty import DPMFS, datasets
from bursty.models.dpmfs import chains

SHORT = {"n_iter": 12, "burn_in": 4, "n_jobs": 1}
pytestmark = pytest.mark.filterwarnings("ignore:the chain has not settled")


@pytest.fixture(scope="module")
def corpus():
    corpus, _ = datasets.make_bursty_mixture(n_documents=40, n_words=60, n_components=2, s=20.0, random_state=0)
    return corpus


def by_class(corpus):
    return [np.flatnonzero(np.asarray(corpus.labels) == k) for k in (0, 1)]


def test_every_draw_keeps_the_links(corpus):
    """Also links that the words speak against: two groups of both classes, and documents of one class apart."""
    (a, b), model = by_class(corpus), DPMFS(random_state=1, **SHORT)
    must, cannot = [(a[0], b[0], b[1]), (b[1], a[1]), (a[2], b[2])], np.array([[a[3], a[4]], [b[3], b[4]]])
    model.fit(corpus, must_link=must, cannot_link=cannot)
    for labels in (*model.samples_, model.labels_):
        assert len(set(labels[[a[0], b[0], b[1], a[1]]])) == 1
        assert labels[a[2]] == labels[b[2]]
        assert np.all(labels[cannot[:, 0]] != labels[cannot[:, 1]])


def test_links_join_what_the_words_do_not(corpus):
    everything = [list(range(40))]
    assert DPMFS(random_state=0, **SHORT).fit(corpus, must_link=everything).n_clusters_ == 1
    apart = DPMFS(random_state=0, **SHORT).fit(corpus, cannot_link=[range(5)])
    assert len(set(apart.labels_[:5])) == 5


def test_small_clusters_go_only_where_they_may(corpus):
    (a, _), options = by_class(corpus), {"min_cluster_size": 10, "random_state": 0, **SHORT}
    links = {"must_link": [(a[0], a[1])], "cannot_link": [(a[1], j) for j in range(40) if j not in a[:2]]}
    labels = DPMFS(**options).fit_predict(corpus, **links)
    assert labels[a[0]] == labels[a[1]]
    assert np.count_nonzero(labels == labels[a[0]]) == 2


def test_a_label_holds_for_what_is_linked(corpus):
    a, b = by_class(corpus)
    y = np.full(40, -1)
    y[a[0]], y[b[0]] = 7, 3
    model = DPMFS(random_state=0, **SHORT).fit(corpus, y, must_link=[(a[0], b[1])], cannot_link=[(b[0], a[1])])
    assert model.classes_.tolist() == [3, 7]
    for labels in model.samples_:
        assert labels[b[0]] == 0
        assert labels[a[0]] == labels[b[1]] == 1
        assert labels[a[1]] != 0


def test_links_of_none_change_nothing(corpus):
    models = [
        DPMFS(random_state=0, **SHORT).fit(corpus, **links) for links in ({}, {"must_link": [], "cannot_link": []})
    ]
    assert models[0].samples_.tobytes() == models[1].samples_.tobytes()
    assert models[0].inclusion_prob_.tobytes() == models[1].inclusion_prob_.tobytes()


def test_a_checkpoint_knows_the_links(corpus, tmp_path):
    links, count = {"must_link": [(0, 1)], "cannot_link": [(1, 2)]}, iter(range(100))
    whole = DPMFS(random_state=0, **SHORT).fit(corpus, **links)
    model = DPMFS(random_state=0, checkpoint=tmp_path / "fit", **SHORT)
    original = chains.Chain.step

    def step(self):
        original(self)
        if next(count) == 8:
            raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chains.Chain, "step", step)
        with pytest.warns(UserWarning, match="interrupted|stopped"):
            model.fit(corpus, **links)
    with pytest.raises(ValueError, match=r"belongs to a fit with .*link"):
        model.fit(corpus, must_link=[(0, 1)])
    assert model.fit(corpus, **links).samples_.tobytes() == whole.samples_.tobytes()


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ({"must_link": [(0, 40)]}, "must_link names document 40, but the 40 documents have the numbers 0 to 39"),
        ({"cannot_link": [(-1, 3)]}, "cannot_link names document -1"),
        ({"must_link": [(3, 3)]}, "needs two or more different documents"),
        ({"cannot_link": [(3,)]}, "needs two or more different documents"),
        ({"must_link": [(0.5, 1.0)]}, "must have groups of document numbers"),
        ({"must_link": "a file"}, "must have groups of document numbers"),
        ({"must_link": 3}, "must have groups of document numbers"),
        ({"must_link": [0, 1]}, "must have groups of document numbers"),
        ({"must_link": [(0, 1), (1, 2)], "cannot_link": [(2, 0)]}, "documents 0 and 2 apart, but must_link"),
        ({"must_link": [(0, 1)], "y": [0, 1]}, "documents 0 and 1 together, .* but y has them in two classes"),
        ({"must_link": [(0, 2)], "cannot_link": [(2, 1)], "y": [0, 0]}, "documents 1 and 2 apart, but y"),
        ({"must_link": [(0, 1)], "sample_weight": np.ones(40)}, "sample_weight and links"),
    ],
)
def test_contradictions_and_bad_links(corpus, links, message):
    links = dict(links)
    if "y" in links:
        links["y"] = np.array([*links["y"], *[-1] * (40 - len(links["y"]))])
    with pytest.raises(ValueError, match=message):
        DPMFS(**SHORT).fit(corpus, **links)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampler": "paper"}, "need sampler"),
        ({"point_estimate": "frequent"}, "may join what cannot_link keeps apart"),
        ({"max_components": 2}, "no partition with max_components=2 was found"),
    ],
)
def test_what_links_cannot_be_combined_with(corpus, options, message):
    with pytest.raises(ValueError, match=message):
        DPMFS(**SHORT, **options).fit(corpus, cannot_link=[(0, 1, 2)])
