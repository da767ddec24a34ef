# SPDX-License-Identifier: MIT
"""The page that lists the folders of the source, made from the docstring of each.

``docs.generate`` also writes the rows of the tools to the page on the architecture.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from docs.site import ROOT

__all__ = ["ARCHITECTURE", "layers", "tree_page", "with_tools"]

ARCHITECTURE = ROOT / "docs" / "architecture.md"
SOURCE = ROOT / "src" / "compiler_gym"
PACKAGES = ROOT / "packages"
_TOOLS = re.compile(r"(?<=<!-- tools -->\n).*?(?=<!-- end tools -->)", re.S)
_HEAD = """# The source tree

Each folder of `src/compiler_gym/` and the first line of its docstring.
The [page on the architecture](../architecture.md) says how they work together.

## Layers

A file imports only from layers with a smaller number.
"""


def layers() -> list[list[str]]:
    """Return the names at the top of the package by layer, the top layer first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    layered = next(contract for contract in contracts if contract.get("exhaustive"))
    return [re.findall(r"\w+", layer) for layer in layered["layers"]]


def tree_page() -> str:
    """Return the page as Markdown."""
    return "\n".join(_page()) + "\n"


def with_tools(page: Path = ARCHITECTURE) -> str:
    """Return the text of a page with the present tools in its table."""
    rows = "\n".join([*_table(_folders("tools")), *map(_row, _packages())]) + "\n"
    return _TOOLS.sub(lambda _: rows, page.read_text(encoding="utf-8"))


def _page() -> Iterator[str]:
    yield _HEAD
    yield "| layer | name | holds |"
    yield "| ---: | --- | --- |"
    for number, names in enumerate(reversed(layers()), start=1):
        yield from (f"| {number} {_row(name)}" for name in names)
    yield "\n## Tools\n"
    yield from _table(_folders("tools"))
    yield "\n## Packages\n"
    yield "Each has its source, its tests and its pages in one folder; the core imports none.\n"
    yield from _table(_packages())
    yield "\n## Compilers\n"
    yield "All compilers have the same folders and files. LLVM's are:\n"
    yield from _table([*_folders("envs/llvm"), *_files("envs/llvm")])


def _table(names: Sequence[str]) -> Iterator[str]:
    yield "| folder | holds |"
    yield "| --- | --- |"
    yield from map(_row, names)


def _row(name: str) -> str:
    return f"| `{name}` | {_summary(name)} |"


def _files(place: str) -> list[str]:
    return [f"{place}/{path.name}" for path in sorted((SOURCE / place).glob("[a-z]*.py"))]


def _folders(place: str) -> list[str]:
    found = sorted(path.parent.name for path in (SOURCE / place).glob("*/__init__.py"))
    return [f"{place}/{name}" for name in found]


def _packages() -> list[str]:
    return [f"packages/{path.name}" for path in sorted(PACKAGES.iterdir()) if path.is_dir()]


def _summary(name: str) -> str:
    """Return the first sentence of the docstring of a package or a module."""
    path = SOURCE / name
    if name.startswith("packages/"):
        (path,) = (ROOT / name).glob("src/compiler_gym_*")
    if not name.endswith(".py"):
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")
