# SPDX-License-Identifier: MIT
from collections.abc import Callable
from typing import Any

import gymnasium
import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError
from compiler_gym.errors.nearest import did_you_mean, nearest, unknown_name

NAMES = ("IrInstructionCount", "IrInstructionCountOz", "Autophase", "AutophaseDict", "Ir")


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("Autophas", "Autophase"),
        ("AUTOPHASE", "Autophase"),
        ("autophase", "Autophase"),
        ("IrInstructionCountO3", "IrInstructionCountOz"),
        ("Count", "IrInstructionCount"),
    ],
)
def test_the_nearest_name_comes_first(name: str, first: str) -> None:
    assert nearest(name, NAMES)[0] == first


def test_a_name_of_another_version_is_near() -> None:
    assert nearest("npb-v0", ["cbench-v1", "npb-llvm10-v0"]) == ["npb-llvm10-v0"]
    assert nearest("npb-v7", ["cbench-v1", "npb-llvm10-v0"]) == ["npb-llvm10-v0"]


def test_nothing_is_near_to_something_else() -> None:
    assert nearest("Colour", NAMES) == []
    assert nearest("", NAMES) == []
    assert did_you_mean("Colour", NAMES) == ""


def test_three_letters_inside_a_longer_word_are_not_near() -> None:
    passes = ["mldst-motion<split-footer-bb>", "early-cse", "sroa"]
    assert nearest("foo", passes) == []
    assert nearest("cse", passes) == ["early-cse"]


def test_a_name_without_a_near_one_gets_them_all() -> None:
    assert unknown_name("space", "Colour", NAMES).endswith(f"; there are {', '.join(NAMES)}")
    assert unknown_name("space", None, NAMES).startswith("no space None; there are")


REQUESTS: dict[str, Callable[[CompilerEnv], Any]] = {
    "Autophase": lambda env: env.observation["Autophas"],
    "Programl": lambda env: env.reset(observation_space="programl"),
    "ObjectTextSizeOz": lambda env: env.reward["ObjectTextSizeOs"],
    "IrInstructionCountNorm": lambda env: env.reset(reward_space="IrInstructionCountNrm"),
    "PassesAll": lambda env: env.reset(action_space="passesall"),
    "benchmark://cbench-v1": lambda env: env.reset(benchmark="cbench-v0/qsort"),
    "benchmark://poj104-v1": lambda env: env.datasets.dataset("poj104"),
    "qsort": lambda env: env.reset(benchmark="cbench-v1/qsrt"),
    "cbench-v1/crc32": lambda env: env.reset(benchmark="crc32"),
    "cbench-v1/sha": lambda env: env.datasets.benchmark("shaa"),
    "benchmark": lambda env: env.reset(options={"bench": "cbench-v1/crc32"}),
    "reward_space": lambda _: compiler_gym.make("llvm-v0", reward_spaces="IrInstructionCountOz"),
    "passes": lambda _: gymnasium.make("llvm-v0", pases=[]),
    "observation_space": lambda _: compiler_gym.make_vec("gcc-v0", observation_spce="Obj"),
}


@pytest.fixture(scope="module")
def env():
    with compiler_gym.make("llvm-v0") as made:
        yield made


@pytest.mark.parametrize("expected", REQUESTS)
def test_every_kind_of_unknown_name_gets_the_nearest(env: CompilerEnv, expected: str) -> None:
    with pytest.raises(CompilerGymError, match=rf"did you mean (.*, )?{expected}\b"):
        REQUESTS[expected](env)
