# SPDX-License-Identifier: MIT
"""Moves, and sequences to start from."""

from importlib.metadata import EntryPoint
from pathlib import Path

import gymnasium
import pytest

from compiler_gym.errors import InvalidActionError
from compiler_gym.search import moves as module
from compiler_gym.search.moves import (
    Moves,
    default_starts,
    find_known_sequences,
    level_sequences,
    starting_sequences,
)
from compiler_gym.search.strategy import CONTINUE
from compiler_gym.spaces import NamedDiscrete
from compiler_gym.tools.tune import recipe_named, tuner_named
from tests.stand_ins import always


def test_a_space_of_names_is_taken_whole() -> None:
    moves = Moves(NamedDiscrete(["sroa", "gvn"], name="passes"), seed=0)
    assert len(moves) == 2
    assert moves.actions([1, 0]) == [1, 0]
    assert moves.name(1) == "gvn"


def test_a_space_that_starts_elsewhere_keeps_its_own_numbers() -> None:
    moves = Moves(gymnasium.spaces.Discrete(3, start=5), seed=0)
    assert [moves.action(move) for move in range(len(moves))] == [5, 6, 7]
    assert moves.name(0) == "5"


def test_of_any_other_space_members_are_drawn_once_from_the_seed() -> None:
    space = gymnasium.spaces.MultiDiscrete([7, 9])
    one, same, other = (Moves(space, seed=seed) for seed in (1, 1, 2))
    assert len(one) == 256
    assert all(space.contains(one.action(move)) for move in range(256))
    drawn, again, another = ([m.action(i).tolist() for i in range(256)] for m in (one, same, other))
    assert drawn == again != another


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["-O3", "sroa", "Oz", "O"], [[0], [2]]),
        (["-Ofast", "-O2x", "-Og2"], [[0], [1], [2]]),
        (["-fO2", "O-2", ""], []),
    ],
)
def test_levels_are_recognised_by_their_whole_name(
    names: list[str], found: list[list[int]]
) -> None:
    assert level_sequences(names) == found


def test_every_registered_sequence_is_of_names_and_means_nothing_elsewhere() -> None:
    lines = list(module._lines_of_sequences())  # pyright: ignore[reportPrivateUsage]  # tested on its own
    names = sorted({name for line in lines for name in line.split()} - {"..."})
    continuations = sum(line.startswith("... ") for line in lines)
    assert len(lines) - continuations == len(find_known_sequences(names)) > 3
    assert find_known_sequences(["made-up"]) == []
    assert find_known_sequences([]) == []


def test_a_line_counts_where_all_of_its_names_are_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "starting").mkdir()
    (tmp_path / "starting" / "__init__.py").touch()
    (tmp_path / "starting" / "starting_sequences.txt").write_text(
        "# remark\na b a\n\nb c\nc\n... c a\n... b\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its path untyped
    entry = EntryPoint("one", "starting", "compiler_gym.starting_sequences")
    monkeypatch.setattr(module, "parts", always({"one": entry}))
    assert find_known_sequences(["b", "a"]) == [[1, 0, 1]]
    space = NamedDiscrete(["c", "b", "-O2", "-O3", "-Oz"], name="mine")
    assert default_starts(space) == [[1, 0], [4], [0], [CONTINUE, 1], [3], [2]]


def test_a_recipe_is_a_start_where_the_space_has_its_actions() -> None:
    plan = recipe_named("small").plan
    words = tuner_named("llvm").actions(plan)
    assert words[0] == "-Oz"
    assert set(words[1:]) < {f"{name}={value}" for name, value in plan.options.items()}
    space = NamedDiscrete(["sroa", *words], name="mine")
    every = list(range(1, len(words) + 1))
    assert starting_sequences(["recipe small"], space) == [every, [1]]
    assert starting_sequences(["recipe", "sroa"], space) == [every, [0], [1]]
    lacking = NamedDiscrete(["sroa", "-Oz"], name="mine")
    with pytest.raises(InvalidActionError, match="lacks some actions of the recipe small"):
        starting_sequences(["recipe small"], lacking)
