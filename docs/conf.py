"""Sphinx settings."""

from __future__ import annotations

import bursty

project = "bursty"
author = "The bursty developers"
copyright = author
release = version = bursty.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
exclude_patterns = ["_build", "_templates", "papers/results/*.md"]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "furo"
html_title = f"bursty {release}"
html_show_sourcelink = False


def skip_routing(app, what, name, obj, skip, options):
    """Leave out the methods that scikit-learn adds to every estimator for metadata routing."""
    return skip or name == "get_metadata_routing" or (name.startswith("set_") and name.endswith("_request"))


def setup(app):
    """Sphinx calls this."""
    app.connect("autodoc-skip-member", skip_routing)
