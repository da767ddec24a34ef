# SPDX-License-Identifier: MIT
"""A record of options becomes options of the command line, and comes back as a record."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from compiler_gym.cli.kit.options import LimitOptions, MemoryLimit, Only, make_arguments, spread
from compiler_gym.errors import InvalidParameterError
from compiler_gym.options import ABOVE_0, Limits, Spelling, check, option


@dataclass(frozen=True, slots=True, kw_only=True)
class Oven:
    """A record for these tests."""

    degrees: float = option(180.0, "How hot it is", ABOVE_0)
    wood: Sequence[str] | None = option(
        None, "What burns", spelling=Spelling("log", type=list[str])
    )
    mass: int = option(2000, "Kilograms of stone", spelling=Spelling("kg", 1000))
    brand: str = option("none")

    def __post_init__(self) -> None:
        check(self)


_OVEN = Oven(degrees=200.0)
seen: list[Any] = []


def run(command: Any, *words: str) -> str:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    app.command()(spread(command))
    seen.clear()
    done = CliRunner().invoke(app, words, env={"COLUMNS": "120"})
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output


def bake(bread: str, oven: Oven = _OVEN, quick: bool = False) -> None:
    """Bake."""
    seen.append((bread, oven, quick))


def limited(limits: LimitOptions = None) -> None:
    """Take limits."""
    seen.append(limits)


def remembered(limits: MemoryLimit = None) -> None:
    """Take one limit."""
    seen.append(limits)


def hot(oven: Annotated[Oven, Only(["degrees"])] = _OVEN) -> None:
    """Take one option."""
    seen.append(oven)


def test_given_options_are_set_and_others_keep_their_defaults() -> None:
    run(bake, "rye", "--degrees", "90", "--log", "oak", "--log", "elm", "--kg", "1.5", "--quick")
    assert seen == [("rye", Oven(degrees=90, wood=("oak", "elm"), mass=1500), True)]
    run(bake, "rye")
    assert seen == [("rye", _OVEN, False)]


def test_help_and_defaults_are_those_of_the_record() -> None:
    shown = run(bake, "--help")
    assert "How hot it is [default: 200]." in shown
    assert "Kilograms of stone [default: 2]." in shown
    assert "--brand" not in shown
    assert "--degrees" in run(hot, "--help")
    assert "--kg" not in run(hot, "--help")


class Colour(StrEnum):
    """A type for these tests."""

    RED = "red"
    BLACK = "black"


def weigh(name: str, text: str) -> float:
    if not text.endswith("kg"):
        raise InvalidParameterError(f"{name} must be a weight (got {text})")
    return float(text.removesuffix("kg"))


@dataclass(frozen=True, slots=True)
class Bread:
    """A record for these tests, whose options are all read from text."""

    weight: float = option(1, "Weight", spelling=Spelling("net_weight", type=str, read=weigh))
    crust: Colour = option(Colour.RED, "Colour", spelling=Spelling(type=str))


_BREAD = Bread()


def buy(bread: Bread = _BREAD) -> None:
    """Buy."""
    seen.append(bread)


def test_a_bad_text_is_refused_with_the_options_name() -> None:
    run(buy, "--net-weight", "2kg", "--crust", "black")
    assert seen == [Bread(2, Colour.BLACK)]
    with pytest.raises(InvalidParameterError, match=r"^--net-weight must be a weight \(got much"):
        run(buy, "--net-weight", "much")
    with pytest.raises(InvalidParameterError, match=r"^--crust must be one of red, black \(got x"):
        run(buy, "--crust", "x")


def test_a_record_that_may_be_none_is_none_where_nothing_is_given() -> None:
    run(limited)
    assert seen == [None]
    run(limited, "--step-seconds", "2.5")
    assert seen == [Limits(step_seconds=2.5)]
    run(remembered, "--memory-gib", "0.5")
    assert seen == [Limits(memory_bytes=1 << 29)]
    assert "--step-seconds" not in run(remembered, "--help")


@pytest.mark.parametrize("value", ["0", "-1", "inf", "nan"])
def test_a_bad_limit_is_refused_with_the_options_name(value: str) -> None:
    with pytest.raises(InvalidParameterError, match=r"--step-seconds must be .*above 0"):
        run(limited, "--step-seconds", value)
    with pytest.raises(InvalidParameterError, match=r"--memory-gib must be .*above 0"):
        run(limited, "--memory-gib", value)


def test_omitted_options_are_not_passed_on() -> None:
    assert make_arguments(None, None) == {}
    assert make_arguments("Marks", Limits()) == {"action_space": "Marks", "limits": Limits()}
