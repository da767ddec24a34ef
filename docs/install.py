# SPDX-License-Identifier: MIT
"""Write the commands that install the library, its extras and the real programs into pages.

``make docs`` writes them between ``<!-- install -->`` and ``<!-- end install -->``, and the same
for ``extras`` and ``projects``, so that a page reads the same in a repository browser and on the
site.
Until `pyproject.toml` names the repository nothing is published, and the commands that build
from source come first.
"""

import re
from pathlib import Path
from typing import cast

from docs.site import ROOT, project
from scripts.projects.ladder import project_table
from scripts.release.package_page import repository

__all__ = ["PAGES", "extras_lines", "install_lines", "with_install"]

PAGES = (
    ROOT / "README.md",
    ROOT / "docs" / "index.md",
    ROOT / "docs" / "start.md",
    ROOT / "docs" / "guide" / "troubleshooting.md",
    ROOT / "docs" / "results" / "tune.md",
)
_EXTRAS = re.compile(r"(?<=<!-- extras -->\n).*?(?=<!-- end extras -->)", re.S)
_NAME = re.compile(r"[\w.-]+")
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


def extras_lines() -> str:
    """Return a list of the extras that install something, with the packages of each."""
    extras = cast("dict[str, list[str]]", project()["optional-dependencies"])
    return "".join(
        f"- `{extra}`: {', '.join(match[0] for match in map(_NAME.match, packages) if match)}\n"
        for extra, packages in extras.items()
        if packages
    )


def with_install(page: Path) -> str:
    """Return the text of a page with the present commands, extras and table in their places."""
    text = _MARKED.sub(lambda _: install_lines(), page.read_text(encoding="utf-8"))
    text = _EXTRAS.sub(lambda _: extras_lines(), text)
    return _TABLE.sub(lambda _: project_table(), text)
