# SPDX-License-Identifier: MIT
"""A folder has one door: its names are sorted, present and documented."""

import importlib
import inspect
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import pytest

from compiler_gym.errors import EnvironmentNotSupported
from scripts.sources import CORE, PACKAGES, module_name

ROOMS = sorted(
    {*(CORE / path.relative_to(CORE).parts[0] for path in CORE.rglob("*.py")), *PACKAGES.values()}
)
"""What stands at the top: folders and single files of the core, and packages."""
COMPILER_FILES = {
    "__init__.py",
    "datasets.py",
    "environment.py",
    "rewards.py",
    "session.py",
}
COMPILER_FOLDERS = {
    *("actions", "observations", "panes", "programs"),
    *("state", "toolchain", "validation"),
}
COMPILERS = [
    CORE / "envs" / "llvm",
    *(PACKAGES[f"compiler_gym_{name}"] for name in ("gcc", "loop_tool", "mlir")),
]
"""The folders of compilers; other packages add an environment of LLVM."""
OWN_FOLDERS = {"compiler_gym_loop_tool": {"jit", "pictures"}, "llvm": {"tails"}}
"""Folders that one compiler has besides."""


def case_order(name: str) -> tuple[int, str]:
    """Sort constants first, then classes, then the rest, as the linter does."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


def modules(place: Path) -> Iterator[ModuleType]:
    """Yield every module of a folder or file that stands at the top."""
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        with suppress(EnvironmentNotSupported):  # a plug-in of a library is only loaded by it
            yield importlib.import_module(module_name(path))


def faults(module: ModuleType) -> Iterator[str]:
    """Yield what is wrong with the door of `module`."""
    if not module.__doc__:
        yield f"{module.__name__} does not say why it exists"
    names = list(getattr(module, "__all__", []))
    if names != sorted(names, key=case_order):
        yield f"{module.__name__}.__all__ is not sorted: {names}"
    for name in names:
        places = [Path(folder) / name for folder in vars(module).get("__path__", ())]
        if name not in vars(module) and any(p.with_suffix(".py").is_file() for p in places):
            yield f"{module.__name__}.{name} is also a module, which would hide it"
        if not hasattr(module, name):
            yield f"{module.__name__} has no {name}"
            continue
        value = getattr(module, name)
        if (inspect.isclass(value) or inspect.isfunction(value)) and not inspect.getdoc(value):
            yield f"{module.__name__}.{name} has no docstring"


@pytest.mark.parametrize("place", ROOMS, ids=lambda place: place.name)
def test_every_module_states_its_purpose_and_contents(place: Path) -> None:
    found = [fault for module in modules(place) for fault in faults(module)]
    assert found == [], "\n".join(found)


def test_every_fault_is_found() -> None:
    module = ModuleType("shop")
    exec("def sell(): ...\nclass Till:\n    'Money.'\n", vars(module))
    vars(module)["__all__"] = ["sell", "Till", "price"]
    assert list(faults(module)) == [
        "shop does not say why it exists",
        "shop.__all__ is not sorted: ['sell', 'Till', 'price']",
        "shop.sell has no docstring",
        "shop has no price",
    ]


@pytest.mark.parametrize("here", COMPILERS, ids=lambda here: here.name)
def test_every_compiler_answers_the_same_questions_in_the_same_files(here: Path) -> None:
    assert {path.name for path in here.glob("*.py")} == COMPILER_FILES
    own = OWN_FOLDERS.get(here.name, set[str]())
    assert {path.parent.name for path in here.glob("*/__init__.py")} == COMPILER_FOLDERS | own
