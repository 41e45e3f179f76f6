"""Models with a report, and a browser to read it in."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest

from bursty import DCMLDA, DPMFS, BayesClassifier, Corpus, Mixture, datasets, report

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
)

#: Words that would do harm if a page let them.
NASTY = [
    "<script>window.hacked=1</script>",
    "</script><script>window.hacked=2</script>",
    "<img src=x onerror=window.hacked=3>",
    "'\"><b onmouseover=window.hacked=4>",
    "{{ 7 * 7 }}",
    "${window.hacked=5}",
    "<!--<script>",
    "line\u2028separator\u2029",
    "\u202eturned",
    "שלום",
    "مرحبا",
    "👩\u200d👩\u200d👧",
    "__proto__",
    "constructor",
    "null",
    "&lt;b&gt;",
    "x" * 10_000,
    "x" * 10_001,
    "\udcff lone",
    "a\x00b\tc",
]


def in_bursts(n_documents, n_words):
    """Counts of words that few documents have, and these more than once."""
    rng = np.random.default_rng(0)
    counts = (rng.random((n_documents, n_words)) < 0.15) * rng.integers(2, 6, (n_documents, n_words))
    counts[np.arange(n_documents), np.arange(n_documents) % n_words] += 1
    return counts


def words(n):
    return [f"word{i}" for i in range(n)]


@pytest.fixture(scope="session")
def corpus():
    """120 documents of three kinds, with years and places."""
    made, _ = datasets.make_bursty_mixture(120, 60, 3, mean_length=60, random_state=0)
    return Corpus(
        made.counts,
        words(60),
        ids=[f"doc {i}" for i in range(120)],
        labels=np.array(["apples", "bears", "cars"])[made.labels],
        metadata={"year": 1900 + np.arange(120) // 4, "place": np.array(["north", "south"])[np.arange(120) % 2]},
        info={"name": "fruit & <beasts>"},
    )


@pytest.fixture(scope="session")
def mixture(corpus):
    return Mixture(3, random_state=0).fit(corpus)


@pytest.fixture(scope="session")
def topics(corpus):
    return DCMLDA(4, n_iter=20, n_sweeps=2, tol=0, random_state=0).fit(corpus)


@pytest.fixture(scope="session")
def dpmfs(corpus):
    return DPMFS(n_iter=40, n_chains=2, random_state=0).fit(corpus)


@pytest.fixture(scope="session")
def split(corpus):
    """Documents to learn from, and others, of which every tenth has a wrong label."""
    train, test = corpus.split(0.5, random_state=0)
    labels = np.where(np.arange(len(test)) % 10 == 0, (test.labels + 1) % 3, test.labels)
    return train, test.with_labels(labels, test.label_names)


@pytest.fixture(scope="session")
def classifier(split):
    train = split[0]
    return BayesClassifier(smoothing=0.01).fit(train, train.labels)


@pytest.fixture(scope="session")
def nasty():
    """A corpus whose every name is an attack, and a mixture fitted to it."""
    made = Corpus(
        in_bursts(120, len(NASTY)),
        NASTY,
        ids=[f"{NASTY[i % len(NASTY)]} {i}" for i in range(120)],
        labels=[NASTY[i % 3] for i in range(120)],
        metadata={NASTY[1]: np.array([NASTY[i % 5] for i in range(120)], dtype=object), "year": np.arange(120)},
        info={"name": NASTY[0]},
    )
    return made


@pytest.fixture(scope="session")
def pages(tmp_path_factory, corpus, mixture, topics, dpmfs, classifier, split, nasty):
    """A page of every kind, by name."""
    folder = tmp_path_factory.mktemp("pages")
    run = {"command": "bursty <b>cluster</b>", "data": "a & b", "seed": 0, "started": "today", "seconds": 12.3}
    made = {
        "clusters": (mixture, corpus, run),
        "discover": (dpmfs, corpus, None),
        "topics": (topics, corpus, run),
        "classifier": (classifier, split[1], None),
        "nasty-clusters": (Mixture(3, random_state=0).fit(nasty), nasty, {"command": NASTY[0]}),
        "nasty-topics": (DCMLDA(3, n_iter=5, n_sweeps=2, tol=0, random_state=0).fit(nasty), nasty, None),
        "nasty-classifier": (BayesClassifier(smoothing=0.01).fit(nasty, nasty.label_names[nasty.labels]), nasty, None),
    }
    return {name: report.write(folder / f"{name}.html", *args) for name, args in made.items()}


def _missing(message):
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)


@pytest.fixture(scope="session")
def browser():
    """Chromium without a window; its absence is a skip for a newcomer and a failure in CI."""
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        _missing("install chromium and chromium-driver to run this test")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in FLAGS:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    made = webdriver.Chrome(options=options, service=Service(driver))
    yield made
    made.quit()
