# SPDX-License-Identifier: MIT
"""A folder has one door: its names are sorted, present and documented."""

import importlib
import inspect
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "src" / "compiler_gym"
MODULES = sorted(
    ".".join(("compiler_gym", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
        ".__init__"
    )
    for path in PACKAGE.rglob("*.py")
)
COMPILER_FILES = {
    "__init__.py",
    "datasets.py",
    "environment.py",
    "rewards.py",
    "session.py",
}
COMPILER_FOLDERS = {"actions", "observations", "programs", "state", "toolchain", "validation"}
OFFERED_FOLDERS = {
    *("demonstration", "inlining", "leaderboard", "panes", "pictures", "tuning"),
}
"""What a compiler's registration may name besides."""


def case_order(name: str) -> tuple[int, str]:
    """Sort constants first, then classes, then the rest, as the linter does."""
    return (0 if name.isupper() else 1 if name[:1].isupper() else 2, name)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_why_it_exists(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__, name


@pytest.mark.parametrize("name", MODULES)
def test_public_names_are_sorted_present_and_documented(name: str) -> None:
    module = importlib.import_module(name)
    names = list(getattr(module, "__all__", []))
    assert names == sorted(names, key=case_order)
    for public in names:
        value = getattr(module, public)
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{name}.{public} has no docstring"


@pytest.mark.parametrize(
    "folder", sorted(p.parent.name for p in (PACKAGE / "envs").glob("*/__init__.py"))
)
def test_every_compiler_answers_the_same_questions_in_the_same_files(folder: str) -> None:
    here = PACKAGE / "envs" / folder
    assert {path.name for path in here.glob("*.py")} == COMPILER_FILES
    assert {path.parent.name for path in here.glob("*/__init__.py")} - OFFERED_FOLDERS == (
        COMPILER_FOLDERS
    )
