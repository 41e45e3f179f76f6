"""Wide tables of counts, documents per line, JSON arrays and tables with other delimiters."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

from bursty import read_corpus

WIDE = '"","Bacteroides","Prevotella","Rumino"\n"t1",3,0,12\n"t2",0,5,0\n"t3",,1,2.0\n'


@pytest.fixture
def write(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("twins.csv", WIDE),
        ("twins.csv", WIDE.replace(",", ";")),
        ("twins.tsv", WIDE.replace(",", "\t").replace('"', "")),
        ("twins.csv.gz", gzip.compress(WIDE.encode(), mtime=0)),
        ("twins.csv", WIDE.replace('""', "sample")),
    ],
    ids=["comma", "semicolon", "tab", "gzip", "named-corner"],
)
def test_a_wide_table_is_counts_with_names(write, name, content):
    corpus = read_corpus(write(name, content))
    assert corpus.vocabulary.tolist() == ["Bacteroides", "Prevotella", "Rumino"]
    assert corpus.ids.tolist() == ["t1", "t2", "t3"]
    np.testing.assert_array_equal(corpus.counts.toarray(), [[3, 0, 12], [0, 5, 0], [0, 1, 2]])


@pytest.mark.parametrize("name", ["user_id", "SampleID", "Customer", "sample", "row", "order no", "document"])
def test_numbers_that_name_rows_are_not_counts(write, name):
    rows = [[7, 3, 0, 12], [4913, 0, 5, 0], [12, 0, 1, 2]]
    content = f"{name},apple,berry,cedar\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)
    corpus = read_corpus(write("t.csv", content))
    assert corpus.vocabulary.tolist() == ["apple", "berry", "cedar"]
    assert corpus.ids.tolist() == ["7", "4913", "12"]
    np.testing.assert_array_equal(corpus.counts.toarray(), [row[1:] for row in rows])
    again = read_corpus(write("u.csv", content + "7,1,1,1\n"), format="wide")
    assert again.vocabulary.tolist() == [name, "apple", "berry", "cedar"]  # one number twice: a word of this name
    assert read_corpus(write("v.csv", content.replace(name, "zebra"))).n_words == 4


def test_words_may_be_called_like_columns_of_texts(write):
    corpus = read_corpus(write("t.csv", "apple,body,content,text\n3,0,12,1\n0,5,0,0\n"))
    assert corpus.vocabulary.tolist() == ["apple", "body", "content", "text"]
    np.testing.assert_array_equal(corpus.counts.toarray(), [[3, 0, 12, 1], [0, 5, 0, 0]])


def test_a_wide_table_may_have_classes_and_no_names(write):
    content = "a,b,c,class\n1,0,2,x\n0,0,1,y\n"
    corpus = read_corpus(write("t.csv", content))
    assert corpus.vocabulary.tolist() == ["a", "b", "c"]
    assert corpus.label_names.tolist() == ["x", "y"]
    assert corpus.ids.tolist() == ["0", "1"]
    assert (
        read_corpus(write("u.csv", content), label="class", format="wide", max_documents=1, min_df=1).n_documents == 1
    )


def test_a_wide_table_of_one_document(write):
    corpus = read_corpus(write("one.csv", ",ape,bee,cat\nfirst,3,0,2\n"))
    assert corpus.ids.tolist() == ["first"]
    np.testing.assert_array_equal(corpus.counts.toarray(), [[3, 0, 2]])


def test_a_table_from_biom_is_turned_over(write):
    rows = ["#OTU ID\ts1\ts2\ts3\ttaxonomy", "otu1\t3.0\t0.0\t1.0\tk__Bacteria", "otu2\t0.0\t7.0\t2.0\tk__Archaea"]
    content = "# Constructed from biom file\n" + "\n".join(rows) + "\n"
    corpus = read_corpus(write("table.tsv", content))
    assert corpus.ids.tolist() == ["s1", "s2", "s3"]
    assert corpus.vocabulary.tolist() == ["otu1", "otu2"]
    assert corpus.counts.toarray().tolist() == [[3, 0], [0, 7], [1, 2]]


def test_values_that_are_no_counts_are_named(write):
    path = write("t.csv", "id,a,b,c\nx,1,2,3\ny,1,many,3\n")
    with pytest.raises(ValueError, match=r"line 3, column 'b': 'many' is not a count"):
        read_corpus(path, format="wide")
    with pytest.raises(ValueError, match="the columns are 'id'"):
        read_corpus(path, format="wide", label="site")
    with pytest.raises(ValueError, match=r"0\.5"):
        read_corpus(write("f.csv", "id,a,b,c\nx,1,2,3\ny,1,0.5,3\n"))
    with pytest.raises(ValueError, match="Negative"):
        read_corpus(write("g.csv", "id,a,b,c\nx,1,2,3\ny,1,-5,3\n"), format="wide")


def test_a_text_column_makes_it_a_table_of_texts(write):
    path = write("t.csv", "id,year,score,weight,note\n1,1999,3,5,7\n2,2000,4,6,8\n")
    assert read_corpus(write("u.csv", "id,text,a,b\n1,rain,3,5\n")).vocabulary.tolist() == ["rain"]
    with pytest.raises(ValueError, match="no document has any words"):
        read_corpus(path, text="note")


def test_lines_are_documents(write):
    corpus = read_corpus(write("system.log", "disk full\n\nfan failed disk\n"))
    assert corpus.counts.sum(axis=1).tolist() == [2, 0, 3]
    assert list(read_corpus(write("notes.txt", "rain\nwind"), keep_texts=True).texts) == ["rain", "wind"]
    assert len(read_corpus(write("any", "rain\nwind\nsea"), format="lines", max_documents=2)) == 2


def test_text_files_that_hold_counts_are_still_counts(write):
    path = write("docword.txt", "2\n3\n3\n1 1 2\n1 2 1\n2 3 4\n")
    assert read_corpus(path).counts.sum() == 7


def test_json_arrays(write):
    objects = [{"text": "rain falls", "label": "wet"}, {"text": "sun", "label": "dry"}]
    corpus = read_corpus(write("a.json", "  " + json.dumps(objects, indent=2)))
    assert corpus.label_names.tolist() == ["dry", "wet"]
    assert read_corpus(write("b.json", json.dumps(["rain", "sun sun"]))).counts.sum() == 3
    with pytest.raises(ValueError, match="item 1 is neither an object nor a string but int"):
        read_corpus(write("c.json", '["rain", 3]'))
    with pytest.raises(ValueError, match="not a JSON array"):
        read_corpus(write("d.json", '["rain", '))


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(write, mark):
    corpus = read_corpus(
        write("t.csv", f'id{mark}text{mark}label\n1{mark}"rain, wind; sea"{mark}a\n2{mark}sun{mark}b\n')
    )
    assert corpus.vocabulary.tolist() == ["rain", "sea", "sun", "wind"]
    assert corpus.label_names.tolist() == ["a", "b"]


DESCRIBED = "sample,diet,year,a,b,c\nx,vegan,2019,1,0,2\ny,keto,,0,3,1\n"


@pytest.mark.parametrize("options", [{"label": "diet"}, {"metadata": ["diet"]}], ids=str)
def test_columns_that_are_named_need_no_counts(write, options):
    """Samples have a diet and a year beside their counts: neither is a feature."""
    corpus = read_corpus(write("w.csv", DESCRIBED), **options)
    assert corpus.vocabulary.tolist() == ["a", "b", "c"]
    assert corpus.ids.tolist() == ["x", "y"]
    assert corpus.metadata["year"].tolist() == ["2019", ""]
    found = corpus.label_names if "label" in options else corpus.metadata["diet"]
    assert sorted(found.tolist()) == ["keto", "vegan"]


def test_a_feature_called_year_is_counted(write):
    corpus = read_corpus(write("words.csv", ",year,time,rain\nx,1,0,2\ny,3,1,0\n"))
    assert corpus.vocabulary.tolist() == ["year", "time", "rain"]
    assert not corpus.metadata


@pytest.mark.parametrize("name", ["date", "created"])
def test_times_of_samples_are_kept(write, name):
    corpus = read_corpus(write("w.csv", f"sample,{name},a,b,c\nx,2019-05-01,1,0,2\ny,2020-06-01,0,3,1\n"))
    assert corpus.vocabulary.tolist() == ["a", "b", "c"]
    assert corpus.metadata[name].tolist() == ["2019-05-01", "2020-06-01"]


def test_a_table_of_counts_with_other_columns_says_how_to_name_them(write):
    path = write("w.csv", DESCRIBED)
    with pytest.raises(ValueError, match=r"name the columns without counts \(here 'sample', 'diet'\) with label=, id="):
        read_corpus(path)
    with pytest.raises(ValueError, match="'vegan' is not a count; metadata= keeps a column beside the counts"):
        read_corpus(path, format="wide")
    with pytest.raises(ValueError, match="has no columns of counts; the columns are 'year'"):
        read_corpus(write("years.csv", "year\n1999\n2001\n"), format="wide")
    with pytest.raises(ValueError, match="has no column 'place'"):
        read_corpus(path, format="wide", metadata=["place"])


def test_a_table_without_a_header(write):
    path = write("bare.csv", f"A title,{'a long text ' * 20}\nAnother,{'a second text ' * 20}\n")
    with pytest.raises(ValueError, match=r"'a long text a long[a-z ]*\.\.\.'; the first line is taken") as error:
        read_corpus(path)
    assert len(str(error.value)) < 400
    assert read_corpus(path, columns=["title", "text"]).n_documents == 2
    with pytest.raises(ValueError, match="two columns of the same name: '3', '3'; the first line is taken for"):
        read_corpus(write("equal.csv", "3,3\n1,2\n"))
