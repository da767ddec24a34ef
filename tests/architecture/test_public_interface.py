# SPDX-License-Identifier: MIT
"""Tools import only what the kernel's packages list in ``__all__``."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "src" / "compiler_gym" / "tools"
KIT = ROOT / "src" / "compiler_gym" / "cli" / "kit"
ENGINES = {"compiler_gym._elf", "compiler_gym._llvm"}
"""The native module, which a tool's part for LLVM calls in its own process."""


def exports(module: str) -> set[str]:
    """Return what tools may import from a module: what a package, or a file beside them
    or of the kit, lists."""
    path = ROOT.joinpath("src", *module.split("."))
    if path.is_dir():
        path /= "__init__.py"
    elif path.parent in (KIT, TOOLS.parent):
        path = path.with_suffix(".py")
    else:
        return set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def is_open(module: str) -> bool:
    """Return whether tools may import a module as a whole."""
    return module in ENGINES or exports(module) != set()


def bypasses(source: str) -> set[str]:
    """Return what a source imports past a package's door, as ``module name``."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = {name.name for name in node.names if _is_kernel(name.name)}
            found |= {f"{name} *" for name in names if not is_open(name)}
        elif isinstance(node, ast.ImportFrom) and _is_kernel(module := node.module or ""):
            names = {name.name for name in node.names} - exports(module)
            found |= {f"{module} {name}" for name in names if not is_open(f"{module}.{name}")}
    return found


def _is_kernel(module: str) -> bool:
    return f"{module}.".startswith("compiler_gym.") and not f"{module}.".startswith(
        "compiler_gym.tools."
    )


@pytest.mark.parametrize("tool", sorted(path.name for path in TOOLS.iterdir() if path.is_dir()))
def test_tools_import_only_what_packages_export(tool: str) -> None:
    paths = (TOOLS / tool).rglob("*.py")
    found = {path: bypasses(path.read_text(encoding="utf-8")) for path in paths}
    assert {path: names for path, names in found.items() if names} == {}, (
        "export it from its package, or use what the package exports"
    )


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
        ("from compiler_gym.errors import nearest", {"compiler_gym.errors nearest"}),
        ("from compiler_gym.core import CompilerEnv", set[str]()),
        ("import compiler_gym.core", set[str]()),
        ("from compiler_gym.envs.llvm import LlvmEnv", set[str]()),
        ("from compiler_gym.cli.kit.output import Json", set[str]()),
        ("from compiler_gym.tools.tune.builds.tree import x", set[str]()),
    ],
)
def test_a_bypass_is_found(source: str, found: set[str]) -> None:
    assert bypasses(source) == found
