"""Pages hold what they should, are complete, and refuse what they cannot show."""

from __future__ import annotations

import copy
import json
import os
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from tests.report.conftest import in_bursts

from bursty import DCMLDA, LDA, BayesClassifier, Corpus, Mixture, datasets, families, load, report
from bursty.families.bursts import burstiness
from bursty.report import documents, page, text
from bursty.report.clusters import cluster_content
from bursty.report.source import ReportSource

FIXTURES = Path(__file__).parents[1] / "fixtures"


class Reader(HTMLParser):
    """What a page asks for from elsewhere, its text, and the contents of its scripts."""

    def __init__(self):
        super().__init__()
        self.asked, self.scripts, self.words, self._inside = [], [], [], None

    def handle_starttag(self, tag, attributes):
        self._inside = tag if tag in ("script", "style") else self._inside
        self.asked += [value for name, value in attributes if name in ("src", "srcset", "action", "data")]
        if tag in ("a", "link", "base"):
            self.asked += [value for name, value in attributes if name == "href" and not value.startswith("#")]
        if tag == "script":
            self.scripts.append("")
        if dict(attributes).get("http-equiv") == "Content-Security-Policy":
            self.policy = dict(attributes)["content"]

    def handle_endtag(self, tag):
        self._inside = None if tag in ("script", "style") else self._inside

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside is None:
            self.words.append(data)


RUNNER_UP = ["Runner-up", "Its probability"]


def read(html):
    reader = Reader()
    reader.feed(html.read_text(encoding="utf-8") if hasattr(html, "read_text") else html)
    reader.data = json.loads(reader.scripts[0])
    reader.text = " ".join(" ".join(reader.words).split())
    return reader


@pytest.mark.parametrize(
    "name",
    ["clusters", "discover", "topics", "classifier", "nasty-clusters", "nasty-topics", "nasty-classifier"],
)
def test_pages_are_complete_and_small(pages, name):
    reader = read(pages[name])
    assert reader.asked == []
    assert len(reader.scripts) == 3
    assert pages[name].stat().st_size < 3_000_000
    assert reader.policy.startswith("default-src 'none'; script-src 'sha256-")


def test_cluster_page_says_what_was_found(pages, mixture, corpus):
    reader = read(pages["clusters"])
    assert "3 clusters in 120 documents" in reader.text
    sizes = [int(size) for size in re.findall(r"Cluster \d: .*? (\d+) documents,", reader.text)]
    assert sizes == sorted(mixture.sizes_.tolist(), reverse=True)
    for row in mixture.top_words(5, by="representative"):
        assert " ".join(row) in reader.text
    columns = {column["title"]: column for column in reader.data["documents"]["columns"]}
    assert list(columns) == ["Document", "Cluster", "Certainty", *RUNNER_UP, "Label", "Year", "Place", "Tokens"]
    assert columns["Tokens"]["values"] == corpus.counts.sum(axis=1).tolist()
    assert [columns["Label"]["names"][c] for c in columns["Label"]["values"]] == corpus.label_names[
        corpus.labels
    ].tolist()
    order = np.argsort(-mixture.sizes_, kind="stable")
    assert columns["Cluster"]["values"] == np.argsort(order)[mixture.labels_].tolist()


def test_every_page_tells_what_was_run_and_how_to_cite(pages):
    reader = read(pages["clusters"])
    for fact in ("bursty <b>cluster</b>", "a & b", "12.3 seconds", "temperatures", "fruit & <beasts>", "It converged."):
        assert fact in reader.text
    assert "Modeling word burstiness" in reader.text
    assert "Accounting for burstiness" in read(pages["topics"]).text
    assert "Document clustering via Dirichlet process" in read(pages["discover"]).text
    assert "Modeling word burstiness" in read(pages["classifier"]).text
    assert "trace-log_likelihood" in reader.data["charts"]
    assert {"trace-n_clusters", "trace-n_words", "trace-log_joint"} <= set(read(pages["discover"]).data["charts"])


