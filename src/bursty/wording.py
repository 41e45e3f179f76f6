"""Numbers of things in messages, reports and tables."""

from __future__ import annotations

from typing import Any


def counted(number: Any, thing: str, things: str | None = None) -> str:
    """A number with its noun, singular or plural.

    Examples
    --------
    >>> from bursty.wording import counted
    >>> counted(1, "document"), counted(2000, "document"), counted(0, "class", "classes")
    ('1 document', '2,000 documents', '0 classes')
    >>> counted(1, "document has", "documents have")
    '1 document has'
    """
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {things or thing + 's'}"
