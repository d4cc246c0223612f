"""Settings of the pages that `make docs` builds; what is not Sphinx's own is in `docs/site`."""

from __future__ import annotations

import shutil
import sys
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from docs.site.reference import documented, title  # noqa: E402

project = "limbsweep"
author = "limbsweep developers"
copyright = author
release = metadata.version("limbsweep")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "docs.site.mathml",
    "docs.site.mermaid",
    "docs.site.parts",
    "docs.site.links",
    "docs.site.docstrings",
]
exclude_patterns = ["_build"]
nitpicky = False  # single backticks in docstrings are names where there is such a name, and code where there is not
default_role = "py:obj"

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_fence_as_directive = ["mermaid"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

templates_path = ["site/templates"]
autosummary_generate = True  # a page for each name of the reference, in docs/reference/generated
autosummary_context = {"documented": documented, "title": title}
suppress_warnings = ["config.cache"]  # functions are no values that Sphinx could compare with those of the last build
shutil.rmtree(HERE / "reference" / "generated", ignore_errors=True)  # names that are gone have no page

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {name: name for name in ("Acting", "ArrayLike", "Form", "Friction", "Load", "LoadAxes")}
autodoc_preserve_defaults = True
add_module_names = False

# Notebooks are stored without outputs, and run when the pages are built: docs/decisions/notebooks-with-myst-nb.md.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120
nb_merge_streams = True

html_theme = "furo"
html_title = f"limbsweep {release}"
html_math_renderer = "mathml"
html_static_path = ["site/static"]
html_css_files = ["limbsweep.css"]
html_copy_source = False
html_show_copyright = False
