# SPDX-License-Identifier: MIT
"""Actions choose settings, and where they lead is known without a compiler."""

import random

import pytest

from compiler_gym.errors import InvalidActionError
from compiler_gym.session import CommandlineSpec, DiscreteSpec, MultiDiscreteSpec
from compiler_gym_gcc import (
    GccFlagEnumOption,
    GccFlagOption,
    GccOOption,
    GccParamIntOption,
    Option,
)
from compiler_gym_gcc.actions import (
    CATEGORICAL,
    CHOICES,
    OPTION_THEN_VALUE,
    Bump,
    OutOfReachError,
    Replay,
    Set,
    action_spaces,
    apply_move,
    list_values,
    moves,
)
from compiler_gym_gcc.actions.options import ABSENT
from compiler_gym_gcc.state.settings import CommandReader, command_line, make_words

OPTIONS: list[Option] = [
    GccOOption(("0", "1", "2", "s")),
    GccFlagOption("-fgcse"),
    GccFlagOption("-fno-threadsafe-statics"),
    GccFlagEnumOption("-fira-region=", ("all", "one", "mixed")),
    GccParamIntOption("--param=small=", 0, 3, 1),
    GccParamIntOption("--param=large=", 0, 2**31 - 1, 450),
    GccParamIntOption("--param=outside=", 5, 2000, -1),
]


def test_small_options_are_set_and_large_ones_are_bumped() -> None:
    flag, *_ = (spec.space for spec in action_spaces(OPTIONS))
    assert isinstance(flag, CommandlineSpec)
    names = [item.name for item in flag.items]
    assert len(names) == len(set(names)) == len(moves(OPTIONS))
    assert names[:5] == ["-O0", "-O1", "-O2", "-Os", "unset:-O"]
    assert "--param=small=3" in names
    assert {"--param=large=+1", "--param=large=-1000", "--param=outside=+100"} <= set(names)
    assert not any(name.startswith("--param=large=4") for name in names)


def test_the_other_spaces_hold_every_setting() -> None:
    _, whole, stepwise = (spec.space for spec in action_spaces(OPTIONS))
    assert isinstance(whole, MultiDiscreteSpec)
    assert whole.nvec == tuple(len(option) + 1 for option in OPTIONS)
    assert [part.name for part in whole.parts] == [option.name for option in OPTIONS]
    assert whole.parts[0].values == "-O0, -O1, -O2, -Os"
    assert all(part.values.count(",") < 60 for part in whole.parts)
    assert isinstance(stepwise, DiscreteSpec)
    assert stepwise.n >= max(len(OPTIONS), *(len(list_values(option)) for option in OPTIONS))


@pytest.mark.parametrize(
    ("steps", "setting"),
    [
        ([1], "--param=large=451"),
        ([-1], "--param=large=449"),
        ([1000, 1000, -10], "--param=large=2440"),
        ([-1000], "--param=large=0"),
        ([-1000, -1], None),
        ([-1000, -1, 1], "--param=large=451"),
    ],
)
def test_bumps_count_from_what_the_compiler_would_do(steps: list[int], setting: str | None) -> None:
    choices = [ABSENT] * len(OPTIONS)
    for step in steps:
        assert apply_move(OPTIONS, choices, Bump(5, step))
    assert make_words(OPTIONS, choices) == ([] if setting is None else [setting])


def test_a_default_outside_of_its_range_is_where_counting_starts_at_the_edge() -> None:
    choices = [ABSENT] * len(OPTIONS)
    apply_move(OPTIONS, choices, Bump(6, 1))
    assert make_words(OPTIONS, choices) == ["--param=outside=6"]


def test_a_bump_ends_at_the_largest_number() -> None:
    options = [GccParamIntOption("--param=x=", 0, 20, 15)]
    choices = [ABSENT]
    assert apply_move(options, choices, Bump(0, 10))
    assert options[0][choices[0]] == "--param=x=20"
    assert not apply_move(options, choices, Bump(0, 10))


def test_a_set_that_is_there_already_changes_nothing() -> None:
    choices = [ABSENT] * len(OPTIONS)
    assert apply_move(OPTIONS, choices, Set(1, 0))
    assert not apply_move(OPTIONS, choices, Set(1, 0))
    assert apply_move(OPTIONS, choices, Set(1, ABSENT))
    assert choices == [ABSENT] * len(OPTIONS)


@pytest.mark.parametrize("space", [CATEGORICAL, CHOICES, OPTION_THEN_VALUE])
def test_choices_become_actions_that_lead_to_them(space: str) -> None:
    generator = random.Random(4)
    replay = Replay(OPTIONS, space)
    for _ in range(100):
        choices = [generator.choice(list_values(option)[:9]) for option in OPTIONS]
        assert replay.choices(replay.actions(choices)) == (choices, None)


def test_an_option_whose_value_is_pending_is_kept() -> None:
    replay = Replay(OPTIONS, OPTION_THEN_VALUE)
    assert replay.choices([1]) == ([ABSENT] * len(OPTIONS), "-fgcse")
    actions = replay.actions([ABSENT] * len(OPTIONS), "-fgcse")
    assert actions == [1]
    text = command_line("gcc", [], pending="-fgcse")
    assert CommandReader(OPTIONS).read(text) == ([ABSENT] * len(OPTIONS), "-fgcse")
    with pytest.raises(InvalidActionError, match="no option "):
        replay.number("-fnone")


def test_numbers_that_are_too_far_away_are_out_of_reach() -> None:
    choices = [ABSENT] * len(OPTIONS)
    choices[5] = 2**31 - 2
    for space in (CATEGORICAL, OPTION_THEN_VALUE):
        with pytest.raises(OutOfReachError, match=r"too many actions|does not offer"):
            Replay(OPTIONS, space).actions(choices)
    assert Replay(OPTIONS, CHOICES).actions(choices) == [[c + 1 for c in choices]]
