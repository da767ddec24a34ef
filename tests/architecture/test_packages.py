# SPDX-License-Identifier: MIT
"""A package next door imports only what the core's doors export."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CORE = ROOT / "src"
PACKAGES = ROOT / "packages"
OPEN = "compiler_gym.cli.kit"
"""A folder whose files are doors: importing all that commands share would slow every command."""
ENGINES = {"compiler_gym._jit", "compiler_gym._llvm"}
"""Compiled modules, which sessions import in their worker."""


def doors_public_names(module: str) -> set[str] | None:
    """Return ``__all__`` of a folder's door, or of a single file of the core; None for others."""
    place = CORE.joinpath(*module.split("."))
    path = place / "__init__.py"
    if not path.is_file() and (module.count(".") == 1 or module.startswith(f"{OPEN}.")):
        path = place.with_suffix(".py")
    if not path.is_file() or any(part.startswith("_") for part in module.split(".")):
        return None
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__all__")], value=ast.List(elts=names)):
                return {name.value for name in names if isinstance(name, ast.Constant)}  # type: ignore[misc]
            case _:
                pass
    return set(vars(importlib.import_module(module)))


def faults(path: Path) -> Iterator[str]:
    """Yield the imports of `path` that do not enter the core by a door."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [(name.name, name.name) for name in node.names]
            names = [(module, None) for module, _ in modules if module.startswith("compiler_gym.")]
        elif (
            isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "compiler_gym"
        ):
            names = [(node.module or "", name.name) for name in node.names]
        else:
            continue
        for module, name in names:
            if {module, f"{module}.{name}"} & ENGINES:
                continue
            public = doors_public_names(module)
            is_module = name and doors_public_names(f"{module}.{name}") is not None
            if public is None or not (name is None or is_module or name in public):
                yield f"{path.name}:{node.lineno}: {module} {name or ''}"


def test_packages_enter_the_core_by_its_doors() -> None:
    found = [
        f"{path.relative_to(PACKAGES)}: {fault}"
        for path in sorted(PACKAGES.glob("*/src/**/*.py"))
        for fault in faults(path)
    ]
    assert found == [], "\n".join(found)


def test_an_import_next_to_a_door_is_found(tmp_path: Path) -> None:
    file = tmp_path / "strange.py"
    file.write_text(
        "from compiler_gym.core.env import CompilerEnv\nfrom compiler_gym.core import CompilerEnv\n"
        "from compiler_gym.core import _nothing\nimport compiler_gym._service\n"
    )
    assert [fault.split(": ")[1] for fault in faults(file)] == [
        "compiler_gym.core.env CompilerEnv",
        "compiler_gym.core _nothing",
        "compiler_gym._service ",
    ]
