# SPDX-License-Identifier: MIT
"""What is known of each project: the rows of ``projects.toml``."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["HERE", "Project", "chosen", "projects"]

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """One project; its commands are shell lines, described in ``projects.toml``."""

    name: str
    about: str
    archive: str
    """The file with the sources, as the registry calls it."""
    sha256: str
    """What the file must be."""
    build: str
    binary: str
    """The judged binary, relative to the sources."""
    test: str
    bench: str
    debian: str = ""
    """The source package of Debian that has the file."""
    pypi: str = ""
    """Or the requirement of PyPI's source distribution."""
    inner: str = ""
    """The archive inside the archive that is meant, if it is not the whole."""
    prepare: str = ""


@cache
def projects() -> tuple[Project, ...]:
    """Return every project, in the order of the table."""
    rows = tomllib.loads((HERE / "projects.toml").read_text())
    return tuple(Project(name=name, **row) for name, row in rows.items())


def chosen(names: Sequence[str]) -> tuple[Project, ...]:
    """Return the projects called `names`, or all where none is named.

    Raises:
        SystemExit: for a name that is none of them.
    """
    known = {project.name: project for project in projects()}
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(f"No project is called {', '.join(unknown)}; there are {', '.join(known)}")
    return tuple(known[name] for name in names) if names else projects()