def test_pages_have_the_numbers_that_were_tried(corpus):
    fitted = LDA("auto", n_iter=20, tol=0, random_state=0).fit(corpus)
    tried = fitted.selection_
    shown = read(report.render(fitted, corpus)).text.split("Numbers tried")[1].split("Convergence")[0]
    assert "Log-probability of a held-out token" in shown
    differences = tried.scores - tried.scores.max()
    for k, score, difference, error in zip(tried.ks, tried.scores, differences, tried.standard_errors, strict=True):
        mark = " chosen" if k == tried.n_components else ""
        assert f"{k} {score:,.4f} {difference:,.4f} {error:,.4f}{mark}" in shown
    few = Mixture("auto", random_state=0).fit(np.random.default_rng(0).poisson(4, (60, 3)))
    assert few.selection_.criterion == "laplace"
    assert "standard error" not in read(report.render(few)).text.split("Numbers tried")[1]
    fixed = fitted.set_params(n_components=2).fit(corpus)
    assert "Numbers tried" not in read(report.render(fixed, corpus)).text


def test_word_lookup_has_the_numbers(pages, corpus, mixture):
    data = read(pages["clusters"]).data
    word = data["vocabulary"].index("word7")
    column = corpus.counts[:, [7]].toarray().ravel()
    lookup = data["lookup"]
    assert lookup["documents"][word] == np.count_nonzero(column)
    assert lookup["tokens"][word] == column.sum()
    order = np.argsort(-mixture.sizes_, kind="stable")
    shares = np.array([column[mixture.labels_ == k].sum() for k in order]) / column.sum()
    pairs = lookup["groups"][word]
    for group, share in zip(pairs[::2], pairs[1::2], strict=True):
        assert share == pytest.approx(shares[group], abs=1e-3)


def test_keywords_are_of_the_document(pages, corpus):
    data = read(pages["clusters"]).data
    for row in (0, 50, 119):
        present = set(corpus.vocabulary[corpus.counts[[row]].indices])
        assert {data["vocabulary"][word] for word in data["documents"]["keywords"][row]} <= present


def test_discovered_words_are_named(pages, dpmfs, corpus):
    reader = read(pages["discover"])
    chosen = corpus.vocabulary[dpmfs.discriminative_]
    assert (
        f"discriminative words {len(chosen):,}" in reader.text or f"{len(chosen):,} discriminative words" in reader.text
    )
    assert len(reader.data["lookup"]["marks"]) == 60


def test_discriminative_words_are_in_the_order_of_evidence_and_say_what_is_not_certain(corpus, dpmfs):
    model = copy.copy(dpmfs)
    model.discriminative_ = np.arange(60) < 4
    model.log_bayes_factor_ = np.where(np.arange(60) < 3, 5.0, 4.0)
    model.inclusion_prob_ = np.where(np.arange(60) < 3, 1.0, 0.875)
    text = " ".join(report.render(model, corpus).split())
    shown = re.search(r"Words that tell the clusters apart.*?</ul>", text)[0]
    words = re.findall(r"<li><bdi>(\w+)</bdi>(?: <small>(.*?)</small>)?</li>", shown)
    typical = dpmfs.word_scores("representative").max(axis=0)
    first = sorted(range(3), key=lambda word: -typical[word])
    assert words == [(f"word{word}", "") for word in first] + [("word3", "88%")]


def test_the_page_says_when_chains_have_settled(pages):
    text = read(pages["discover"]).text
    assert "at most 1.05 and an effective sample size of 100" in text
    assert re.search(r"Any two agree on \d+% or more of the pairs of documents that either puts together\.", text)


@pytest.mark.parametrize("settled", [True, False])
def test_the_page_of_unsettled_chains_says_so_at_the_top(corpus, dpmfs, settled):
    model = copy.copy(dpmfs)
    model.converged_ = settled
    lead = cluster_content(ReportSource.of(model, corpus)).lead
    assert lead.endswith(" The chains have not settled: a longer run may find other clusters and words.") != settled


