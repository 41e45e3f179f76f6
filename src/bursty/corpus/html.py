"""HTML to text: what a reader of the page sees, without scripts and styles.

The parser of lxml reports tags and text as it meets them, and no tree is built: time and memory grow with the length of
the page, however deeply its elements are nested and however many attributes they have.
"""

from __future__ import annotations

import codecs
import re
from typing import Any

SUFFIXES = (".html", ".htm", ".xhtml")
#: The way out of a missing library.
INSTALL = "pip install 'bursty[html]'"

_NOT_SHOWN = frozenset({"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "textarea"})
# Elements inside a line, which do not end a word.
_IN_LINE = frozenset(
    [
        "a",
        "abbr",
        "acronym",
        "b",
        "bdi",
        "bdo",
        "big",
        "cite",
        "code",
        "data",
        "del",
        "dfn",
        "em",
        "font",
        "i",
        "ins",
        "kbd",
        "label",
        "mark",
        "q",
        "s",
        "samp",
        "small",
        "span",
        "strike",
        "strong",
        "sub",
        "sup",
        "time",
        "tt",
        "u",
        "var",
        "wbr",
    ]
)
_CHARSET = re.compile(rb"<meta[^<>]{0,512}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r"\s*\n\s*")


def is_html(name: str) -> bool:
    """Whether the name of a file, compressed or not, is that of an HTML page."""
    return name.lower().removesuffix(".gz").removesuffix(".xz").removesuffix(".bz2").endswith(SUFFIXES)


def check_installed(what: str, otherwise: str = "") -> None:
    """Raise an error if the optional library is missing."""
    try:
        import lxml.etree  # noqa: F401 - only to check that it is installed
    except ImportError:
        raise ValueError(f"{what} needs lxml: {INSTALL}{otherwise}") from None


def html_to_text(markup: str) -> str:
    """The text of an HTML page or fragment, one line per block.

    Examples
    --------
    >>> from bursty.corpus.html import html_to_text
    >>> html_to_text("<p>Rain <b>wa</b>ter</p><script>let x</script><p>Fish &amp; chips")
    'Rain water\\nFish & chips'
    """
    from lxml import etree

    parser = etree.HTMLParser(target=_Text(), encoding="utf-8", huge_tree=True)
    try:
        text = etree.fromstring(markup.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError:  # nothing but blanks
        return ""
    return _LINES.sub("\n", _BLANKS.sub(" ", text)).strip()


def declared_encoding(head: bytes) -> str | None:
    """The encoding that a page declares in its first bytes, if Python has it."""
    found = _CHARSET.search(head[:4096])
    if found is None:
        return None
    name = found[1].decode("ascii", "replace").lower()
    try:
        known = codecs.lookup("cp1252" if name in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii") else name)
    except LookupError:
        return None
    # A page whose declaration can be read as ASCII is not in UTF-16, whatever it says.
    return known.name if known._is_text_encoding and not known.name.startswith(("utf-16", "utf-32")) else None


class _Text:
    """Collects the text between tags; the parser calls its methods."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._hidden = 0

    def start(self, tag: str, attributes: Any) -> None:
        if tag in _NOT_SHOWN:
            self._hidden += 1
        elif tag not in _IN_LINE:
            self._parts.append("\n")

    def end(self, tag: str) -> None:
        if tag in _NOT_SHOWN:
            self._hidden = max(0, self._hidden - 1)
        elif tag not in _IN_LINE:
            self._parts.append("\n")

    def data(self, text: str) -> None:
        if not self._hidden:
            self._parts.append(text)

    def close(self) -> str:
        return "".join(self._parts)
