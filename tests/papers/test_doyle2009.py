"""Doyle and Elkan: what the page says of fits that converged."""

from __future__ import annotations

from bursty import DCMLDA, LDA, datasets
from bursty.papers.doyle2009_curves import how_fits_ended, tell_converged
from bursty.papers.entry import Measurements


def test_fits_that_ended_at_their_last_iteration_are_counted():
    runs = [
        {"DCMLDA": -1.0, "converged: DCMLDA": 1, "converged: LDA": 0},
        {"DCMLDA": -2.0, "converged: DCMLDA": 1, "converged: LDA": 1},
    ]
    results = Measurements({"S&P 500": [{"documents": 440}], "K = 2": runs, "K = 3": [{"converged: DCMLDA": 0}]})
    said = tell_converged(results)
    assert said == "Fits that converged before their last iteration: DCMLDA 2 of 3, LDA 1 of 2."


def test_nothing_is_said_of_runs_without_fits():
    assert tell_converged(Measurements({"S&P 500": [{"documents": 440}]})) == ""


def test_a_fit_says_how_it_ended():
    corpus, _ = datasets.make_bursty_mixture(n_documents=20, n_words=30, n_components=2, random_state=0)
    done = DCMLDA(2, n_drawn=0, n_iter=40, tol=1.0, n_sweeps=1, burn_in=0, n_samples=1, random_state=0).fit(corpus)
    cut = LDA(2, n_iter=3, tol=0, n_sweeps=1, burn_in=0, n_samples=1, random_state=0).fit(corpus)
    # A relative gain of 1 is never exceeded: the rule stops as soon as it has two windows of ten iterations.
    assert how_fits_ended({"DCMLDA": done, "LDA": cut}) == {
        "converged: DCMLDA": 1,
        "converged: LDA": 0,
        "iterations: DCMLDA": 20,
        "iterations: LDA": 3,
    }
