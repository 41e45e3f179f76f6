"""Plots show the numbers they were given, into the axes they were given."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot

import oracles
from bursty import DCMLDA, Corpus, Mixture, datasets, families, metrics, plot
from bursty.models.selection import Selection
from bursty.plot import style, traces


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def corpus():
    made, _ = datasets.make_bursty_mixture(80, 40, 2, random_state=0)
    return Corpus(made.counts, [f"word{i}" for i in range(40)], labels=made.labels)


@pytest.fixture(scope="module")
def mixture(corpus):
    return Mixture(2, random_state=0).fit(corpus)


@pytest.fixture(scope="module")
def topics(corpus):
    return DCMLDA(3, n_iter=20, n_sweeps=2, tol=0, random_state=0).fit(corpus)


def names(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_every_function_draws_into_the_axes_given(corpus, mixture, topics):
    dcm, edcm = families.DCM().fit(corpus), families.EDCM().fit(corpus)
    posterior = mixture.predict_proba(corpus)
    for draw in (
        lambda ax: plot.count_probabilities(corpus, ax=ax),
        lambda ax: plot.simplex([0.4, 0.3, 0.3], 10, ax=ax),
        lambda ax: plot.probabilities(dcm, edcm, corpus, ax=ax),
        lambda ax: plot.parameters(dcm, edcm, ax=ax),
        lambda ax: plot.runs({"edcm": ([10.0, 11.0], [0.5, 0.6])}, ax=ax),
        lambda ax: plot.trace(mixture, ax=ax),
        lambda ax: plot.trace(topics, "tokens_per_second", label="topics", ax=ax),
        lambda ax: plot.cluster_sizes(mixture, ax=ax),
        lambda ax: plot.cluster_words(mixture, 1, ax=ax),
        lambda ax: plot.confusion(corpus.labels, mixture.labels_, ax=ax),
        lambda ax: plot.similarity(posterior, ax=ax),
        lambda ax: plot.topic_words(topics, 2, ax=ax),
        lambda ax: plot.topics_over(topics, np.arange(80) // 8, ax=ax),
        lambda ax: plot.topics_over(topics, np.where(corpus.labels, "b", "a"), ax=ax),
        lambda ax: plot.likelihoods({"a": ([1, 2], [-3.0, -2.0])}, ax=ax),
        lambda ax: plot.reliability(corpus.labels, posterior, ax=ax),
    ):
        figure, ax = pyplot.subplots()
        assert draw(ax) is ax
        figure.canvas.draw()
        pyplot.close(figure)


def test_without_axes_a_figure_is_made():
    ax = plot.runs({"one": ([1.0], [2.0])})
    assert ax.figure is pyplot.gcf()


def test_count_probabilities_leaves_out_zeros_and_names_groups(corpus):
    curves = metrics.count_probabilities(corpus, max_count=30, groups={"common": 5, "rare": None})
    ax = plot.count_probabilities(curves, label="data")
    assert ax.get_yscale() == "log"
    line = ax.lines[0]
    shown = np.isfinite(line.get_ydata())
    expected = curves.probabilities["common"]
    np.testing.assert_array_equal(shown, expected > 0)
    np.testing.assert_array_equal(line.get_ydata()[shown], expected[expected > 0])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["common (data)", "rare (data)"]
    with pytest.raises(TypeError, match="do not apply to computed curves: max_count"):
        plot.count_probabilities(curves, max_count=3)


@pytest.mark.parametrize("family", ["multinomial", "dcm"])
def test_simplex_shows_a_distribution(family):
    ax = plot.simplex([0.44, 0.25, 0.31], 12, family=family, bar=False)
    values = ax.collections[0].get_array()
    assert len(values) == 13 * 14 // 2
    assert np.sum(values) == pytest.approx(1.0)


def test_simplex_agrees_with_the_formula():
    alpha = np.array([0.44, 0.25, 0.31])
    ax = plot.simplex(alpha, 12, words=["a", "b", "c"])
    counts = np.array(list(oracles.compositions(12, 3)))
    expected = np.exp(oracles.dcm_log_prob(counts, alpha) + [oracles.log_coefficient(row) for row in counts])
    shown = np.asarray(ax.collections[0].get_array())
    np.testing.assert_allclose(np.sort(shown), np.sort(expected))
    assert [text.get_text() for text in ax.texts] == ["a", "b", "c"]


def test_simplex_takes_a_fitted_family_and_refuses_others(corpus):
    three = families.DCM().fit([[3, 0, 1], [1, 2, 0], [0, 5, 1]])
    shown = plot.simplex(three, 8).collections[0].get_array()
    assert np.sum(shown) == pytest.approx(1.0)
    with pytest.raises(ValueError, match="fitted on 40"):
        plot.simplex(families.DCM().fit(corpus))
    with pytest.raises(ValueError, match="three positive parameters"):
        plot.simplex([0.2, 0.8])
    with pytest.raises(ValueError, match="family must be one of"):
        plot.simplex([1, 1, 1], family="gamma")
    with pytest.raises(ValueError, match="positive integer"):
        plot.simplex([1, 1, 1], 0)


def test_probabilities_and_parameters(corpus):
    dcm, edcm = families.DCM().fit(corpus), families.EDCM().fit(corpus)
    dots = plot.probabilities(dcm, edcm, corpus).collections[0].get_offsets()
    np.testing.assert_allclose(dots[:, 0], dcm.log_prob(corpus))
    np.testing.assert_allclose(dots[:, 1], edcm.log_prob(corpus))
    ax = plot.parameters(dcm, edcm)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("alpha of DCM", "beta of EDCM")
    with pytest.raises(ValueError, match="fitted on 40 and 3 words"):
        plot.parameters(dcm, families.EDCM().fit([[1, 2, 0], [2, 0, 1]]))
    assert plot.parameters(families.VonMisesFisher().fit(corpus), edcm).get_xlabel() == "mu of von Mises-Fisher"
    with pytest.raises(ValueError, match="family must be one of"):
        plot.parameters(corpus, edcm)


def test_trace_marks_phases_and_undoes_the_temperature(corpus):
    mixture = Mixture.from_paper("elkan2006", 2, random_state=0).fit(corpus)
    ax = plot.trace(mixture)
    expected = mixture.trace_["log_likelihood"] * mixture.trace_["temperature"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), expected)
    assert [text.get_text() for text in ax.texts] == ["T = 25", "T = 5", "T = 1"]
    assert traces.phases({"phase": np.zeros(4)}) == []


def test_trace_of_any_sampler_by_its_dictionary():
    entries = {"iteration": np.arange(4), "n_clusters": np.array([9, 4, 3, 3]), "n_words": np.arange(4)}
    ax = plot.trace(entries, label="alpha = 1")
    assert ax.get_ylabel() == "clusters"
    plot.trace({**entries, "n_clusters": np.array([2, 2, 3, 3])}, "n_clusters", label="alpha = 10", ax=ax)
    assert [line.get_ydata().tolist() for line in ax.lines] == [[9, 4, 3, 3], [2, 2, 3, 3]]
    assert ax.lines[0].get_color() != ax.lines[1].get_color()
    with pytest.raises(ValueError, match="has no 'speed'; it has 'n_clusters', 'n_words'"):
        plot.trace(entries, "speed")
    with pytest.raises(ValueError, match="has no trace"):
        plot.trace(Mixture(2))


def test_trace_draws_every_chain():
    ax = plot.trace({"log_joint": np.array([[1.0, 2.0, np.nan], [0.0, 1.0, 2.0]])})
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["chain 1", "chain 2"]
    np.testing.assert_array_equal(ax.lines[1].get_ydata(), [0.0, 1.0, 2.0])


def test_cluster_sizes_are_sorted_and_told_by_words(mixture, corpus):
    ax = plot.cluster_sizes(mixture, n_words=2)
    assert [bar.get_width() for bar in ax.patches] == sorted(mixture.sizes_, reverse=True)
    best = np.argsort(-mixture.sizes_, kind="stable")[0]
    assert ax.texts[0].get_text() == ", ".join(mixture.top_words(2)[best])
    assert names(plot.cluster_sizes([3, 3, 1]).yaxis) == ["cluster 3", "cluster 1"]
    with pytest.raises(ValueError, match="one label per document"):
        plot.cluster_sizes(np.zeros((2, 2)))


def test_words_without_names_are_not_passed_off_as_words(corpus):
    unnamed = Mixture(2, random_state=0).fit(Corpus(corpus.counts))
    assert all(name.startswith("word no. ") for name in names(plot.cluster_words(unnamed, 0).yaxis))
    with pytest.raises(ValueError, match="cluster must be an integer from 0 to 1, not 2"):
        plot.cluster_words(unnamed, 2)


def test_confusion_counts():
    ax = plot.confusion(["a", "a", "b", "b"], [0, 1, 1, 1], names=["first", "second"])
    assert [text.get_text() for text in ax.texts] == ["1", "1", "0", "2"]
    assert names(ax.yaxis) == ["first", "second"]
    assert names(ax.xaxis) == ["0", "1"]
    shares = plot.confusion([0, 0, 1], [0, 1, 1], normalize=True, names=["x", "y"])
    assert [text.get_text() for text in shares.texts] == ["0.50", "0.50", "0.00", "1.00"]
    assert names(shares.xaxis) == ["x", "y"]
    with pytest.raises(ValueError, match="one true and one predicted label"):
        plot.confusion([0, 1], [0])


def test_similarity_of_samples_and_of_posteriors():
    image = plot.similarity(np.array([[0, 1, 0], [0, 0, 1]])).images[0].get_array()
    np.testing.assert_allclose(image, [[1, 0.5, 0.5], [0.5, 1, 0], [0.5, 0, 1]])
    image = plot.similarity(np.array([[0.9, 0.1], [0.2, 0.8]])).images[0].get_array()
    np.testing.assert_allclose(image, [[0.82, 0.26], [0.26, 0.68]])
    with pytest.raises(ValueError, match="sum to one"):
        plot.similarity(np.array([[0.9, 0.5]]))
    with pytest.raises(ValueError, match="too many pairs"):
        plot.similarity(np.zeros((1, 5001), dtype=int))


def test_topic_words_and_topics_over_time(topics):
    ax = plot.topic_words(topics, 1, n=5)
    assert names(ax.yaxis) == topics.top_words(5)[1]
    years = np.arange(80) // 10
    line = plot.topics_over(topics, years, topics=[2], window=3).lines[0].get_ydata()
    shares = np.array([topics.doc_topic_[years == year, 2].mean() for year in range(8)])
    expected = [shares[max(0, i - 1) : i + 2].mean() for i in range(8)]
    np.testing.assert_allclose(line, expected)
    with pytest.raises(ValueError, match="topic must be an integer from 0 to 2, not 3"):
        plot.topic_words(topics, 3)


def test_likelihoods_mark_the_choice():
    selection = Selection("heldout", np.array([1, 2, 3]), np.array([-3.0, -1.0, -2.0]), np.full(3, 0.1), 2)
    ax = plot.likelihoods(selection)
    assert ax.texts[0].get_text() == "chosen: 2"
    assert ax.get_ylabel() == "held-out log-likelihood per document"
    with pytest.raises(ValueError, match="one score per number of components"):
        plot.likelihoods({"a": ([1, 2], [0.0])})
    with pytest.raises(TypeError, match="select_components"):
        plot.likelihoods(None)


def test_reliability_bins():
    table = np.array([[0.95, 0.05], [0.85, 0.15], [0.82, 0.18], [0.4, 0.6]])
    bins = plot.reliability_bins(["a", "a", "b", "b"], table)
    np.testing.assert_allclose(bins.confidence, [0.6, 0.835, 0.95])
    np.testing.assert_allclose(bins.accuracy, [1.0, 0.5, 1.0])
    assert bins.documents.tolist() == [1, 2, 1]
    assert bins.error == pytest.approx((0.4 + 2 * 0.335 + 0.05) / 4)
    with pytest.raises(ValueError, match="do not match 1 classes"):
        plot.reliability_bins(["a"], table)


def test_reliability_of_two_models_in_one_plot():
    table = np.array([[0.9, 0.1], [0.2, 0.8]])
    ax = plot.reliability([0, 1], table, label="one")
    plot.reliability([0, 0], table, [0, 1], label="two", ax=ax)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == ["perfect calibration", "one: calibration error 0.150", "two: calibration error 0.450"]


def test_labels_are_cut_and_are_no_mathematics():
    assert style.short("x" * 30) == "x" * 23 + "…"
    assert style.short("a\ud800$") == r"a\ud800\$"
    ax = plot.confusion(["$\\frac{", "b"], [0, 1])
    ax.figure.canvas.draw()


def test_missing_matplotlib_is_said_with_the_way_out():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from bursty import plot\n"
        "try:\n    plot.runs({'a': ([1.0], [1.0])})\n"
        "except ImportError as error:\n    print(error)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == 'plots need matplotlib: pip install "bursty[report]"'


def test_iterations_and_numbers_of_components_have_whole_ticks():
    for ax in (
        plot.likelihoods({"DCM": ([1, 2, 3], [-3.0, -2.0, -2.5])}),
        plot.trace({"log_likelihood": np.array([-3.0, -2.0, -1.5])}),
    ):
        ax.figure.canvas.draw()
        ticks = ax.get_xticks()
        np.testing.assert_array_equal(ticks, np.rint(ticks))
