"""What verbs print and keep: the same numbers as the library, on stdout and in files of several formats."""

from __future__ import annotations

import csv
import hashlib
import json
import os
import random
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import bursty
from bursty import persistence
from bursty.cli.compare import verdict
from bursty.cli.tables import Table, plain, print_facts, print_table
from bursty.corpus.units import Units

# The words that all texts of the bench have in common.
COMMON = {"the", "of", "and", "said", "today", "people", "year", "new", "last", "time"}
DOCUMENTED = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_cluster_gives_what_the_library_gives(bench):
    outcome = bench("cluster", "mails", "--k", "2", "--seed", "3", "--out", "two")
    assert outcome.code == 0
    corpus = bursty.read_corpus(bench.folder / "mails")
    model = bursty.Mixture(2, random_state=3).fit(corpus)
    rows = read_csv(bench.folder / "two" / "documents.csv")
    assert [row["id"] for row in rows] == list(corpus.ids)
    assert [int(row["cluster"]) for row in rows] == model.labels_.tolist()
    clusters = read_csv(bench.folder / "two" / "clusters.csv")
    assert [int(row["documents"]) for row in clusters] == model.sizes_.tolist()
    assert [row["words"].split() for row in clusters] == model.top_words(10, by="representative")
    kept = bursty.load(bench.folder / "two" / "model.bursty")
    assert np.array_equal(kept.components_, model.components_)
    assert kept.verbose == 0


def test_same_seed_same_files_whatever_the_threads(bench):
    for name, jobs in (("one", "1"), ("two", "2")):
        assert bench("cluster", "news.csv", "--k", "3", "--seed", "5", "--jobs", jobs, "--out", name).code == 0
    for table in ("clusters", "documents", "words"):
        assert (bench.folder / "one" / f"{table}.csv").read_bytes() == (
            bench.folder / "two" / f"{table}.csv"
        ).read_bytes()


def test_results_on_stdout_messages_on_stderr(bench):
    outcome = bench("cluster", "mails", "--k", "2")
    assert "mails: 40 documents" in outcome.err
    assert "nothing is saved" in outcome.err
    lines = outcome.out.splitlines()
    assert lines[0] == "clusters\t2"
    header = lines.index("cluster\tname\tdocuments\tweight\tconfidence\twords")
    assert sorted(line.split("\t")[2] for line in lines[header + 1 :]) == ["20", "20"]
    assert "\x1b" not in outcome.out + outcome.err


def test_the_usual_number_of_clusters(bench):
    outcome = bench("cluster", "mails")
    assert outcome.out.startswith("clusters\t8\n")
    assert "8 clusters; --k N sets another number" in outcome.err
    assert bench("cluster", "news.csv", "--max-documents", "5").out.startswith("clusters\t2\n")


def test_the_number_of_clusters_is_found(bench):
    outcome = bench("cluster", "news.csv", "--k", "auto", "--json")
    document = json.loads(outcome.out)
    tried = document["tables"]["numbers_tried"]
    assert [row["k"] for row in tried][:3] == [1, 2, 3]
    assert document["facts"]["clusters"] == 2


