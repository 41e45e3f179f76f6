"""Report on a fitted model as one self-contained HTML page: results, run and data.

`render` returns the page as a string, `write` saves it to a file, and `show` shows it in a notebook. The content is
assembled by `clusters`, `topics` and `classifier`, each from a `source.ReportSource`; `run` adds the panel common to
all pages; `page` generates the HTML.

This folder may import `bursty.plot`, `bursty.models`, `bursty.families`, `bursty.corpus`, `bursty.metrics` and
`bursty.storage`.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from bursty.corpus import Corpus
from bursty.corpus.units import units_of
from bursty.models.vectorizers import named, read_texts
from bursty.report.classifier import classifier_content
from bursty.report.clusters import cluster_content
from bursty.report.page import assemble
from bursty.report.run import add_run, check_run
from bursty.report.source import ReportSource
from bursty.report.topics import topic_content
from bursty.report.units import translate
from bursty.storage import replacing

__all__ = ["Page", "render", "show", "write"]

# The fitted attributes of a model determine the kind of its page.
_KINDS = (("labels_", cluster_content), ("doc_topic_", topic_content), ("class_count_", classifier_content))


def render(model: Any, corpus: Any = None, run: Any = None, *, texts: bool = True) -> str:
    """The report of a fitted model, as one HTML page.

    Parameters
    ----------
    model : fitted Mixture, DPMFS, LDA, DCMLDA or BayesClassifier, or Pipeline of a vectorizer and one of them
    corpus : Corpus, or texts for a Pipeline, optional
        The documents to show. For clusters and topics: those of the fit, or others with the same vocabulary. For a
        classifier: labelled documents that it was *not* fitted on, on which it is evaluated. Without a corpus the page
        shows only the model.
    run : dict, optional
        Facts about the run: any of ``command``, ``data``, ``parameters``, ``seed``, ``versions``, ``started``,
        ``seconds``.
    texts : bool, default True
        Whether to show excerpts if the corpus has texts. Use False for data that must not be published.

    Returns
    -------
    str

    See Also
    --------
    write : Into a file.
    show : In a notebook.

    Examples
    --------
    >>> from bursty import Mixture, datasets, report
    >>> corpus, _ = datasets.make_bursty_mixture(60, 40, 2, random_state=0)
    >>> model = Mixture(2, random_state=0).fit(corpus)
    >>> page = report.render(model, corpus)
    >>> "clusters in 60 documents" in page
    True
    """
    facts = check_run(run)
    if isinstance(model, Pipeline):
        corpus = corpus if corpus is None or isinstance(corpus, Corpus) else read_texts(model, corpus)
        model = named(model)
    check_is_fitted(model)
    for attribute, make in _KINDS:
        if hasattr(model, attribute):
            source = ReportSource.of(model, corpus if texts or corpus is None else _without_texts(corpus))
            content = make(source)
            add_run(content, source, facts)
            units = units_of(corpus, model)
            if not units.are_default:
                translate(content, units)
            return assemble(content, named=source.are_named, units=units)
    raise TypeError(
        f"there is no report for {type(model).__name__}: give a Mixture, DPMFS, LDA, DCMLDA or BayesClassifier"
    )


def write(path: str | Path, model: Any, corpus: Any = None, run: Any = None, *, texts: bool = True) -> Path:
    """Write the report of a fitted model to a file, atomically.

    Parameters
    ----------
    path : str or Path
        Output file; an existing file is replaced.
    model, corpus, run, texts
        As in `render`.

    Returns
    -------
    Path

    See Also
    --------
    render : As a string.
    show : In a notebook.

    Examples
    --------
    >>> import tempfile
    >>> from bursty import Mixture, datasets, report
    >>> corpus, _ = datasets.make_bursty_mixture(60, 40, 2, random_state=0)
    >>> model = Mixture(2, random_state=0).fit(corpus)
    >>> path = report.write(f"{tempfile.mkdtemp()}/report.html", model, corpus, run={"seed": 0})
    >>> path.name
    'report.html'
    """
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder: give the name of a file, such as {target / 'report.html'}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"the folder {target.parent} does not exist: create it first")
    text = render(model, corpus, run, texts=texts)
    with replacing(target) as file:
        file.write(text.encode("utf-8", errors="replace"))
    return target


@dataclass(frozen=True)
class Page:
    """A report that a notebook shows in a frame of its own.

    See Also
    --------
    show

    Examples
    --------
    >>> from bursty.report import Page
    >>> Page("<p>nothing yet</p>")
    <report of 0.0 MB; notebooks show it, report.write saves it>
    """

    html: str
    height: int = 760

    def _repr_html_(self) -> str:
        style = f"width: 100%; height: {int(self.height)}px; border: 1px solid #d5dbe1"
        return f'<iframe srcdoc="{escape(self.html)}" title="report" style="{style}"></iframe>'

    def __repr__(self) -> str:
        return f"<report of {len(self.html) / 1e6:.1f} MB; notebooks show it, report.write saves it>"


def show(model: Any, corpus: Any = None, run: Any = None, *, texts: bool = True, height: int = 760) -> Page:
    """Show the report of a fitted model in a notebook.

    Parameters
    ----------
    model, corpus, run, texts
        As in `render`. The page becomes part of the notebook: use ``texts=False`` for data that must not be published.
    height : int, default 760
        Height of the frame in pixels.

    Returns
    -------
    Page
        Shown if it is the value of a cell.

    See Also
    --------
    write, Page

    Examples
    --------
    >>> from bursty import Mixture, datasets, report
    >>> corpus, _ = datasets.make_bursty_mixture(60, 40, 2, random_state=0)
    >>> page = report.show(Mixture(2, random_state=0).fit(corpus), corpus)
    >>> page._repr_html_().startswith("<iframe srcdoc=")
    True
    """
    return Page(render(model, corpus, run, texts=texts), height)


def _without_texts(corpus: Any) -> Any:
    return corpus.without_texts() if hasattr(corpus, "without_texts") else corpus
