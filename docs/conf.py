"""Sphinx settings."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ.setdefault("MPLBACKEND", "agg")

import benchmark_pages  # noqa: E402  # _ext is on the path from here on
import scaling_page  # noqa: E402  # likewise
import urns  # noqa: E402  # likewise
from sphinx_gallery.sorting import ExplicitOrder  # noqa: E402  # after the backend of matplotlib is set

import bursty  # noqa: E402  # likewise

project = "bursty"
author = "The bursty developers"
copyright = author
release = version = bursty.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_ext", "_templates", "papers/results/*.md", "auto_examples/*.ipynb"]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
suppress_warnings = ["config.cache"]  # the order of the gallery is an object, which Sphinx cannot store

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"bursty {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "back_to_top_button": False,
}
html_sidebars = {"index": []}

# The examples of the gallery, from easy to special.
ORDER = """burstiness bursty_words simplex dcm_edcm few_documents clusters number_of_clusters annealing runs discovery
    species topics confusion reliability explanation report"""
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": ExplicitOrder([f"plot_{name}.py" for name in ORDER.split()]),
    "abort_on_example_error": True,
    "backreferences_dir": "api/generated",
    "doc_module": ("bursty",),
    "remove_config_comments": True,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "capture_repr": ("_repr_html_",),
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "matplotlib_animations": False,
    "default_thumb_file": str(HERE / "_static" / "report.png"),
}
# An example that warns is an example to mend.
warnings.filterwarnings("error", module="__main__")
# Figures of the gallery are drawn without a screen.
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

linkcheck_timeout = 20
linkcheck_anchors = False


def skip_routing(app, what, name, obj, skip, options):
    """Leave out the methods that scikit-learn adds to every estimator for metadata routing."""
    return skip or name == "get_metadata_routing" or (name.startswith("set_") and name.endswith("_request"))


def describe_families(app, what, name, obj, options, lines):
    """A dictionary has the docstring of all dictionaries."""
    if name == "bursty.families.FAMILIES":
        lines[:] = [
            "The class of each family, by its name; defining a family adds it.",
            "",
            ".. seealso:: :obj:`get_family`, :obj:`family_of`, :obj:`FamilyEstimator`",
            "",
            ".. rubric:: Examples",
            "",
            ">>> from bursty.families import FAMILIES",
            '>>> FAMILIES["dcm"].__name__',
            "'DCM'",
        ]


def publish_report(app):
    """Put the report that the gallery has written where its page shows it."""
    made = HERE.parent / "examples" / "report.html"
    if made.exists():
        target = HERE / "_static" / "examples" / "report.html"
        target.parent.mkdir(exist_ok=True)
        shutil.move(made, target)


def compile_kernels(app):
    """The message that kernels are compiled comes once per process, and here it is not on a page of the gallery."""
    bursty.families.DCM().fit([[1, 2], [3, 4]])


def setup(app):
    """Sphinx calls this."""
    app.connect("builder-inited", compile_kernels, priority=50)
    app.connect("autodoc-skip-member", skip_routing)
    app.connect("autodoc-process-docstring", describe_families)
    app.connect("builder-inited", lambda app: urns.draw_all(HERE / "_static" / "urns"), priority=100)
    app.connect("builder-inited", lambda app: benchmark_pages.write_all(HERE), priority=100)
    app.connect("builder-inited", lambda app: scaling_page.write(HERE), priority=100)
    app.connect("builder-inited", publish_report, priority=900)  # after the gallery has run