@pytest.mark.parametrize(
    ("arguments", "facts", "tables"),
    [
        ("info mails", {"documents", "words", "tokens", "burstiness"}, {"bursty_words", "classes"}),
        ("cluster mails --k 2", {"clusters", "iterations"}, {"clusters", "documents", "words"}),
        ("discover mails --iterations 20", {"clusters"}, {"clusters", "documents", "words", "word_selection"}),
        ("topics mails --k 2 --iterations 10", {"topics"}, {"topics", "documents", "words"}),
        ("compare mails --k 2 --iterations 5", {"documents_compared_on"}, {"models"}),
        ("infer found news.csv", set(), {"documents"}),
        ("evaluate found", {"mutual_information"}, {"contingency"}),
        ("classify train mails", {"accuracy", "log_loss"}, {"classes", "confusions", "documents"}),
        ("classify predict judge news.csv", set(), {"documents"}),
        ("classify evaluate judge news.csv", {"accuracy"}, {"classes", "confusions", "documents"}),
    ],
)
def test_json_is_as_documented(arguments, facts, tables, bench):
    outcome = bench(*arguments.split(), "--json")
    assert outcome.code == 0, outcome.err
    document = json.loads(outcome.out)
    assert list(document) == ["schema", "bursty", "verb", "run", "facts", "verdict", "tables", "files"]
    assert document["schema"] == 1
    assert document["bursty"] == bursty.__version__
    assert arguments.startswith(document["verb"])
    assert document["run"]["command"] == f"bursty {arguments} --json"
    assert {"data", "documents", "parameters", "versions", "started", "seconds"} <= document["run"].keys()
    assert facts <= document["facts"].keys()
    assert document["tables"].keys() == tables
    columns = {name for table in document["tables"].values() for row in table[:1] for name in row}
    for name in {*document["run"], *document["facts"], *document["tables"], *columns}:
        assert f"`{name}`" in DOCUMENTED or name.startswith("topic_"), name
    assert document["files"] == []


def test_json_of_models_and_kept_files(bench):
    document = json.loads(bench("info", "found/model.bursty", "--json").out)
    assert document["facts"]["model"] == "Mixture"
    assert document["facts"]["documents_kept"] == 40
    document = json.loads(bench("infer", "found", "mails", "--json", "-o", "new").out)
    assert document["files"] == ["new/documents.csv"]


def test_clusters_without_documents_are_counted_apart(bench):
    options = ["--k", "12", "--init", "perturb", "--family", "multinomial"]
    document = json.loads(bench("cluster", "mails", *options, "--out", "dozen", "--report", "--json").out)
    rows, facts = document["tables"]["clusters"], document["facts"]
    empty = [row for row in rows if not row["documents"]]
    assert facts["clusters"] + facts.get("clusters_without_documents", 0) == len(rows) == 12
    assert len(empty) == facts.get("clusters_without_documents", 0)
    assert all((row["name"], row["words"]) == ("(no documents)", []) for row in empty)
    assert f"{facts['clusters']} clusters in 40 documents" in (bench.folder / "dozen" / "report.html").read_text()


def test_classes_without_documents_have_no_recall(bench):
    lines = (bench.folder / "news.csv").read_text().splitlines()
    (bench.folder / "money.csv").write_text("\n".join(line for line in lines if not line.endswith("sport")))
    document = json.loads(bench("classify", "evaluate", "judge", "money.csv", "--json").out)
    money, sport = document["tables"]["classes"]
    assert (sport["documents"], sport["precision"], sport["recall"], sport["f1"]) == (0, None, None, None)
    assert document["facts"]["mean_f1"] == money["f1"] == 1.0


def test_a_report_does_not_outlive_its_model(bench):
    page = bench.folder / "again" / "report.html"
    assert bench("cluster", "mails", "--k", "2", "--out", "again", "--report").code == 0
    assert page.exists()
    assert bench("infer", "again", "mails", "--out", "again").code == 0
    assert page.exists()  # the model is the same
    outcome = bench("cluster", "mails", "--k", "3", "--out", "again")
    assert "removed report.html of an earlier run from again" in outcome.err
    assert not page.exists()


