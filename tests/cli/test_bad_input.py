"""Bad input: exit code 2, one line that says what to do, no traceback, and nothing half-written."""

from __future__ import annotations

import os

import numpy as np
import pytest

import bursty
from bursty.cli import results

CORPUS_VERBS = ["info", "cluster", "discover", "topics", "compare", "classify train", "import"]
KEEPING_VERBS = ["cluster --k 2", "discover --iterations 5", "topics --k 2 --iterations 2", "classify train"]
MODEL_VERBS = ["infer", "evaluate", "report", "classify predict", "classify evaluate"]


def complains(outcome, *words: str, code: int = 2) -> bool:
    """One line, on stderr, after whatever else was said."""
    assert outcome.code == code, outcome.err
    assert outcome.out == ""
    assert "Traceback" not in outcome.err
    last = outcome.err.splitlines()[-1]
    assert last.startswith("bursty: ")
    assert sum(line.startswith("bursty: ") for line in outcome.err.splitlines()) == 1
    for word in words:
        assert word in last
    return True


@pytest.mark.parametrize("verb", CORPUS_VERBS)
def test_a_missing_path(verb, bench):
    before = bench.names()
    assert complains(
        bench(*verb.split(), "nowhere", *([] if verb in ("info",) else ["--out", "new"])),
        "no such file or directory: nowhere",
    )
    assert bench.names() == before


@pytest.mark.parametrize("verb", MODEL_VERBS)
def test_a_missing_model(verb, bench):
    assert complains(
        bench(*verb.split(), "nowhere", *([] if verb == "report" else ["mails"])), "no such file or directory: nowhere"
    )


@pytest.mark.parametrize("group", ["", "classify"])
def test_a_path_where_the_verb_should_be(group, bench):
    outcome = bench(*group.split(), "mails")
    assert complains(
        outcome, "'mails' is a path", f"bursty {group} VERB mails".replace("  ", " "), "train" if group else "cluster"
    )
    assert "infer" not in outcome.err
    assert complains(bench(*group.split(), "nowhere"), "No such command 'nowhere'")


@pytest.mark.parametrize("verb", CORPUS_VERBS)
def test_an_unreadable_file(verb, bench):
    (bench.folder / "noise.x.bcorpus").write_bytes(bytes(range(256)) * 12)
    (bench.folder / "bytes.csv").write_bytes(b"text\n\xff\xfe\xfd\n")
    assert complains(bench(*verb.split(), "noise.x.bcorpus"), "not a readable bursty corpus file")
    assert complains(bench(*verb.split(), "bytes.csv"), "bytes.csv", "--encoding")


def test_names_that_are_too_long(bench):
    for arguments in (["cluster", "mails", "--k", "2", "--out", "x" * 300], ["info", "x" * 300]):
        outcome = bench(*arguments)
        assert outcome.code == 2
        assert outcome.err.rstrip().splitlines()[-1].endswith(f"{'x' * 300}: File name too long")


def test_columns_in_one_word(bench):
    assert complains(bench("info", "news.csv", "--metadata", "name,label"), "no column 'name,label'", "given by itself")
    assert "given by itself" not in bench("info", "news.csv", "--metadata", "name,year").err


def test_a_file_without_a_format(bench):
    (bench.folder / "note").write_text("one text\n")
    for arguments in (["info", "note"], ["infer", "found", "note"]):
        assert complains(bench(*arguments), 'note: set --input-format "lines" if every line is a document')
    assert bench("info", "note", "--input-format", "lines").code == 0


@pytest.mark.parametrize("verb", MODEL_VERBS)
def test_an_unreadable_model(verb, bench):
    path = bench.folder / "found" / "model.bursty"
    path.write_bytes(path.read_bytes()[:-200])
    arguments = ["found"] if verb == "report" else ["found", "mails"]
    assert complains(bench(*verb.split(), *arguments), "not a readable bursty model file")


@pytest.mark.parametrize("verb", CORPUS_VERBS)
@pytest.mark.parametrize("path", ["found", "found/model.bursty"])
def test_a_model_in_the_place_of_documents(verb, path, bench):
    """The files beside a model are its results; the tables were once read as texts."""
    if verb == "info":  # which describes models, too
        assert bench("info", path).code == 0
        return
    assert complains(bench(*verb.split(), path), f"{path} ", "not documents; 'bursty info found")


