"""Documents on disk, and fits that can be taken up again, from the command line."""

from __future__ import annotations


def test_import_in_shards_and_cluster_them(bench):
    assert bench(*["import", "news.csv", "--shards"]).code == 0
    assert (bench.folder / "news.bshards" / "index").is_file()
    sharded = bench(*["cluster", "news.bshards", "--k", "2", "--out", "one", "--checkpoint", "fit.checkpoint"])
    assert sharded.code == 0, sharded.err
    # Shards keep no texts, from which clusters would get their names.
    assert bench(*["cluster", "news.csv", "--k", "2", "--out", "two", "--no-texts"]).code == 0
    one, two = ((bench.folder / name / "documents.csv").read_text() for name in ("one", "two"))
    assert one == two
    assert not (bench.folder / "fit.checkpoint").exists()
    assert bench(*["topics", "news.bshards", "--k", "2", "--iterations", "5", "--out", "three"]).code == 0


def test_what_shards_cannot_do(bench):
    bench(*["import", "news.csv", "--shards"])
    for command, message in (
        ("info news.bshards", "which only cluster, discover and topics read"),
        ("cluster news.bshards --min-df 2", "reading options do not apply"),
        ("import news.csv --shards --out wrong.folder", "must end in .bshards"),
        ("import nothing.csv --shards", "no such file or directory"),
        ("import news.csv --shards --text absent", "has no column 'absent'"),
        ("cluster news.csv --checkpoint no/such/folder/file", "no such directory"),
    ):
        outcome = bench(*command.split())
        assert outcome.code == 2, command
        assert message in outcome.err, outcome.err
        assert "Traceback" not in outcome.err