def test_files_of_an_earlier_run_are_not_taken_for_those_of_this_one(bench):
    folder = bench.folder / "reused"
    folder.mkdir()
    (folder / "clusters.txt").write_text("mine")
    assert bench("cluster", "mails", "--k", "2", "--out", "reused").code == 0
    clusters = {"clusters.csv", "documents.csv", "model.bursty", "words.csv"}
    assert set(os.listdir(folder)) == {*clusters, "clusters.txt", ".bursty.json"}

    # Verbs that use the model leave what was written with it, and remove what other runs left.
    assert bench("evaluate", "reused", "--out", "reused").code == 0
    assert set(os.listdir(folder)) == {*clusters, "contingency.csv", "clusters.txt", ".bursty.json"}
    outcome = bench("infer", "reused", "mails", "--out", "reused")
    assert "removed contingency.csv of an earlier run from reused" in outcome.err
    assert set(os.listdir(folder)) == {*clusters, "clusters.txt", ".bursty.json"}

    # A new model replaces all but what bursty did not write, and what was changed since.
    with open(folder / "words.csv", "a") as file:
        file.write("a note")
    outcome = bench("topics", "mails", "--k", "2", "--iterations", "2", "--format", "jsonl", "--out", "reused")
    assert "removed clusters.csv, documents.csv of an earlier run from reused" in outcome.err
    assert "kept words.csv in reused: changed since an earlier run wrote it" in outcome.err
    written = {"documents.jsonl", "model.bursty", "topics.jsonl", "words.jsonl"}
    assert set(os.listdir(folder)) == {*written, "words.csv", "clusters.txt", ".bursty.json"}
    assert (folder / "clusters.txt").read_text() == "mine"


def test_a_list_of_files_from_elsewhere_removes_nothing(bench):
    folder, victim = bench.folder / "listed", bench.folder / "victim.txt"
    folder.mkdir()
    victim.write_text("mine")
    (folder / "report.html").write_text("<title>mine</title>")
    digest = hashlib.sha256(b"mine").hexdigest()
    file = {"run": "1", "command": "bursty", "sha256": digest}
    hostile = {"../victim.txt": file, "a": 3, "report.html": file}
    for text in ("{", "[]", '{"files": 3}', json.dumps({"files": hostile})):
        (folder / ".bursty.json").write_text(text)
        assert bench("cluster", "mails", "--k", "2", "--out", "listed").code == 0
        assert victim.exists()
        assert (folder / "report.html").exists()


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_formats_of_tables(format, bench):
    assert bench("infer", "about", "mails", "--out", "new", "--format", format).code == 0
    path = bench.folder / "new" / f"documents.{format}"
    if format == "csv":
        rows = read_csv(path)
    elif format == "jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
    else:
        import pyarrow.parquet

        rows = pyarrow.parquet.read_table(path).to_pylist()
    saved = bursty.load(bench.folder / "about" / "model.bursty")
    expected = saved.transform(bursty.read_corpus(bench.folder / "mails"))
    assert [float(row["topic_1"]) for row in rows] == expected[:, 1].tolist()


def test_inference_counts_in_the_words_of_the_model(bench):
    outcome = bench("infer", "found", "news.csv", "--id", "name")
    assert "1 word is not in the vocabulary of the model; 3.2% of the tokens are ignored" in outcome.err
    rows = [line.split("\t") for line in outcome.out.splitlines()]
    assert rows[0] == ["id", "label", "cluster", "name", "probability"]
    assert rows[1][:2] == ["n0", "money"]
    assert len({row[2] for row in rows[1:] if row[1] == "money"}) == 1


def test_inference_reads_texts_as_the_fit_did(bench):
    assert bench("cluster", "mails", "--k", "2", "--ngrams", "2", "--stop-words", "english", "-o", "pairs").code == 0
    outcome = bench("infer", "pairs", "mails", "--json")
    assert "vocabulary of the model" not in outcome.err
    document = json.loads(outcome.out)
    labels = bursty.load(bench.folder / "pairs" / "model.bursty").labels_
    assert [row["cluster"] for row in document["tables"]["documents"]] == labels.tolist()


def test_families_give_probabilities(bench):
    corpus = bursty.read_corpus(bench.folder / "mails")
    bursty.save(bursty.families.DCM(smoothing=0.01).fit(corpus), bench.folder / "dcm.bursty")
    rows = json.loads(bench("infer", "dcm.bursty", "mails", "--json").out)["tables"]["documents"]
    expected = bursty.families.DCM(smoothing=0.01).fit(corpus).log_prob(corpus)
    assert [row["log_prob"] for row in rows] == expected.tolist()