@pytest.mark.parametrize("verb", MODEL_VERBS)
@pytest.mark.parametrize("path", ["news.csv", "mails"])
def test_documents_in_the_place_of_a_model(verb, path, bench):
    rest = [] if verb == "report" else ["mails"]
    assert complains(bench(*verb.split(), path, *rest), path, "model.bursty", "give the file")


def test_options_that_do_not_apply_are_named_as_options(bench):
    outcome = bench("info", "mails", "--text", "body")
    assert complains(outcome, "which takes --drop-most-common, --encoding,", "--keep-case", "--ngrams")
    assert "lowercase" not in outcome.err
    assert "analyzer" not in outcome.err


def test_more_groups_than_documents(bench):
    (bench.folder / "three.txt").write_text("one two\nthree four\nfive six\n")
    assert complains(
        bench("cluster", "three.txt", "--k", "9"), "3 documents cannot make 9 clusters: give a smaller --k"
    )
    assert complains(bench("topics", "three.txt", "--k", "9"), "6 words cannot make 9 topics: give a smaller --k")
    outcome = bench("topics", "three.txt", "--iterations", "5")
    assert outcome.code == 0
    assert "1 topic; --k N sets another number" in outcome.err


@pytest.mark.parametrize("verb", CORPUS_VERBS)
def test_an_empty_corpus(verb, bench):
    (bench.folder / "void").mkdir()
    (bench.folder / "empty.csv").write_text("text,label\n")
    (bench.folder / "blank.csv").write_text("text,label\n!,a\n?,b\n")
    assert complains(bench(*verb.split(), "void"), "void")
    assert complains(bench(*verb.split(), "empty.csv"), "empty.csv")
    assert complains(bench(*verb.split(), "blank.csv"), "no document has any words")


@pytest.mark.parametrize(
    ("verb", "words"),
    [
        ("cluster", "one document: clusters need at least two"),
        ("discover", "one document: clusters need at least two"),
        ("compare", "has fewer than 8 documents, too few to compare models on"),
        ("classify train", "document"),
    ],
)
def test_a_corpus_of_one_document(verb, words, bench):
    (bench.folder / "one.csv").write_text("text,label\nthe only one here,a\n")
    before = bench.names()
    assert complains(bench(*verb.split(), "one.csv", "--out", "new/deep"), words)
    assert bench.names() == before


@pytest.mark.parametrize("verb", ["info", "topics --k 2 --iterations 3", "import"])
def test_one_document_is_enough_for_some(verb, bench):
    (bench.folder / "one.csv").write_text("text,label\nthe only one here the one,a\n")
    assert bench(*verb.split(), "one.csv").code == 0


@pytest.mark.parametrize("verb", CORPUS_VERBS)
def test_a_wrong_column(verb, bench):
    assert complains(bench(*verb.split(), "news.csv", "--text", "body"), "no column 'body'", "'text'", "'label'")


@pytest.mark.parametrize("verb", ["infer", "classify predict", "classify evaluate"])
def test_a_wrong_column_of_new_documents(verb, bench):
    assert complains(bench(*verb.split(), "judge", "news.csv", "--text", "body"), "no column 'body'")


def test_messages_about_input_name_options_and_not_parameters(bench):
    (bench.folder / "pile").mkdir()
    (bench.folder / "pile" / "a.txt").write_text("rain")
    (bench.folder / "empty.csv").write_text("text\n...\n???\n")
    (bench.folder / "odd.tsv").write_text("id\ttext\n1\ta\tb\n")
    assert complains(bench("info", "pile", "--include", "*.md"), "no file of pile is left by --include and --exclude")
    assert complains(bench("cluster", "empty.csv", "--k", "2"), "check --token-pattern and --stop-words")
    assert complains(bench("info", "odd.tsv"), "Check the delimiter and the quotes (--delimiter)")


def test_a_model_of_another_kind(bench):
    assert complains(bench("classify", "predict", "found", "mails"), "is a Mixture, a model of clusters", "classes")
    assert complains(bench("classify", "evaluate", "about", "mails"), "is a DCMLDA, a model of topics")
    assert complains(bench("evaluate", "about", "mails"), "is a DCMLDA, a model of topics")
    bench("import", "mails", "-o", "mails.bcorpus")
    assert complains(bench("infer", "mails.bcorpus", "mails"), "mails.bcorpus is not a saved model")
    assert complains(bench("cluster", "found/model.bursty"), "is a saved model, not documents")
    corpus = bursty.read_corpus(bench.folder / "mails")
    bursty.save(bursty.families.DCM().fit(corpus), bench.folder / "dcm.bursty")
    assert complains(bench("report", "dcm.bursty"), "no report for DCM")


