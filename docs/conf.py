# SPDX-License-Identifier: MIT
"""How Sphinx makes the site of docs/: `make site` calls it, and warnings are errors.

Pages are Markdown that also reads well in a repository browser; what only a site has (the
reference of the Python names, copies in Markdown, the switch of versions) is made in docs/site/.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from docs.site import release  # noqa: E402

project = "compiler_gym"
author = "The compiler_gym authors"
copyright = author
version = release = release()

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "docs.site.api_pages",
    "docs.site.tutorial_pages",
    "docs.site.repository_links",
    "docs.site.markdown_copies",
    "docs.site.navigation",
    "docs.site.search",
]
exclude_patterns = ["reference/datasets/*.tsv"]
suppress_warnings = ["ref.python"]  # a class is shown at its home and at the door that gives it on
nitpicky = False
toc_object_entries = False  # or the navigation of each page takes a second

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

default_role = "py:obj"
napoleon_numpy_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "show-inheritance": True}
autodoc_mock_imports = [
    "inspect_ai", "mcp", "minari", "mlflow", "pytest", "ray", "sb3_contrib", "stable_baselines3",
    "starlette", "torch", "uvicorn", "verifiers", "wandb",
]  # fmt: skip
python_display_short_literal_types = True
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = "compiler_gym"
html_favicon = "_site/favicon.svg"
html_static_path = ["_site"]
html_css_files = ["site.css"]
html_js_files = ["versions.js", "tables.js"]
templates_path = ["_templates"]
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
html_sidebars = {
    "**": [
        "sidebar/brand.html",
        "versions.html",
        "sidebar/search.html",
        "sidebar/scroll-start.html",
        "sidebar/navigation.html",
        "sidebar/scroll-end.html",
    ]
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