def test_several_classes_a_document(bench):
    texts = [f"{'gold silver ' * (n % 3)}{'cat dog ' * (n % 2)}x{n % 5}" for n in range(40)]
    lines = [f"{text},{'a;b' if n % 2 else 'b'}\n" for n, text in enumerate(texts)]
    (bench.folder / "many.csv").write_text("text,label\n" + "".join(lines))
    options = ("--label-separator", ";")
    outcome = bench("classify", "train", "many.csv", *options, "--out", "several", "--json")
    assert outcome.code == 0, outcome.err
    assert 0 <= json.loads(outcome.out)["facts"]["break_even_micro"] <= 1
    rows = json.loads(bench("classify", "predict", "several", "many.csv", *options, "--json").out)["tables"][
        "documents"
    ]
    assert set(map(tuple, (row["classes"] for row in rows))) <= {(), ("a",), ("b",), ("a", "b")}
    assert bench("evaluate", "several", "many.csv", *options).code == 0


def test_a_classifier_is_judged_by_documents_it_has_not_learned_from(bench):
    lines = (bench.folder / "news.csv").read_text().splitlines()
    (bench.folder / "some.csv").write_text("\n".join([*lines, "n24,bank market loan,"]))
    outcome = bench("classify", "train", "some.csv", "--out", "held", "--json")
    assert "1 document without a class is ignored" in outcome.err
    facts = json.loads(outcome.out)["facts"]
    assert facts["documents_learned_from"] + facts["documents_held_out"] == 24
    kept = persistence.read(bench.folder / "held" / "model.bursty")
    assert len(kept.corpus) == facts["documents_held_out"]
    assert json.loads(bench("evaluate", "held", "--json").out)["facts"]["accuracy"] == facts["accuracy"]
    outcome = bench("classify", "train", "news.csv", "--hold-out", "0", "--out", "all", "--json")
    assert "accuracy" not in json.loads(outcome.out)["facts"]
    assert bench("evaluate", "all").code == 2
    assert bench("evaluate", "all", "news.csv").code == 0


def test_classes_of_one_document_are_learned(bench):
    rare = [f"r{n},bank odd{n} team,rare{n}" for n in range(6)]
    (bench.folder / "rare.csv").write_text((bench.folder / "news.csv").read_text() + "\n".join(rare))
    for share in ("0.2", "0.9"):
        outcome = bench("classify", "train", "rare.csv", "--hold-out", share, "--json")
        assert json.loads(outcome.out)["facts"]["classes"] == 8, outcome.err
    (bench.folder / "two.csv").write_text("text,label\nbank loan,a\nteam goal,b\n")
    outcome = bench("classify", "train", "two.csv", "--json")
    assert outcome.code == 0
    assert "too few documents to hold any out" in outcome.err


def test_import_and_info(bench):
    outcome = bench("import", "news.csv", "--text", "text", "--min-df", "2", "--stop-words", "english")
    assert outcome.out == "news.bcorpus\n"
    corpus = bursty.read_corpus(bench.folder / "news.bcorpus")
    assert "the" not in set(corpus.vocabulary)
    facts = json.loads(bench("info", "news.bcorpus", "--json").out)["facts"]
    assert facts == corpus.describe().as_dict()


def test_facts_have_the_units_of_the_corpus(capsys):
    facts = {"log_likelihood_per_document": -2.5, "words": 3, "log_likelihood_per_word": -1.0}
    print_facts(facts, sys.stdout, True, Units.of("site,bird,call").say)
    assert capsys.readouterr().out == (
        "log likelihood per site  -2.500\nbirds                    3\nlog likelihood per call  -1.000\n"
    )


def test_info_warns(bench):
    (bench.folder / "few.csv").write_text('text,label\n"a cat, a dog",x\n!,y\n')
    outcome = bench("info", "few.csv")
    assert "warning: 1 document has no words: rows without words are kept" in outcome.err
    assert "warning: 2 documents are few" in outcome.err


