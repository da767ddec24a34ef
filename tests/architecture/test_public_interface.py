# SPDX-License-Identifier: MIT
"""Tools import only what the kernel's packages list in ``__all__``; packages next door import only
what those of the kernel and of tools list.
"""

import ast
from collections.abc import Callable

import pytest

from scripts.sources import CORE, PACKAGES, ROOT

TOOLS = CORE / "tools"
KIT = CORE / "cli" / "kit"
"""A folder whose files are doors: importing all that commands share would slow every command."""
ENGINES = {"compiler_gym._elf", "compiler_gym._jit", "compiler_gym._llvm"}
"""The native modules, which a compiler's session or a tool's part calls in its own process."""


def exports(module: str) -> set[str]:
    """Return the names that a package lists, or a file beside the tools or of the kit."""
    path = ROOT.joinpath("src", *module.split("."))
    if path.is_dir():
        path /= "__init__.py"
    elif path.parent in (KIT, TOOLS.parent):
        path = path.with_suffix(".py")
    if not path.is_file():
        return set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return set()


def is_open(module: str) -> bool:
    """Return whether tools may import a module as a whole."""
    return module in ENGINES or exports(module) != set()


def _is_kernel(module: str) -> bool:
    return _is_core(module) and not f"{module}.".startswith("compiler_gym.tools.")


def _is_core(module: str) -> bool:
    return f"{module}.".startswith("compiler_gym.")


def bypasses(source: str, has_doors: Callable[[str], bool] = _is_kernel) -> set[str]:
    """Return what a source imports past the door of a package, as ``module name``.

    `has_doors` selects the modules that it may enter by doors only.
    """
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = {name.name for name in node.names if has_doors(name.name)}
            found |= {f"{name} *" for name in names if not is_open(name)}
        elif isinstance(node, ast.ImportFrom) and has_doors(module := node.module or ""):
            if module in ENGINES:
                continue
            names = {name.name for name in node.names} - exports(module)
            found |= {f"{module} {name}" for name in names if not is_open(f"{module}.{name}")}
    return found


@pytest.mark.parametrize("tool", sorted(path.name for path in TOOLS.iterdir() if path.is_dir()))
def test_tools_import_only_what_packages_export(tool: str) -> None:
    paths = (TOOLS / tool).rglob("*.py")
    found = {path: bypasses(path.read_text(encoding="utf-8")) for path in paths}
    assert {path: names for path, names in found.items() if names} == {}, (
        "export it from its package, or use what the package exports"
    )


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_import_only_what_doors_export(package: str) -> None:
    paths = PACKAGES[package].rglob("*.py")
    found = {path: bypasses(path.read_text(encoding="utf-8"), _is_core) for path in paths}
    assert {path: names for path, names in found.items() if names} == {}, (
        "export it from its package, or use what the package exports"
    )


def test_no_tool_imports_relatively() -> None:
    """A relative import would not be read by the tests above, nor by a reader."""
    paths = [path for folder in (TOOLS, *PACKAGES.values()) for path in folder.rglob("*.py")]
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}
    assert [
        f"{path.relative_to(ROOT)}:{node.lineno}"
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


def test_a_bypass_of_a_package_is_found() -> None:
    source = (
        "from compiler_gym.core.env import CompilerEnv\nfrom compiler_gym.core import CompilerEnv\n"
        "from compiler_gym.core import _nothing\nimport compiler_gym._service\n"
        "from compiler_gym.tools.tune.builds.tree import x\n"
    )
    assert bypasses(source, _is_core) == {
        "compiler_gym.core.env CompilerEnv",
        "compiler_gym.core _nothing",
        "compiler_gym._service *",
        "compiler_gym.tools.tune.builds.tree x",
    }
