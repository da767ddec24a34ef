# SPDX-License-Identifier: MIT
"""Print the tests that a change affects, by the import graph.

    python -m scripts.affected src/compiler_gym/core/plan.py

A test file counts if it imports a module that is changed, or one that imports such a module; or if
it names a changed file. So does a page whose code imports such a module or runs its command. A
folder stands for its files. `make test FILE=...` and `make test TOOL=tune` run what is printed.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import grimp

from compiler_gym.cli._commands import commands
from docs.shown import EVERY_PAGE
from scripts.sources import ROOT, module_name, sources
from tests.docs.blocks import blocks_of

BLOCKS = "tests/docs/test_pages.py::test_every_block_of_a_page_runs"
"""The test of pages, which has a case for each."""
_LINKS = "tests/docs/test_links.py"
_NAMED = re.compile(r"(?P<module>\bcompiler_gym\w*(?:\.\w+)*)|\bcompiler-gym[ -](?P<command>\w+)")


def affected_tests(changed: Iterable[Path]) -> list[str]:
    """Return the tests that depend on `changed`, and those that are changed themselves.

    They are files and, of the test of pages, single cases, as pytest takes them in `ROOT`.
    """
    files = [file for path in changed for file in _files(path.absolute())]
    graph = _graph()
    modules = {module_name(file) for file in files} & graph.modules
    reached = modules.union(*(graph.find_downstream_modules(module) for module in modules))
    reached |= {_name(file) for file in files if file.is_relative_to(ROOT)}
    folders = [ROOT / "tests", *ROOT.glob("packages/*/tests")]
    tests = sorted(test for folder in folders for test in folder.rglob("test_*.py"))
    return [
        *(_name(test) for test in tests if test in files or reached & _imports(test)),
        *([_LINKS] if any(file.suffix == ".md" for file in files) else []),
        *(
            f"{BLOCKS}[{_name(page)}]"
            for page in EVERY_PAGE
            if page in files or reached & list_modules(page)
        ),
    ]


@cache
def _graph() -> grimp.ImportGraph:
    return grimp.build_graph(*sources())


def _name(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise SystemExit(f"expected a file or a folder, found {path}")
    if path.is_dir():
        yield from (file for file in path.rglob("*") if file.suffix in (".py", ".md"))
    else:
        yield path


@cache
def _imports(test: Path) -> frozenset[str]:
    """Return the modules that a test imports, and the modules and files that its texts name."""
    found = set[str]()
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
        elif isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value.partition(":")[0])
    return frozenset(found)


@cache
def list_modules(page: Path) -> frozenset[str]:
    """Return the modules that the code of a page names, and those of the commands that it runs."""
    blocks = blocks_of(page.read_text(encoding="utf-8"))
    named = [found for block in blocks for found in _NAMED.finditer(block.code)]
    used = {found["command"] for found in named} & commands().keys()
    paths = (commands()[name].path.partition(":")[0] for name in used)
    return frozenset([*paths, *(found["module"] for found in named if found["module"])])


def main() -> None:
    """Print the tests, relative to the root."""
    if not sys.argv[1:]:
        raise SystemExit("expected files or folders that are changed")
    tests = affected_tests(map(Path, sys.argv[1:]))
    if not tests:
        raise SystemExit(f"no test imports what {' '.join(sys.argv[1:])} changes")
    print(*tests, sep="\n")


if __name__ == "__main__":
    main()
