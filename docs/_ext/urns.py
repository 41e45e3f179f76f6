"""A figure of the urns behind each model: what is drawn, and what goes back; of families without one, their space."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyArrowPatch, PathPatch, Polygon
from matplotlib.path import Path as Outline

WORDS = {"r": "#0072B2", "s": "#E69F00", "w": "#009E73", "t": "#CC79A7"}
INK, FAINT = "#333333", "#888888"
DRAWINGS: dict[str, Callable[[Axes], None]] = {}


def drawing(width: float, height: float):
    """Register a drawing on a canvas of this size, one unit per 0.8 inch."""

    def register(function: Callable[[Axes], None]) -> Callable[[Axes], None]:
        DRAWINGS[function.__name__] = function
        function.size = (width, height)
        return function

    return register


def urn(ax: Axes, x: float, y: float, balls: str, label: str = "", *, radius: float = 0.13, fresh: str = "") -> None:
    """An urn whose opening is at (x, y + 1); ``fresh`` balls were just added and have a ring."""
    corners = [(-0.38, 1), (-0.62, 0.75), (-0.62, 0.5), (-0.62, 0.12), (-0.62, 0), (-0.45, 0)]
    points = [(x + dx, y + dy) for dx, dy in corners] + [(x - dx, y + dy) for dx, dy in reversed(corners)]
    codes = [Outline.MOVETO, Outline.CURVE3, Outline.CURVE3, Outline.LINETO, Outline.CURVE3, Outline.CURVE3]
    codes += [Outline.LINETO, Outline.CURVE3, Outline.CURVE3, Outline.LINETO, Outline.CURVE3, Outline.CURVE3]
    ax.add_patch(PathPatch(Outline(points, codes), fill=False, edgecolor=INK, linewidth=1.6))
    for i, ball in enumerate(balls + fresh):
        row, column = divmod(i, 4)
        centre = (x - 0.41 + 0.275 * column, y + 0.16 + 0.25 * row)
        edge = INK if i >= len(balls) else "none"
        ax.add_patch(Circle(centre, radius, facecolor=WORDS[ball], edgecolor=edge, linewidth=1.4))
    ax.text(x, y - 0.12, label, ha="center", va="top", fontsize=9, color=INK)


def arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], text: str = "", *, bend: float = 0.0) -> None:
    """An arrow with a word above its middle."""
    style = f"arc3,rad={bend}"
    ax.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=12, color=INK, connectionstyle=style))
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + 0.08 - 0.5 * bend * abs(end[0] - start[0]))
    ax.text(*middle, text, ha="center", va="bottom", fontsize=9, color=INK)


def document(ax: Axes, x: float, y: float, words: str, label: str = "") -> None:
    """A row of words."""
    for i, word in enumerate(words):
        ax.add_patch(Circle((x + 0.3 * i, y), 0.12, facecolor=WORDS[word], edgecolor="none"))
    ax.text(x + 0.15 * (len(words) - 1), y - 0.22, label, ha="center", va="top", fontsize=9, color=FAINT)


@drawing(9, 2.35)
def multinomial(ax: Axes) -> None:
    """Nothing changes."""
    urn(ax, 1, 0.6, "rrrsswt", r"$\theta$")
    arrow(ax, (1.2, 1.75), (3.2, 1.75), "draw a word", bend=-0.2)
    document(ax, 3.4, 1.7, "r")
    arrow(ax, (3.3, 1.3), (1.8, 1.1), "put it back", bend=-0.25)
    arrow(ax, (4.2, 1.3), (5.2, 1.3))
    document(ax, 5.5, 1.3, "rsrtrwrssr", "a document: every draw is like the first")


def _polya(ax: Axes, label: str, note: str, words: str) -> None:
    urn(ax, 1, 0.6, "rsw", label, radius=0.1)
    arrow(ax, (1.2, 1.75), (3.2, 1.75), "draw a word", bend=-0.2)
    document(ax, 3.4, 1.7, "w")
    arrow(ax, (3.6, 1.4), (4.3, 1.1))
    urn(ax, 5, 0.6, "rsw", "put it back, and one more", fresh="w")
    arrow(ax, (5.8, 1.3), (6.4, 1.3))
    document(ax, 6.7, 1.3, words, note)


@drawing(10, 2.35)
def dcm(ax: Axes) -> None:
    """A word that was drawn is drawn again more easily."""
    _polya(ax, r"$\alpha$, small weights", "a document: the word drawn first dominates", "wwrwwwswww")


@drawing(10, 2.35)
def edcm(ax: Axes) -> None:
    """The same urn; only first draws have parameters of their own."""
    _polya(ax, r"$\beta$, small weights", "only first draws have parameters of their own", "wwwwrrrwww")


@drawing(10, 2.4)
def mixture(ax: Axes) -> None:
    """One urn per cluster, one cluster per document."""
    for k, (balls, words) in enumerate((("rrrs", "rrsrrr"), ("ssw", "ssssww"), ("wwtt", "twtttw"))):
        x = 3.2 + 2.6 * k
        urn(ax, x, 0.9, balls, "")
        ax.text(x, 0.82, rf"$\pi_{k + 1}$", ha="center", va="top", fontsize=10, color=INK)
        document(ax, x - 0.75, 0.3, words)
    ax.text(0.2, 1.4, "one urn per\ncluster", fontsize=9, color=INK, va="center")
    ax.text(0.2, 0.3, "a document draws\nfrom one urn", fontsize=9, color=FAINT, va="center")


@drawing(10, 2.4)
def dpmfs(ax: Axes) -> None:
    """As many urns as documents ask for, and one for words that do not discriminate."""
    for k, balls in enumerate(("rrr", "sss")):
        urn(ax, 1 + 1.6 * k, 0.7, balls, f"cluster {k + 1}")
    urn(ax, 4.2, 0.7, "", r"a new one, at rate $\alpha$")
    ax.text(5.35, 1.2, "...", fontsize=16, color=INK)
    urn(ax, 6.7, 0.7, "twtwtw", "shared by all clusters:\nwords that do not discriminate")
    document(ax, 8.1, 1.2, "rtrwtr", "a document draws\nfrom both")


@drawing(10, 2.6)
def lda(ax: Axes) -> None:
    """Each word picks a topic of its document, and a word of the topic."""
    urn(ax, 1, 0.9, "rrs", "the topics of a\ndocument")
    arrow(ax, (1.8, 1.4), (3.2, 1.4), "a topic for\neach word")
    for k, balls in enumerate(("rrrw", "sstt")):
        urn(ax, 4 + 1.6 * k, 0.9, balls, f"topic {k + 1}")
    arrow(ax, (6.4, 1.4), (7.3, 1.4), "a word")
    document(ax, 7.6, 1.4, "rwrsrtr", "topics are the same\nin all documents")


@drawing(10, 2.6)
def dcmlda(ax: Axes) -> None:
    """As LDA, but each document has urns of its own, to which words return doubled."""
    urn(ax, 1, 0.9, "rrs", "the topics of a\ndocument")
    arrow(ax, (1.8, 1.4), (3.2, 1.4), "a topic for\neach word")
    urn(ax, 4, 0.9, "rw", "topic 1, the\ndocument's own", fresh="w")
    urn(ax, 5.6, 0.9, "st", "topic 2, the\ndocument's own", fresh="s")
    arrow(ax, (6.4, 1.4), (7.3, 1.4), "a word")
    document(ax, 7.6, 1.4, "wwwsrws", "a topic may look different\nin every document")


@drawing(10, 2.4)
def classifier(ax: Axes) -> None:
    """Whose urn would have made the document most readily?"""
    document(ax, 0.4, 1.4, "rrsr", "a document")
    for k, (balls, name) in enumerate((("rrrs", "spam"), ("sswt", "mail"))):
        urn(ax, 4 + 2.2 * k, 0.7, balls, name)
    arrow(ax, (1.8, 1.4), (3.2, 1.4), "how probable?")
    ax.text(7.6, 1.4, "Bayes' rule; how sure to be\nis learned", fontsize=9, color=INK, va="center")


@drawing(10, 2.8)
def others(ax: Axes) -> None:
    """Directions close to a mean direction; proportions of three words as points of a triangle."""
    centre = 2.0, 1.3
    ax.add_patch(Circle(centre, 1.0, fill=False, edgecolor=FAINT))
    for degrees in (5, 22, 30, 41, 48, 56, 66, 88):
        x, y = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
        ax.add_patch(Circle((centre[0] + x, centre[1] + y), 0.07, facecolor=INK, edgecolor="none"))
    end = centre[0] + 0.95 * np.cos(np.pi / 4), centre[1] + 0.95 * np.sin(np.pi / 4)
    ax.add_patch(FancyArrowPatch(centre, end, arrowstyle="-|>", mutation_scale=12, color=INK))
    ax.text(2.1, 1.65, r"$\mu$", fontsize=11, color=INK)
    ax.text(3.3, 1.2, "von Mises-Fisher: a document\nis a direction", fontsize=9, color=INK, va="center")
    corners = np.array([(5.9, 0.35), (8.1, 0.35), (7.0, 2.25)])
    ax.add_patch(Polygon(corners, fill=False, edgecolor=FAINT))
    for shares in ((6, 2, 2), (4, 3, 3), (5, 4, 1), (5, 2, 3), (3, 5, 2), (7, 2, 1), (4, 2, 4), (6, 3, 1)):
        ax.add_patch(Circle(np.array(shares) / 10 @ corners, 0.07, facecolor=INK, edgecolor="none"))
    for (x, y), word in zip(np.add(corners, [(-0.2, 0), (0.2, 0), (0, 0.2)]), "rsw", strict=True):
        ax.add_patch(Circle((x, y), 0.12, facecolor=WORDS[word], edgecolor="none"))
    ax.text(7.9, 1.4, "Dirichlet: a document\nis its proportions", fontsize=9, color=INK, va="center")


def draw_all(folder: Path, names: Sequence[str] = ()) -> None:
    """Write one SVG file per drawing; the same bytes every time."""
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({"svg.hashsalt": "bursty", "svg.fonttype": "path"}):
        for name in names or DRAWINGS:
            width, height = DRAWINGS[name].size
            figure = Figure(figsize=(0.8 * width, 0.8 * height))
            ax = figure.add_axes((0, 0, 1, 1))
            ax.set(xlim=(0, width), ylim=(0, height), aspect="equal")
            ax.axis("off")
            DRAWINGS[name](ax)
            figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
            if names:
                figure.savefig(folder / f"{name}.png", dpi=80)