@pytest.mark.parametrize(
    ("perplexities", "words"),
    [
        ((100.0, 80.0, 75.0, 90.0, 60.0), ["25%", "Topics help", "dcmlda"]),
        ((100.0, 101.0, 99.5, 110.0, 120.0), ["hardly", "dcm"]),
        ((90.0, 101.0, 99.5, 110.0, 120.0), ["not come in bursts", "multinomial"]),
    ],
)
def test_verdicts(perplexities, words):
    text = verdict(dict(zip(("multinomial", "edcm", "dcm", "lda", "dcmlda"), perplexities, strict=True)))
    assert all(word in text for word in words)
    assert ("Topics help" in text) == ("Topics help" in words)


def test_tables_on_a_terminal_do_no_harm(capsys):
    table = Table(
        "t", {"word": ["\x1b[31mred", "[bold]x[/bold]", "y" * 10_000, "\u202eabc"], "n": [1, 2.5, np.nan, None]}
    )
    print_table(table, sys.stdout, terminal=True)
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "[bold]x[/bold]" in shown
    assert len(shown) < 2_000
    assert plain({"a": np.float32(1.5), "b": [np.int8(3), np.inf]}) == {"a": 1.5, "b": [3, None]}


@pytest.mark.parametrize("model", ["found", "about"])
def test_words_that_all_groups_have_are_in_no_table(bench, model):
    """The common words are a third of every text; no list of them was given."""
    name = {"found": "clusters", "about": "topics"}[model]
    words = [row["words"].split() for row in read_csv(bench.folder / model / f"{name}.csv")]
    listed = [row["word"] for row in read_csv(bench.folder / model / "words.csv") if int(row["rank"]) <= 8]
    assert not COMMON & ({word for row in words for word in row[:8]} | set(listed))
    assert words == bursty.load(bench.folder / model).summary()["words"].tolist()


def test_people_count_from_one_and_programs_from_zero(capsys):
    shares = {"topic_0": [0.9, None], "topic_1": [0.1, None]}
    table = Table("documents", {"id": ["a", "b"], "topic": [0, None]} | shares, groups="topic", wide=list(shares))
    print_table(table, sys.stdout, terminal=True)
    head, *rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.split()]
    assert head == ["id", "number"]
    assert rows[1:] == [["a", "1"], ["b", "-"]]
    print_table(table, sys.stdout, terminal=False)
    assert capsys.readouterr().out.splitlines()[:2] == ["id\ttopic\ttopic_0\ttopic_1", "a\t0\t0.9\t0.1"]
    assert table.records()[0] == {"id": "a", "topic": 0, "topic_0": 0.9, "topic_1": 0.1}


def test_agreement_with_labels_is_the_same_in_report_and_evaluation(bench):
    rows = ["rain wind sea,wet", "loan bank price,dry"] * 6 + [
        "rain wind sea,",
        "...,dry",
        "loan rain,wet",
        "sea bank,dry",
    ]
    (bench.folder / "gaps.csv").write_text("text,label\n" + "\n".join(rows) + "\n")
    assert bench("cluster", "gaps.csv", "--k", "2", "-o", "out", "--report").code == 0
    facts = json.loads(bench("evaluate", "out", "--json").out)["facts"]
    assert facts["documents_with_label"] == 14
    page = (bench.folder / "out" / "report.html").read_text()
    shown = re.search(r"agreement with labels \(NMI\)</dt><dd>([\d.]+)<", page)[1]
    assert shown == f"{facts['normalized_mutual_information']:.2f}"


def test_a_report_of_a_saved_model_may_leave_the_texts_out(bench):
    texts = ["rain falls on the sea", "banks lend money at interest"] * 5
    (bench.folder / "told.csv").write_text("text\n" + "\n".join(texts) + "\n")
    assert bench("cluster", "told.csv", "--k", "2", "-o", "out").code == 0
    for flags, there in (([], True), (["--no-texts"], False)):
        assert bench("report", "out", "-o", "page.html", *flags).code == 0
        assert ("banks lend money" in (bench.folder / "page.html").read_text()) is there


