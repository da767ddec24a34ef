# SPDX-License-Identifier: MIT
"""Print the test files that a change affects, by the import graph.

    python -m scripts.affected src/compiler_gym/core/plan.py

A test file counts if it imports a module that is changed, or one that imports such a module. A
folder stands for its files. `make test FILE=...` and `make test TOOL=tune` run what is printed.
"""

import ast
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"


def affected_tests(changed: Iterable[Path]) -> list[Path]:
    """Return the test files that depend on `changed`, and those that are changed themselves."""
    files = [file for path in changed for file in _files(path.absolute())]
    graph = grimp.build_graph("compiler_gym")
    modules = {_module(file) for file in files if file.is_relative_to(SOURCE)} & graph.modules
    reached = modules.union(*(graph.find_downstream_modules(module) for module in modules))
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    return [test for test in tests if test in files or reached & set(_imports(test))]


def _files(path: Path) -> Iterator[Path]:
    if not path.exists():
        raise SystemExit(f"expected a file or a folder, found {path}")
    yield from path.rglob("*.py") if path.is_dir() else [path]


def _module(file: Path) -> str:
    parts = file.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(test: Path) -> Iterator[str]:
    """Yield the modules that a test file imports, and those that its texts name."""
    for node in ast.walk(ast.parse(test.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.Constant) and str(node.value).startswith("compiler_gym."):
            yield str(node.value).partition(":")[0]


def main() -> None:
    """Print the test files, relative to the root."""
    if not sys.argv[1:]:
        raise SystemExit("expected files or folders that are changed")
    tests = affected_tests(map(Path, sys.argv[1:]))
    if not tests:
        raise SystemExit(f"no test imports what {' '.join(sys.argv[1:])} changes")
    for test in tests:
        print(test.relative_to(ROOT))


if __name__ == "__main__":
    main()
