# SPDX-License-Identifier: MIT
"""Both columns of the porting guide: old lines fail as described, new lines work."""

import builtins
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import pytest

import compiler_gym
from compiler_gym import errors

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "porting.md"
RARE = Path(__file__).with_name("rare_porting.md")
CODE = re.compile(r"`([^`]+)`")
OUTCOME = re.compile(r"(works|raises|warns with)\b(?: `(\w+)`)?(?:.*?, which mentions `([^`]+)`)?")


class Row(NamedTuple):
    old: str
    kind: str
    error: str
    said: str
    new: str


def rows(page: Path) -> Iterator[Row]:
    """Yield the rows of the table whose lines are code."""
    section = page.read_text(encoding="utf-8").partition("## Line by line")[2].partition("## ")[0]
    for line in section.splitlines():
        if not line.startswith("| `"):
            continue
        old, outcome, new = line.strip("| ").split(" | ")
        found = OUTCOME.match(outcome)
        assert found, outcome
        kind, error, said = found.groups("")
        yield Row(CODE.findall(old)[0], kind, error, said, CODE.findall(new)[0])


ROWS = [*rows(GUIDE), *rows(RARE)]


def named(name: str) -> Any:
    """Return the class of an error or a warning."""
    homes = (errors, gymnasium.error, builtins)
    return next(getattr(home, name) for home in homes if hasattr(home, name))


@pytest.fixture(scope="module")
def made() -> Iterator[Any]:
    with compiler_gym.make("llvm-v0") as env:
        yield env


@pytest.fixture
def names(made: Any) -> dict[str, Any]:
    made.reset(benchmark="cbench-v1/crc32", action_space="Passes")
    return {"env": made, "compiler_gym": compiler_gym}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.old)
def test_an_old_line_does_what_the_guide_says(row: Row, names: dict[str, Any]) -> None:
    importlib_forgets()
    if row.kind == "works":
        exec(row.old, names)
    elif row.kind == "raises":
        with pytest.raises(named(row.error)) as failure:
            exec(row.old, names)
        assert row.said in str(failure.value)
    else:
        with pytest.warns(named(row.error)) as warned:
            exec(row.old, names)
        assert any(row.said in str(each.message) for each in warned)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.new)
def test_the_line_to_write_instead_works(row: Row, names: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(row.new, names)


def test_the_table_is_read_whole() -> None:
    assert 20 < len([*rows(GUIDE)]) < 35  # a reader looks for one line among them
    assert len(ROWS) >= 40
    assert {row.kind for row in ROWS} == {"works", "raises", "warns with"}
    assert all(row.error for row in ROWS if row.kind != "works")


def importlib_forgets() -> None:
    """Let an old path be imported, and warned of, anew."""
    import sys

    sys.modules.pop("compiler_gym.compiler_env_state", None)
