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

PACKAGE = Path(__file__).parents[2] / "src" / "compiler_gym"
PACKAGES = sorted({path.relative_to(PACKAGE).parts[0] for path in PACKAGE.rglob("*.py")})
"""What stands at the top: packages and single files."""
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
OWN_FOLDERS = {"loop_tool": {"jit", "pictures"}}
"""Folders that one compiler has besides."""


def case_order(name: str) -> tuple[int, str]:
    """Sort constants first, then classes, then the rest, as the linter does."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


def modules(package: str) -> Iterator[ModuleType]:
    """Yield every module of what stands at the top as `package`."""
    place = PACKAGE / package
    for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        name = ".".join(("compiler_gym", *parts)).removesuffix(".__init__")
        with suppress(EnvironmentNotSupported):  # a plug-in of a library is only loaded by it
            yield importlib.import_module(name)


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


@pytest.mark.parametrize("package", PACKAGES)
def test_every_module_says_why_it_exists_and_what_it_offers(package: str) -> None:
    found = [fault for module in modules(package) for fault in faults(module)]
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


@pytest.mark.parametrize(
    "folder", sorted(p.parent.name for p in (PACKAGE / "envs").glob("*/__init__.py"))
)
def test_every_compiler_answers_the_same_questions_in_the_same_files(folder: str) -> None:
    here = PACKAGE / "envs" / folder
    assert {path.name for path in here.glob("*.py")} == COMPILER_FILES
    own = OWN_FOLDERS.get(folder, set[str]())
    assert {path.parent.name for path in here.glob("*/__init__.py")} == COMPILER_FOLDERS | own
