"""What the rows, columns and counts of a corpus are called: documents, words and tokens, or samples, taxa and reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bursty.wording import counted

_DEFAULT = ("document", "word", "token")
#: Plurals that no rule gives.
_IRREGULAR = {
    **{"taxon": "taxa", "genus": "genera", "phylum": "phyla", "person": "people", "child": "children"},
    **{"species": "species", "series": "series", "matrix": "matrices", "index": "indices", "datum": "data"},
}
_SPOKEN = re.compile(r"\b(a )?(documents?|words?|tokens?)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Units:
    """Names of a document, a word and a token, and their plurals.

    Examples
    --------
    >>> from bursty.corpus.units import Units
    >>> units = Units.of(["sample", "taxon", "read"])
    >>> units.say("Documents by number of words; a token per word of a document")
    'Samples by number of taxa; a read per taxon of a sample'
    """

    singular: tuple[str, str, str] = _DEFAULT
    plural: tuple[str, str, str] = ("documents", "words", "tokens")

    @classmethod
    def of(cls, names: Sequence[str] | str | None) -> Units:
        """From three names, or one string with commas; "ox/oxen" gives the plural."""
        if names is None:
            return cls()
        parts = names.split(",") if isinstance(names, str) else list(names)
        if len(parts) != 3 or not all(isinstance(part, str) and part.strip() for part in parts):
            raise ValueError(f'units must be three names, such as ("sample", "taxon", "read"), not {names!r}')
        pairs = [_singular_and_plural(part.strip()) for part in parts]
        return cls(*(tuple(pair[i] for pair in pairs) for i in (0, 1)))  # type: ignore[arg-type]  # three of them

    @property
    def are_default(self) -> bool:
        """Whether these are documents, words and tokens."""
        return self == Units()

    @property
    def names(self) -> list[str]:
        """As `of` takes them."""
        return [f"{one}/{many}" for one, many in zip(self.singular, self.plural, strict=True)]

    def count(self, *numbers: int) -> list[str]:
        """Numbers of documents, words and tokens, with their units."""
        units = zip(numbers, self.singular, self.plural, strict=True)
        return [counted(number, one, many) for number, one, many in units]

    def say(self, text: str) -> str:
        """A text about documents, words and tokens, in these units."""
        return text if self.are_default else _SPOKEN.sub(self._spoken, text)

    def _spoken(self, match: re.Match[str]) -> str:
        article, word = match[1] or "", match[2]
        low = word.lower()
        names = self.singular if low in _DEFAULT else self.plural
        name = names[_DEFAULT.index(low if low in _DEFAULT else low[:-1])]
        if article and name[0].lower() in "aeiou":
            article = article[0] + "n "
        return article + (name[0].upper() + name[1:] if word[0].isupper() else name)


def units_of(*sources: Any) -> Units:
    """The units of the first of these (a corpus, a fitted model) that has any."""
    for source in sources:
        units = getattr(source, "units", None)
        if isinstance(units, Units) and not units.are_default:
            return units
    return Units()


def _singular_and_plural(name: str) -> tuple[str, str]:
    if len(name) > 40:
        raise ValueError(f"the name of a unit has at most 40 characters, not {len(name)}")
    if "/" in name:
        one, _, many = name.partition("/")
        return one, many
    if name in _IRREGULAR:
        return name, _IRREGULAR[name]
    if re.search(r"[^aeiou]y$", name):
        return name, name[:-1] + "ies"
    return name, name + ("es" if re.search(r"(s|x|z|ch|sh)$", name) else "s")
