# SPDX-License-Identifier: MIT
"""Tools use what the kernel's packages export; the list of exceptions may only shrink."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "src" / "compiler_gym" / "tools"
LIST = Path(__file__).with_name("bypassing.txt")


def is_door(module: str) -> bool:
    """Return whether tools may import from a module: a package, or a file of the kit."""
    parts = module.split(".")[1:]
    if parts[:1] == ["tools"]:
        return True
    most = 3 if parts[:2] == ["cli", "kit"] else 2 if parts[:1] == ["envs"] else 1
    return len(parts) <= most


def bypasses(source: str) -> set[str]:
    """Return what a source imports past a package's door, as ``module name``."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {f"{each.name} *" for each in node.names if _is_behind_door(each.name)}
        elif isinstance(node, ast.ImportFrom) and _is_behind_door(node.module or ""):
            found |= {f"{node.module} {each.name}" for each in node.names}
    return found


def _is_behind_door(module: str) -> bool:
    return module.startswith("compiler_gym.") and not is_door(module)


def test_what_tools_import_past_a_door_only_gets_less() -> None:
    sources = [path.read_text(encoding="utf-8") for path in TOOLS.rglob("*.py")]
    found = set[str]().union(*map(bypasses, sources))
    lines = LIST.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))
    new, gone = sorted(found - set(lines)), sorted(set(lines) - found)
    assert new == [], "export it from its package, or use what the package exports"
    assert gone == [], f"remove these lines from {LIST.name}"


def test_no_tool_imports_relatively() -> None:
    """A relative import would not be read by the test above, nor by a reader."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in TOOLS.rglob("*.py")}
    assert [
        f"{path.relative_to(TOOLS)}:{node.lineno}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
    ] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (
            "from compiler_gym.core.env import CompilerEnv, x",
            {"compiler_gym.core.env CompilerEnv", "compiler_gym.core.env x"},
        ),
        ("def f():\n    import compiler_gym.builds.elf as elf", {"compiler_gym.builds.elf *"}),
        ("from compiler_gym.envs.llvm.session import x", {"compiler_gym.envs.llvm.session x"}),
        (
            "from compiler_gym.cli.kit.serving.pages import x",
            {"compiler_gym.cli.kit.serving.pages x"},
        ),
        ("from compiler_gym.core import CompilerEnv", set[str]()),
        ("import compiler_gym.core", set[str]()),
        ("from compiler_gym.envs.llvm import LlvmEnv", set[str]()),
        ("from compiler_gym.cli.kit.output import Json", set[str]()),
        ("from compiler_gym.tools.tune.builds.tree import x", set[str]()),
    ],
)
def test_a_bypass_is_found(source: str, found: set[str]) -> None:
    assert bypasses(source) == found