@pytest.mark.parametrize("verb", ["infer", "evaluate", "classify predict", "classify evaluate"])
def test_a_model_of_another_vocabulary(verb, bench):
    (bench.folder / "other.csv").write_text("text,label\nquite foreign speech,money\nwholly different,sport\n")
    assert complains(bench(*verb.split(), "judge", "other.csv"), "in the vocabulary of the model")


def test_words_without_names(bench):
    bursty.Corpus(np.eye(4, dtype=int)).save(bench.folder / "nameless.bcorpus")
    assert complains(bench("infer", "found", "nameless.bcorpus"), "vocabulary")


def test_labels_that_are_missing_or_others(bench):
    (bench.folder / "bare.csv").write_text("text\nbank market\nteam goal\n")
    assert complains(bench("classify", "train", "bare.csv"), "--label")
    assert complains(bench("evaluate", "found", "bare.csv"), "--label")
    (bench.folder / "strange.csv").write_text("text,label\nbank market,war\nteam goal,peace\n")
    assert complains(bench("evaluate", "judge", "strange.csv"), "no class 'peace'", "money, sport")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cluster", "mails", "--k", "zero"], "--k must be a positive integer or auto"),
        (["cluster", "mails", "--k", "0"], "--k must be a positive integer or auto"),
        (["cluster", "mails", "--k", "1000"], "cannot make 1,000 clusters"),
        (["cluster", "mails", "--family", "gauss", "--k", "2"], "gauss"),
        (["cluster", "mails", "--report"], "--out DIR"),
        (["cluster", "mails", "--format", "xls"], "csv, jsonl, parquet"),
        (["cluster", "mails", "--out", "news.csv"], "news.csv"),
        (["cluster", "mails", "--stop-words", "klingon"], "klingon"),
        (["cluster", "mails", "--min-df", "many"], "--min-df"),
        (["cluster", "mails", "--min-df", "9999"], "word"),
        (["cluster", "mails", "--text", "body"], "--text does not apply to format 'folder'"),
        (["cluster", "news.csv", "--max-documents", "4", "--k", "auto"], "too few for --k auto"),
        (["topics", "mails", "--model", "btm"], "dcmlda or lda"),
        (["topics", "mails", "--k", "999"], "999 topics"),
        (["discover", "mails", "--sampler", "x"], "sampler"),
        (["classify", "train", "mails", "--method", "SVM"], "SVM"),
        (["import", "mails", "--out", "found"], "is a folder"),
        (["report", "found", "--out", "about"], "is a folder"),
        (["cluster"], "bursty cluster --help"),
        (["cluster", "mails", "--nonsense"], "--nonsense"),
        (["nonsense"], "nonsense"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_bad_usage(arguments, words, bench):
    before = bench.names()
    assert complains(bench(*arguments), words)
    assert bench.names() == before


@pytest.mark.parametrize("verb", KEEPING_VERBS)
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError(), KeyError("bug")])
def test_failures_leave_the_folder_as_it_was(verb, error, bench, monkeypatch):
    """Something is wrong when the last table is written: code 1, and the results of an earlier run are still there."""
    assert bench(*verb.split(), "mails", "--out", "kept").code == 0
    before = {name: (bench.folder / name).read_bytes() for name in bench.names() if (bench.folder / name).is_file()}

    def fail(*_):
        raise error

    monkeypatch.setattr(results, "write_table", fail)
    for out in ("kept", "new"):
        outcome = bench(*verb.split(), "news.csv", "--out", out)
        assert complains(outcome, "failed: ", code=1)
    after = {name: (bench.folder / name).read_bytes() for name in bench.names() if (bench.folder / name).is_file()}
    assert after == before
    assert not (bench.folder / "new").exists()


def test_debug_shows_where(bench):
    outcome = bench("cluster", "nowhere", "--debug")
    assert outcome.code == 2
    assert "Traceback" in outcome.err
    assert outcome.err.splitlines()[-1] == "bursty: no such file or directory: nowhere"


def test_a_report_that_fails_leaves_the_old_one(bench, monkeypatch):
    (bench.folder / "report.html").write_text("before")

    def fail(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)  # what was written so far does not reach the disk
    before = bench.names()
    assert complains(bench("report", "found"), "No space left", code=1)
    assert (bench.folder / "report.html").read_text() == "before"
    assert bench.names() == before
