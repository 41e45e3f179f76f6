"""What the command makes of each kind of input, and which options apply to it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import bursty

ROWS = ["rain and more rain", "sun, wind and sun", "", "wind and rain"]
COUNTS = {"and": 3, "more": 1, "rain": 3, "sun": 2, "wind": 2}
OTU = {"s1": [3, 0, 1], "s2": [0, 5, 1], "s3": [2, 2, 0]}


def facts(bench, *arguments):
    outcome = bench("info", *arguments, "--json")
    assert outcome.code == 0, outcome.err
    return json.loads(outcome.out)["facts"]


def write(folder, name, content):
    (folder / name).write_text(content, encoding="utf-8")
    return name


TEXTS = {
    "one document per line": ("notes.txt", "\n".join(ROWS) + "\n", []),
    "a log": ("system.log", "\n".join(ROWS) + "\n", []),
    "lines by name": ("notes.dat2", "\n".join(ROWS) + "\n", ["--input-format", "lines"]),
    "array of strings": ("notes.json", json.dumps(ROWS), []),
    "array of objects": ("notes.json", json.dumps([{"text": row, "n": 1} for row in ROWS]), []),
    "array of token lists": ("notes.json", json.dumps([{"text": row.replace(",", "").split()} for row in ROWS]), []),
    "JSON lines": ("notes.jsonl", "".join(json.dumps({"text": row}) + "\n" for row in ROWS), []),
    "commas": ("notes.csv", 'id,text\na,rain and more rain\nb,"sun, wind and sun"\nc,\nd,wind and rain\n', []),
    "semicolons": ("notes.csv", "id;text\na;rain and more rain\nb;sun, wind and sun\nc;\nd;wind and rain\n", []),
    "tabs in CSV": ("notes.csv", "id\ttext\na\train and more rain\nb\tsun, wind and sun\nc\t\nd\twind and rain\n", []),
    "bars by option": (
        "notes.csv",
        "id|text\na|rain and more rain\nb|sun, wind and sun\nc|\nd|wind and rain\n",
        ["--delimiter", "|"],
    ),
    "TSV": ("notes.tsv", "id\ttext\na\train and more rain\nb\tsun, wind and sun\nc\t\nd\twind and rain\n", []),
    "HTML in a column": (
        "notes.json",
        json.dumps([{"text": f"<p class='and'>{row}</p><script>more</script>"} for row in ROWS]),
        ["--html"],
    ),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_texts(kind, bench):
    name, content, options = TEXTS[kind]
    write(bench.folder, name, content)
    found = facts(bench, name, *options)
    assert (found["documents"], found["words"], found["tokens"]) == (4, 5, 11)
    assert found["empty_documents"] == 1
    assert bench("import", name, *options, "-o", "read.bcorpus").code == 0
    corpus = bursty.read_corpus(bench.folder / "read.bcorpus")
    assert dict(zip(corpus.vocabulary, corpus.counts.sum(axis=0).tolist(), strict=True)) == COUNTS


def test_html_files_of_a_folder(bench):
    (bench.folder / "pages").mkdir()
    for number, row in enumerate(ROWS):
        page = f"<html><head><style>p {{}}</style></head><body><p>{row}<script>let x</script></body>"
        (bench.folder / "pages" / f"{number}.html").write_text(page)
    (bench.folder / "pages" / "logo.png").write_bytes(b"\x89PNG\0\0\0")
    outcome = bench("import", "pages", "-o", "pages.bcorpus")
    assert "1 of 5 files of pages is not text and was skipped, such as logo.png" in outcome.err
    assert sorted(bursty.read_corpus(bench.folder / "pages.bcorpus").vocabulary) == sorted(COUNTS)
    assert facts(bench, "pages", "--no-html")["words"] > 5
    assert facts(bench, "pages", "--include", "[01].html")["documents"] == 2
    assert facts(bench, "pages", "--exclude", "0.*")["documents"] == 3


WIDE = pd.DataFrame(OTU, index=["taxon a", "taxon b", "taxon c"]).T


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("wide.csv", WIDE.to_csv(index_label="sample")),
        ("wide.tsv", WIDE.to_csv(index_label="sample", sep="\t")),
        ("wide2.csv", WIDE.to_csv(index_label="sample", sep=";")),
        ("otu.tsv", "# Constructed from biom file\n" + WIDE.T.to_csv(index_label="#OTU ID", sep="\t")),
    ],
)
def test_a_wide_table_is_counts(name, content, bench):
    write(bench.folder, name, content)
    assert bench("import", name, "-o", "read.bcorpus").code == 0
    corpus = bursty.read_corpus(bench.folder / "read.bcorpus")
    assert corpus.ids.tolist() == ["s1", "s2", "s3"]
    assert corpus.vocabulary.tolist() == ["taxon a", "taxon b", "taxon c"]
    assert corpus.counts.toarray().tolist() == list(OTU.values())


def test_samples_with_a_diet(bench):
    """A column that is named need not contain counts."""
    described = WIDE.assign(diet=["vegan", "keto", "vegan"], year=[2019, 2020, 2021])
    write(bench.folder, "samples.csv", described.to_csv(index_label="sample"))
    assert bench("import", "samples.csv", "--label", "diet", "-o", "read.bcorpus").code == 0
    corpus = bursty.read_corpus(bench.folder / "read.bcorpus")
    assert corpus.label_names.tolist() == ["keto", "vegan"]
    assert corpus.metadata["year"].tolist() == ["2019", "2020", "2021"]
    assert corpus.counts.toarray().tolist() == list(OTU.values())


def test_a_table_without_a_header(bench):
    write(bench.folder, "bare.csv", "".join(f'{number},"{row}"\n' for number, row in enumerate(ROWS)))
    outcome = bench("info", "bare.csv")
    assert outcome.code == 2
    assert "the first line is taken for their names: if it is a row, name the columns with --columns" in outcome.err
    assert facts(bench, "bare.csv", "--columns", "number,text")["documents"] == len(ROWS)


def test_what_python_counted(bench):
    """Vectorizers, gensim, token lists, frames of counts: a corpus file carries them to the command."""
    vectorizer = CountVectorizer()
    table = vectorizer.fit_transform(ROWS)

    class Dictionary:  # of gensim
        def items(self):
            return enumerate(vectorizer.get_feature_names_out().tolist())

    bags = [list(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in table]
    made = {
        "vectorizer": bursty.Corpus(table, vectorizer.get_feature_names_out()),
        "gensim": bursty.Corpus.from_gensim(bags, Dictionary()),
        "tokens": bursty.Corpus.from_texts([row.replace(",", "").split() for row in ROWS]),
        "frame": bursty.Corpus(pd.DataFrame(table.toarray(), columns=vectorizer.get_feature_names_out())),
        "texts": bursty.Corpus.from_texts(ROWS),
    }
    for name, corpus in made.items():
        corpus.save(bench.folder / f"{name}.bcorpus")
        found = facts(bench, f"{name}.bcorpus")
        assert (found["documents"], found["words"], found["tokens"]) == (4, 5, 11), name


def test_stop_words_of_a_saved_corpus(bench):
    assert bench("import", "mails", "--ngrams", "2", "-o", "pairs.bcorpus").code == 0
    assert bench("import", "pairs.bcorpus", "--stop-words", "english", "-o", "few.bcorpus").code == 0
    words = [word for phrase in bursty.read_corpus(bench.folder / "few.bcorpus").vocabulary for word in phrase.split()]
    assert "bank" in words
    assert not {"the", "of", "and"} & set(words)
    write(bench.folder, "words.txt", "bank\ngoal\n")
    outcome = bench("cluster", "few.bcorpus", "--k", "2", "--stop-words", "words.txt", "-o", "out")
    assert outcome.code == 0, outcome.err
    model = bursty.load(bench.folder / "out" / "model.bursty")
    assert not {"bank", "goal"} & set(model.feature_names_in_)
    bursty.Corpus(np.eye(4, dtype=int)).save(bench.folder / "nameless.bcorpus")
    outcome = bench("info", "nameless.bcorpus", "--stop-words", "english")
    assert outcome.code == 2
    assert "--stop-words needs the names of the words" in outcome.err


TIMES = {
    "years": [str(1990 + n % 12) for n in range(24)],
    "dates with gaps": ["" if n == 5 else f"{1990 + n % 12}-0{n % 9 + 1}-15" for n in range(24)],
    "timestamps": [f"{1990 + n % 12}-03-15T12:30:0{n % 10}" for n in range(24)],
    "written dates": [f"March {n + 1}, {1990 + n % 12}" for n in range(24)],
    "days before months": [f"{n + 1}.03.{1990 + n % 12}" for n in range(24)],
    "seconds": [str(700_000_000 + 30_000_000 * n) for n in range(24)],
}


@pytest.mark.parametrize("kind", [*TIMES, "parquet"])
def test_trends_without_a_flag(kind, bench):
    news = pd.read_csv(bench.folder / "news.csv")
    if kind == "parquet":
        news["created"] = pd.to_datetime(TIMES["timestamps"])
        news.to_parquet(bench.folder / "papers.parquet")
        name = "papers.parquet"
    else:
        news["year" if kind == "years" else "date"] = TIMES[kind]
        news.to_csv(bench.folder / "papers.csv", index=False)
        name = "papers.csv"
    outcome = bench("topics", name, "--k", "2", "--iterations", "5", "-o", "out", "--report")
    assert outcome.code == 0, outcome.err
    page = (bench.folder / "out" / "report.html").read_text()
    assert '"temporal"' in page
    assert "standard error" in page


def test_a_time_that_cannot_be_read(bench):
    write(bench.folder, "papers.csv", "text,date\nrain and wind,long ago\nsun,yesterday\n")
    outcome = bench("info", "papers.csv")
    assert "column 'date' looks like a time, but 'long ago' cannot be parsed as one" in outcome.err