def test_labels_that_are_left_over_do_not_make_the_others_pale(corpus, mixture):
    names = np.array([f"label {n}" for n in (*range(24), *[n // 2 for n in range(48, 144)])])
    labelled = Corpus(corpus.counts, corpus.vocabulary, labels=names[np.arange(120)])
    cells = cluster_content(ReportSource.of(mixture, labelled)).charts["labels"].spec["data"]["values"]
    left = [cell for cell in cells if cell["column"] == "(others)"]
    assert len(left) == 3
    assert {cell["share"] for cell in left} == {0.0}
    assert sum(int(cell["text"] or 0) for cell in cells) == 120
    assert "0" not in {cell["text"] for cell in cells}
    assert max(cell["share"] for cell in cells) > 0


def test_topic_page_has_the_words_the_model_ranks(pages, topics):
    data = read(pages["topics"]).data
    for weight in (0.0, 0.6, 1.0):
        ranked = topics.top_words(5, by="relevance", weight=weight)
        for shown, words in zip(data["topics"], ranked, strict=True):
            p, overall = np.log(shown["p"]), np.log(shown["overall"])
            relevance = weight * p + (1 - weight) * (p - overall)
            best = [data["vocabulary"][shown["words"][i]] for i in np.argsort(-relevance, kind="stable")[:5]]
            assert set(best) == set(words)


def test_pages_say_what_burstiness_means(pages):
    for name in ("clusters", "topics"):
        page = read(pages[name])
        said = page.text if name == "clusters" else page.data["topics"][0]["bursts"]
        assert "a word used once in a document is used again with probability" in said
    assert "of words used once are used again" in read(pages["topics"]).text


def test_pages_have_the_burstiest_words():
    """First the word that documents use again most beyond chance; classifiers have those of the evaluated documents."""
    labels = np.repeat([0, 1], 60)
    corpus = Corpus(in_bursts(120, 40), [f"word{w}" for w in range(40)], labels=labels)
    mixture = Mixture(2, random_state=0).fit(corpus)
    judge = BayesClassifier(smoothing=0.01).fit(corpus, labels)
    places = np.argsort(np.argsort(-mixture.sizes_, kind="stable"))
    found = burstiness(corpus, places[mixture.labels_])
    for model, bursts in ((mixture, found), (judge, burstiness(corpus, labels))):
        told = read(report.render(model, corpus)).text
        for k in range(2):
            (word, again, plain), (second, more, less), *_ = bursts.burstiest(k)
            first = f"word{word} : used again in {again:.0%} of the documents that have it (by chance {plain:.0%})"
            assert f"{first}; word{second} {more:.0%} ({less:.0%}), " in told
    assert "a word used once in an evaluated document is used again with probability" in told
    topics = DCMLDA(2, n_iter=5, tol=0, random_state=0).fit(corpus)
    bursts = topics.burstiness()
    for k, topic in enumerate(read(report.render(topics, corpus)).data["topics"]):
        expected = [[f"word{w}", f"{again:.0%}", f"{plain:.0%}"] for w, again, plain in bursts.burstiest(k)]
        assert topic["bursty_words"] == expected
        assert len(expected) == 5


def test_burstiest_words_do_no_harm(pages):
    """The browser tests open these pages."""
    assert ": used again in " in read(pages["nasty-clusters"]).text
    assert any(topic["bursty_words"] for topic in read(pages["nasty-topics"]).data["topics"])


def test_topic_page_has_trends_over_time_and_labels(pages):
    reader = read(pages["topics"])
    for title in ("Topics over time (year)", "Topics by place", "Topics by label"):
        assert title in reader.text
    values = reader.data["charts"]["trend-0"]["data"]["values"]
    assert {value["when"] for value in values} == {str(year) for year in range(1900, 1930)}
    assert all(0.0 <= value["low"] <= value["y"] <= value["high"] for value in values)


@pytest.mark.parametrize(
    ("column", "periods"),
    [
        (["1999", "2001", "", "2003"], {"1999", "2001", "2003"}),
        (["2020-01-05", None, "2021-03-01", "2020-01-09"], {"2020-01", "2021-03"}),
        (["1801", "1955", "1809", ""], {"1800s", "1950s"}),
    ],
)
def test_years_and_dates_with_gaps_are_times(corpus, topics, column, periods):
    texts = np.array([column[i % 4] or "" for i in range(120)], dtype=object)
    dated = Corpus(corpus.counts, corpus.vocabulary, metadata={"created": texts})
    page = read(report.render(topics, dated))
    assert "Topics over time (created)" in page.text
    assert "Not included: 30 documents without a time." in page.text
    assert {value["when"] for value in page.data["charts"]["trend-0"]["data"]["values"]} == periods


def test_dates_are_times(corpus, topics):
    days = np.datetime64("2020-01-01") + np.arange(120)
    dated = Corpus(corpus.counts, corpus.vocabulary, metadata={"day": days})
    chart = read(report.render(topics, dated)).data["charts"]["trend-0"]
    assert chart["spec"]["encoding"]["x"]["type"] == "temporal"
    assert min(value["x"] for value in chart["data"]["values"]) == 1577836800000


def test_classifier_page_judges(pages, classifier, split):
    test = split[1]
    reader = read(pages["classifier"])
    right = classifier.predict(test) == test.labels
    assert f"It classifies {text.percent(right.mean())} of {len(test)} labelled documents correctly." in reader.text
    cells = reader.data["charts"]["confusion"]["data"]["values"]
    table = {(cell["row"], cell["column"]): int(cell["text"] or 0) for cell in cells}
    for i, true in enumerate(test.label_names):
        for j, called in enumerate(test.label_names):
            expected = np.sum((test.labels == i) & (classifier.predict(test) == j))
            assert table[true, called] == expected
    assert f"{np.sum(~right)} of {len(test)} documents were misclassified" in reader.text


def test_mistakes_are_explained(pages, classifier, split):
    test = split[1]
    wrong = np.flatnonzero(classifier.predict(test) != test.labels)
    assert len(wrong), "the example needs a mistake"
    reader = read(pages["classifier"])
    row = wrong[0]
    explanation = classifier.explain(test.select([row]), against=test.labels[row], top=8)[0]
    assert test.ids[row] in reader.text
    assert f"{explanation.words[0]} {explanation.counts[0]} {explanation.first[0]:+.2f}" in reader.text


def test_classes_may_be_names_and_truth_may_be_new(corpus):
    names = corpus.label_names[corpus.labels]
    model = BayesClassifier(smoothing=0.01).fit(corpus, names)
    labels = np.where(np.arange(120) < 10, "never seen", names)
    labels[-5:] = ""
    reader = read(report.render(model, corpus.with_labels(labels)))
    assert "of 115 labelled documents correctly" in reader.text
    assert "never seen" in {cell["row"] for cell in reader.data["charts"]["confusion"]["data"]["values"]}


def test_several_classes_a_document(corpus):
    matrix = np.stack([corpus.labels == 0, corpus.labels != 1], axis=1).astype(int)
    several = Corpus(corpus.counts, corpus.vocabulary, label_matrix=matrix, label_names=["one", "two"])
    model = BayesClassifier(smoothing=0.01).fit(several, several.label_matrix)
    reader = read(report.render(model, several))
    called = model.predict(several)[:, 0] > 0
    precision = np.mean(corpus.labels[called] == 0)
    assert re.search(rf"one {np.sum(corpus.labels == 0)} {precision:.2f} ", reader.text)
    with pytest.raises(ValueError, match="labelled like those it was fitted on"):
        report.render(BayesClassifier(smoothing=0.01).fit(corpus, corpus.labels), several)


@pytest.mark.parametrize("name", ["mixture", "topics", "dpmfs", "classifier"])
def test_without_documents_the_page_has_what_the_model_knows(name, request):
    reader = read(report.render(request.getfixturevalue(name)))
    assert "How to cite" in reader.text
    if name != "classifier":
        assert any(word in reader.text for word in ("word1", "word2", "word3"))


def test_other_documents_than_those_of_the_fit(mixture, topics, corpus):
    half = corpus.select(np.arange(0, 120, 2))
    assert "in 60 documents" in read(report.render(mixture, half)).text
    assert "4 topics in 60 documents" in read(report.render(topics, half)).text


def test_words_without_names_are_told_by_number(corpus):
    bare = Corpus(corpus.counts)
    reader = read(report.render(Mixture(2, random_state=0).fit(bare), bare))
    assert "have no names" in reader.text
    assert "word no. 3" in reader.data["vocabulary"]
    assert not any(re.fullmatch(r"w\d{4}", word) for word in reader.data["vocabulary"])
    model = BayesClassifier(smoothing=0.01).fit(bare, corpus.labels)
    shown = read(report.render(model, Corpus(corpus.counts, labels=corpus.labels[::-1].copy())))
    assert "word no." in shown.text
    assert not re.search(r"\bw\d{4}\b", shown.text)


def test_small_and_odd_corpora():
    one = Corpus([[3, 1]], ["a", "b"])
    assert "1 cluster in 1 document" in read(report.render(Mixture(1, random_state=0).fit(one), one)).text
    holed = Corpus(np.vstack([np.random.default_rng(0).poisson(2, (9, 4)), np.zeros((1, 4), dtype=int)]), list("abcd"))
    with pytest.warns(UserWarning, match="has no words"):
        model = Mixture(2, random_state=0).fit(holed)
    assert len(read(report.render(model, holed)).data["documents"]["keywords"][9]) == 0
    flat = LDA(2, n_iter=2, tol=0, random_state=0).fit(one)
    assert "2 topics in 1 document" in read(report.render(flat, one)).text


class Foreign(BaseEstimator):
    """A clustering of somebody else's: labels and nothing more."""

    def fit(self, X, y=None):
        self.n_features_in_ = X.counts.shape[1]
        self.labels_ = np.asarray(X.labels)
        return self


def test_any_clustering_with_labels(corpus):
    reader = read(report.render(Foreign().fit(corpus), corpus))
    assert "3 clusters in 120 documents" in reader.text
    assert "Most central documents" in reader.text
    with pytest.raises(ValueError, match="has 60 documents, but Foreign was fitted on 120"):
        report.render(Foreign().fit(corpus), corpus.select(np.arange(60)))


def test_components_without_documents_are_told(corpus):
    same = Corpus(np.ones((6, 4), dtype=int), list("abcd"))
    with pytest.warns(ConvergenceWarning, match="ha(s|ve) no documents"):
        model = Mixture(3, random_state=0).fit(same)
    reader = read(report.render(model, same))
    empty = 3 - len(np.unique(model.labels_))
    assert empty > 0, "the example needs an empty component"
    assert f"{empty} more component" in reader.text


def test_refusals(mixture, corpus, tmp_path):
    with pytest.raises(NotFittedError):
        report.render(Mixture(2))
    with pytest.raises(TypeError, match="no report for DCM"):
        report.render(families.DCM().fit(corpus))
    with pytest.raises(TypeError, match="corpus must be a Corpus, not ndarray"):
        report.render(mixture, np.zeros((2, 60)))
    with pytest.raises(TypeError, match=r"not list: .* for texts, bursty.Corpus.from_texts\(texts, like=model\)"):
        report.render(mixture, ["word1 word2"])
    with pytest.raises(ValueError, match="does not have the vocabulary of the model"):
        report.render(mixture, Corpus(corpus.counts, [f"other{i}" for i in range(60)]))
    with pytest.raises(ValueError, match="run has unknown keys 'comand'"):
        report.render(mixture, run={"comand": "x"})
    with pytest.raises(TypeError, match="run must be a dictionary"):
        report.render(mixture, run="bursty cluster")
    with pytest.raises(IsADirectoryError, match=r"report\.html"):
        report.write(tmp_path, mixture)
    with pytest.raises(FileNotFoundError, match="create it first"):
        report.write(tmp_path / "no" / "report.html", mixture)
    unlabelled = corpus.with_labels([""] * 119 + ["apples"]).select(np.arange(10))
    with pytest.raises(ValueError, match="no document of the corpus has a label"):
        report.render(BayesClassifier(smoothing=0.01).fit(corpus, corpus.labels), unlabelled)


def test_a_failed_write_leaves_the_old_file(tmp_path, mixture, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")

    def full(*args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        report.write(path, mixture)
    assert path.read_text(encoding="utf-8") == "old"
    assert [item.name for item in tmp_path.iterdir()] == ["report.html"]


def test_same_model_same_bytes(mixture, corpus):
    assert report.render(mixture, corpus) == report.render(mixture, corpus)


def test_map_keeps_clusters_apart():
    corpus, _ = datasets.make_bursty_mixture(300, 200, 12, mean_length=200, concentration=0.05, random_state=1)
    source = report.ReportSource.of(Mixture(12, random_state=0).fit(corpus), corpus)
    places = documents.by_cluster(source, corpus.labels)
    assert places.shape == (300, 2)
    assert np.isfinite(places).all()
    means = np.stack([places[corpus.labels == k].mean(axis=0) for k in range(12)])
    nearest = np.argmin(np.linalg.norm(places[:, None] - means[None], axis=2), axis=1)
    assert np.mean(nearest == corpus.labels) > 0.7


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_json_survives_html(value):
    written = text.to_json(value)
    assert json.loads(written) == value
    assert not set("<>&\u2028\u2029") & set(written)


@given(st.text(max_size=200))
def test_clean_text_fits_and_does_not_turn(value):
    shown = text.clean(value)
    assert len(shown) <= text.LONGEST_WORD
    assert not set("\u202e\u2066\x00\n") & set(shown)
    shown.encode("utf-8")


def test_numbers_read_well():
    assert [text.percent(share) for share in (0.0, 0.012, 0.5, 0.9999, 1.0, float("nan"))] == [
        *("0%", "1.2%", "50%", "over 99%", "100%", "unknown")
    ]
    assert text.numbers([1.23456, float("nan"), float("inf")], 3) == [1.23, None, None]
    assert [text.duration(seconds) for seconds in (3, 300, 9000)] == ["3.0 seconds", "5.0 minutes", "2.5 hours"]


@pytest.mark.parametrize("package", ["jinja2", "vl_convert"])
def test_missing_package_is_said_with_the_way_out(package, mixture, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setattr(page, "chart_library", page.chart_library.__wrapped__)
    monkeypatch.setattr(page, "_template", page._template.__wrapped__)
    with pytest.raises(ImportError, match=r'pip install "bursty\[report\]"'):
        report.render(mixture)


def test_numbers_that_are_missing_do_no_harm(corpus, mixture, topics):
    years = np.where(np.arange(120) % 7 == 0, np.nan, 1900.0 + np.arange(120))
    days = np.datetime64("2020-01-01") + np.arange(120)
    days[3] = np.datetime64("NaT")
    holed = Corpus(corpus.counts, corpus.vocabulary, metadata={"year": years, "day": days})
    for model in (mixture, topics):
        columns = read(report.render(model, holed)).data["documents"]["columns"]
        assert next(column for column in columns if column["title"] == "Year")["values"][0] is None


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.bursty")), ids=lambda path: path.stem)
def test_models_of_the_first_version_have_a_page(path):
    model = load(path)
    if isinstance(model, families.FamilyEstimator):
        with pytest.raises(TypeError):
            report.render(model)
    else:
        assert "</html>" in report.render(model)
