"""One self-contained HTML file: template, style, scripts, chart library and data.

Its Content-Security-Policy allows only the scripts in the page, identified by their hashes: the page makes no requests,
and text from the data cannot run as a script.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from bursty.corpus.units import Units
from bursty.report.content import Content
from bursty.report.text import to_json
from bursty.report.units import translate_template

_SCRIPTS = ("dom.js", "charts.js", "tabs.js", "table.js", "words.js", "topics.js", "tree.js", "main.js")
_MISSING = 'reports need jinja2 and vl-convert-python: pip install "bursty[report]"'


def assemble(content: Content, *, named: bool, units: Units | None = None) -> str:
    """The page."""
    data = {**content.data, "charts": {name: chart.spec for name, chart in content.charts.items()}}
    library, script = chart_library(), "\n".join(_static(name) for name in _SCRIPTS)
    return _template(units or Units()).render(
        content=content,
        named=named,
        style=_static("report.css"),
        library=library,
        script=script,
        policy=_policy(library, script),
        data=to_json(data),
    )


@cache
def chart_library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script."""
    try:
        import vl_convert
    except ImportError as error:
        raise ImportError(_MISSING) from error
    script = str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;"))
    # Sequences that would end or confuse a script element; in JavaScript strings both spellings are equivalent.
    return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")


@lru_cache(maxsize=8)
def _template(units: Units) -> Any:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError as error:
        raise ImportError(_MISSING) from error
    environment = Environment(
        loader=FunctionLoader(lambda name: translate_template(_read("templates", name), units)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _static(name: str) -> str:
    return _read("static", name)


@cache
def _read(folder: str, name: str) -> str:
    return files("bursty.report").joinpath(folder, name).read_text(encoding="utf-8")


def _policy(*scripts: str) -> str:
    hashes = " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(s.encode()).digest()).decode()}'" for s in scripts)
    return f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:"
