# SPDX-License-Identifier: MIT
"""The line that installs the library: the one place that knows it.

``make docs`` writes it between ``<!-- install -->`` and ``<!-- end install -->`` of each page
that shows it, so that a page reads the same in a repository browser and on the site.
"""

import re
from pathlib import Path

from docs.site import ROOT, project

__all__ = ["PAGES", "install_lines", "with_install"]

PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md", ROOT / "docs" / "start.md")
TAKEN = "compiler-gym"
"""The name under which a package index has CompilerGym 0.2.5, by Facebook."""
_MARKED = re.compile(r"(?<=<!-- install -->\n).*?(?=<!-- end install -->)", re.S)


def install_lines() -> str:
    """Return the command, as a block of code."""
    name = str(project()["name"])
    built = "make wheel && pip install dist/*.whl"
    if re.sub(r"[-_.]+", "-", name).lower() == TAKEN:
        command = built  # the index would give 0.2.5
    else:
        command = f"pip install {name}  # until its release: {built}"
    return f"```sh\n{command}\n```\n"


def with_install(page: Path) -> str:
    """Return the text of a page with the present command in its place."""
    return _MARKED.sub(lambda _: install_lines(), page.read_text(encoding="utf-8"))
