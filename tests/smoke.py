"""What a new installation has to do, without pytest and outside of a checkout: ``python smoke.py``.

``make package`` runs it in an environment that has the wheel and its dependencies and nothing else.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import tempfile
from importlib import metadata
from pathlib import Path

import bursty
from bursty import families, metrics

TEXTS = [f"{'fox ' * (1 + i % 4)} hen {'barn ' * (i % 3)}" for i in range(20)]
TEXTS += [f"{'bread ' * (1 + i % 4)} jam {'salt ' * (i % 3)}" for i in range(20)]


def check_library(folder: Path) -> None:
    """Fits, saves and loads."""
    corpus = bursty.Corpus.from_texts(TEXTS, labels=["animals"] * 20 + ["food"] * 20)
    assert families.DCM().fit(corpus).perplexity(corpus) < families.Multinomial().fit(corpus).perplexity(corpus)
    model = bursty.Mixture(2, random_state=0).fit(corpus)
    assert metrics.normalized_mutual_information(corpus.labels, model.labels_) == 1
    bursty.save(model, folder / "model.bursty")
    assert (bursty.load(folder / "model.bursty").predict(corpus) == model.labels_).all()
    assert bursty.BayesClassifier(smoothing=0.1).fit(corpus).score(corpus, corpus.labels) == 1


def check_command(folder: Path) -> None:
    """From texts to a report on the command line."""
    program = Path(sysconfig.get_path("scripts")) / "bursty"
    (folder / "texts.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    subprocess.run([program, "cluster", "texts.txt", "--k", "2", "--out", "found", "--report"], cwd=folder, check=True)
    assert (folder / "found" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def main() -> None:
    """Everything, in a temporary folder."""
    installed = Path(bursty.__file__).resolve()
    assert "site-packages" in installed.parts, f"not an installed package: {installed}"
    assert (installed.parent / "py.typed").exists(), "without py.typed nobody sees the types"
    assert metadata.version("bursty") == bursty.__version__
    with tempfile.TemporaryDirectory() as folder:
        check_library(Path(folder))
        check_command(Path(folder))
    print(f"bursty {bursty.__version__} works with Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
