"""Messages: progress in a pipe, the options of the command in the place of parameters, hints that can be followed."""

from __future__ import annotations

import json
import warnings

import pytest

import bursty
from bursty import progress as progress_module
from bursty.cli.messages import in_flags, plain_warnings
from bursty.progress import _fitting, progress, spoken_time


class Clock:
    """Each look at it takes some seconds."""

    def __init__(self, seconds):
        self.now, self.seconds = 0.0, seconds

    def monotonic(self):
        self.now += self.seconds
        return self.now


def test_long_work_says_how_far_it_is_where_there_is_no_terminal(monkeypatch, capsys):
    monkeypatch.setattr(progress_module, "time", Clock(4.0))
    with progress("comparing models", 20, True) as report:
        for _ in range(20):
            report("lda")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "comparing models: 3 of 20 (lda), at most 68 s left",
        "comparing models: 11 of 20 (lda), at most 36 s left",
        "comparing models: 19 of 20 (lda), at most 4 s left",
    ]


def test_short_work_says_nothing(monkeypatch, capsys):
    monkeypatch.setattr(progress_module, "time", Clock(0.1))
    for total in (20, None):
        with progress("topics", total, True) as report:
            for _ in range(20):
                report("")
    monkeypatch.setattr(progress_module, "time", Clock(100.0))
    with progress("topics", 3, False) as report:
        report("not asked for")
    assert capsys.readouterr().err == ""


def test_times_in_words():
    assert [spoken_time(s) for s in (0.2, 44.4, 89, 600, 7200)] == ["1 s", "44 s", "89 s", "10 min", "2.0 h"]


def test_compare_counts_every_step(bench, monkeypatch):
    steps = []

    class Reported:
        def __init__(self, description, total, enabled):
            steps.append([description, total, 0])

        def __enter__(self):
            def report(message):
                steps[-1][2] += 1

            return report

        def __exit__(self, *_):
            return None

    monkeypatch.setattr("bursty.cli.compare.progress", Reported)
    assert bench("compare", "mails", "--k", "2", "--iterations", "3").code == 0
    ((description, total, done),) = steps
    assert description == "comparing models"
    assert total == done


@pytest.mark.parametrize(
    ("room", "shown"),
    [
        (40, "T = 1, log-likelihood -5759.3"),
        (29, "T = 1, log-likelihood -5759.3"),
        (28, "T = 1, log-likelihood"),
        (6, "T = 1"),
        (0, ""),
    ],
)
def test_progress_never_shows_a_part_of_a_number(room, shown):
    assert _fitting("T = 1, log-likelihood -5759.3", room) == shown


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            "EM did not converge within 1 iterations at every temperature: raise max_iter or tol, or accept the rest",
            "EM did not converge within 1 iterations at every temperature: raise --iterations, or accept the rest",
        ),
        (
            "2 of 8 clusters have no documents; try fewer n_components, lower temperatures or more starts (n_init)",
            "2 of 8 clusters have no documents; try a smaller --k, or more --starts",
        ),
        (
            "n_samples=4 should be >= n_components=9: 4 documents cannot make 9 clusters: lower n_components",
            "4 documents cannot make 9 clusters: give a smaller --k",
        ),
        ("random_state and n_jobs", "--seed and --jobs"),
        ('divide the counts, or use family="multinomial"', "divide the counts, or use --family multinomial"),
        (
            "family must be one of 'dcm', 'edcm' or a family estimator, not 'foo'",
            "--family must be one of 'dcm', 'edcm', not 'foo'",
        ),
        ("init must be one of 'auto', 'lsa' or an array, not 'foo'", "--init must be one of 'auto', 'lsa', not 'foo'"),
        (
            'units must be three names, such as ("sample", "taxon", "read"), not \'a,b\'',
            "--units must be like sample,taxon,read, not 'a,b'",
        ),
        (
            "the chains have not settled: raise max_iter, or split_steps, or",
            "the chains have not settled: raise --iterations, or",
        ),
        (
            "the chain has not settled: raise n_iter, n_chains, or split_steps, or",
            "the chain has not settled: raise --iterations, or",
        ),
    ],
)
def test_messages_name_options(message, shown, capsys):
    assert in_flags(message) == shown
    with plain_warnings():
        warnings.warn(message, UserWarning, stacklevel=1)
    assert capsys.readouterr().err == f"warning: {shown}\n"


def test_warnings_of_a_fit_name_options_that_exist(bench):
    outcome = bench("cluster", "mails", "--k", "6", "--iterations", "1")
    assert outcome.code == 0
    assert "raise --iterations" in outcome.err
    outcome = bench("topics", "mails", "--k", "2", "--iterations", "12")
    for name in ("n_components", "max_iter", "n_iter", "n_init", "tol"):
        assert name not in outcome.err.split()


def test_the_number_of_topics_is_selected(bench):
    outcome = bench("topics", "news.csv", "--k", "auto", "--iterations", "5", "--json", "--report", "-o", "out")
    assert outcome.code == 0, outcome.err
    assert "selecting the number of topics; --k N sets it" in outcome.err
    document = json.loads(outcome.out)
    tried = document["tables"]["numbers_tried"]
    assert document["facts"]["topics"] in [row["k"] for row in tried]
    model = bursty.load(bench.folder / "out" / "model.bursty")
    assert len(model.alpha_) == document["facts"]["topics"]
    assert "must be a positive integer or auto" in bench("topics", "mails", "--k", "many").err


FUNCTION_WORDS = ["the", "of", "and", "to", "in", "that", "it", "is", "was", "for"]


def test_an_unfiltered_vocabulary_gets_a_hint(bench):
    rows = [" ".join(FUNCTION_WORDS * 2 + [f"word{n * 7 + m}" for m in range(12)]) for n in range(30)]
    (bench.folder / "plain.txt").write_text("\n".join(rows))
    hint = "of the tokens are words that most documents have"
    for verb in (["cluster", "--k", "2"], ["topics", "--k", "2", "--iterations", "2"]):
        outcome = bench(verb[0], "plain.txt", *verb[1:])
        assert hint in outcome.err
        assert "--stop-words english or --max-df 0.5 leaves them out" in outcome.err
        assert hint not in bench(verb[0], "plain.txt", *verb[1:], "--max-df", "0.5").err
    assert hint not in bench("cluster", "mails", "--k", "2", "--stop-words", "english").err


def test_a_model_is_said_to_have_converged_only_if_it_has(bench):
    for iterations, said in (("1", "It did not converge"), ("500", "It converged.")):
        outcome = bench("cluster", "mails", "--k", "2", "--iterations", iterations, "-o", "out", "--report")
        assert outcome.code == 0
        model = bursty.load(bench.folder / "out" / "model.bursty")
        assert model.converged_ == (said == "It converged.")
        assert said in (bench.folder / "out" / "report.html").read_text()
    assert bench("discover", "mails", "--iterations", "10", "-o", "groups", "--report").code == 0
    assert "It converged" not in (bench.folder / "groups" / "report.html").read_text()
