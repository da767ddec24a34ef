# SPDX-License-Identifier: MIT
"""Write the commands that install the library, and the table of real programs, into pages.

``make docs`` writes them between ``<!-- install -->`` and ``<!-- end install -->``, and between
``<!-- projects -->`` and ``<!-- end projects -->``, so that a page reads the same in a repository
browser and on the site.
Until `pyproject.toml` names the repository nothing is published, and the commands that build
from source come first.
"""

import re
from pathlib import Path

from docs.site import ROOT, project
from scripts.projects.ladder import project_table
from scripts.release.package_page import repository

__all__ = ["PAGES", "install_lines", "with_install"]

PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    ROOT / "docs" / "start.md",
    ROOT / "docs" / "results" / "tune.md",
)
_TABLE = re.compile(r"(?<=<!-- projects -->\n).*?(?=<!-- end projects -->)", re.S)
TAKEN = "compiler-gym"
"""The name under which a package index has CompilerGym 0.2.5, by Facebook."""
_MARKED = re.compile(r"(?<=<!-- install -->\n).*?(?=<!-- end install -->)", re.S)


def install_lines() -> str:
    """Return a paragraph and a block of code for each way to install."""
    name = str(project()["name"])
    address = repository()
    clone = f"git clone {address} compiler_gym && cd compiler_gym\n" if address else ""
    source = (
        "From source, in a clone of this repository on Debian 12 "
        "(`make wheel` installs LLVM 22 and the build tools with `apt`):\n\n"
        f"```sh\n{clone}make wheel\npython3 -m venv ~/gym && . ~/gym/bin/activate\n"
        "pip install dist/*.whl\n```\n"
    )
    if re.sub(r"[-_.]+", "-", name).lower() == TAKEN:
        return source  # the index would give 0.2.5
    index = f"```sh\npip install {name}\n```\n"
    if address:
        return f"From PyPI:\n\n{index}\n{source}"
    return f"{source}\nFrom PyPI, as soon as the first release is out:\n\n{index}"


def with_install(page: Path) -> str:
    """Return the text of a page with the present commands and the present table in their places."""
    text = _MARKED.sub(lambda _: install_lines(), page.read_text(encoding="utf-8"))
    return _TABLE.sub(lambda _: project_table(), text)