def test_a_document_without_words_has_a_row_and_no_cluster(bench):
    rows = ["rain wind sea"] * 4 + ["..."] + ["loan bank price"] * 4
    (bench.folder / "gaps.csv").write_text("text\n" + "\n".join(rows) + "\n")
    outcome = bench("cluster", "gaps.csv", "--k", "2", "--json")
    tables = json.loads(outcome.out)["tables"]
    clusters = [row["cluster"] for row in tables["documents"]]
    assert clusters[4] is None
    assert sorted(set(clusters[:4] + clusters[5:])) == [0, 1]
    assert sum(row["documents"] for row in tables["clusters"]) == 8


def test_topics_of_the_same_documents_are_the_same_in_fit_and_inference(bench):
    rows = ["rain wind sea"] * 4 + ["..."] + ["loan bank price"] * 4 + ["rain loan sea bank"]
    (bench.folder / "gaps.csv").write_text("text\n" + "\n".join(rows) + "\n")
    tables = json.loads(bench("topics", "gaps.csv", "--k", "2", "--iterations", "5", "-o", "out", "--json").out)[
        "tables"
    ]
    assert json.loads(bench("infer", "out", "gaps.csv", "--json").out)["tables"]["documents"] == tables["documents"]
    summary = bursty.load(bench.folder / "out").summary()
    assert summary["share"].tolist() == [row["share"] for row in tables["topics"]]
    found = [row["topic"] for row in tables["documents"]]
    assert found[4] is None
    assert summary["size"].tolist() == [found.count(0), found.count(1)]


def test_one_number_per_cluster_in_tables_json_report_inference_and_python(bench):
    outcome = bench("discover", "mails", "--iterations", "20", "-o", "groups", "--report", "--json")
    tables = json.loads(outcome.out)["tables"]
    model = bursty.load(bench.folder / "groups" / "model.bursty")
    sizes = [row["documents"] for row in tables["clusters"]]
    assert sizes == sorted(sizes, reverse=True) == model.sizes_.tolist() == model.summary()["size"].tolist()
    labels = [row["cluster"] for row in tables["documents"]]
    rows = read_csv(bench.folder / "groups" / "documents.csv")
    assert labels == model.labels_.tolist() == [int(row["cluster"]) for row in rows]
    inferred = json.loads(bench("infer", "groups", "mails", "--json").out)["tables"]["documents"]
    assert [row["cluster"] for row in inferred] == labels
    assert [row["probability"] for row in inferred] == [row["probability"] for row in tables["documents"]]
    page = (bench.folder / "groups" / "report.html").read_text()
    for number, (name, size) in enumerate(zip(model.names_, sizes, strict=True)):
        assert f'"label":"{number + 1}: {name}","value":{size}}}' in page
    assert bench("info", "groups").out.startswith("model\tDPMFS\n")


def test_confusions_of_many_classes_are_printed_in_part(bench):
    rng = random.Random(0)
    rows = [f"{rng.choice('abcdefgh')}x {rng.choice('abcdefgh')}y,class {n % 60}\n" for n in range(300)]
    (bench.folder / "many.csv").write_text("text,label\n" + "".join(rows))
    outcome = bench("classify", "train", "many.csv", "--hold-out", "0.5", "--out", "new")
    assert outcome.code == 0, outcome.err
    whole = (bench.folder / "new" / "confusions.csv").read_text().splitlines()[1:]
    printed = outcome.out.partition("class\ttaken_for\tdocuments\n")[2].splitlines()
    assert len(printed) == 30 < len(whole)
    assert [line.split("\t")[:2] for line in printed] == [line.split(",")[:2] for line in whole[:30]]
    assert f"... and {len(whole) - 30} more rows of confusions, in new/confusions.csv" in outcome.err
    outcome = bench("classify", "evaluate", "new", "many.csv")
    assert "more rows of confusions; --json or --out DIR has all of them" in outcome.err
    tables = json.loads(bench("classify", "evaluate", "new", "many.csv", "--json").out)["tables"]
    assert len(tables["confusions"]) > 30
    assert len(tables["classes"]) == 60
