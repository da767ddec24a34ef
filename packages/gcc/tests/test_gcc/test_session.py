# SPDX-License-Identifier: MIT
"""What a worker of GCC loads, and what the session tells and takes beside actions."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import compiler_gym
from compiler_gym.errors import InvalidActionError, InvalidParameterError, UnknownNameError
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.session import BenchmarkSpec, CommandlineSpec
from compiler_gym.wrappers import ForkOnStep, TimeLimit
from compiler_gym_gcc import GccEnv
from compiler_gym_gcc.session import GccSession

from .conftest import needed

Make = Callable[..., GccEnv]


def test_a_worker_loads_neither_numpy_nor_datasets_before_a_program_is_run() -> None:
    needed("gcc-12")
    code = (
        "import sys\n"
        "from compiler_gym.service.zygote import prepare_session_class\n"
        "session = 'compiler_gym_gcc.session:GccSession'\n"
        "prepare_session_class(session, {'gcc_bin': 'gcc-12'})\n"
        "print([n for n in ('numpy', 'gymnasium', 'compiler_gym.datasets', 'docker') "
        "if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_environment_loads_no_session_here() -> None:
    needed("gcc-12")
    code = (
        "import sys, compiler_gym\n"
        "env = compiler_gym.make('gcc-v0', gcc_bin='gcc-12', observation_space='choices')\n"
        "env.reset(); env.step(0); env.close()\n"
        "print('compiler_gym_gcc.session' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.fixture
def session(tmp_path: Path) -> GccSession:
    served = GccSession.prepare({"gcc_bin": needed("gcc-12")})
    program = BenchmarkSpec("benchmark://own-v0/1", b"int main(void) { return 0; }\n")
    return served(tmp_path / "work", served.action_spaces[0], program)


def test_preparation_leaves_the_class_unchanged() -> None:
    served = [GccSession.prepare({"gcc_bin": needed(name)}) for name in ("gcc-11", "gcc-12")]
    assert GccSession.action_spaces == ()
    assert [s.compiler_version.partition(" ")[0] for s in served] == ["gcc-11", "gcc-12"]
    assert served[0].action_spaces != served[1].action_spaces


@pytest.mark.parametrize("action", [-1, 10**9, "x", None, [1], [10**9] * 600])
def test_an_action_that_is_none_is_refused_and_changes_nothing(
    session: GccSession, action: object
) -> None:
    before = session.get_observation("choices")
    with pytest.raises((InvalidActionError, TypeError), match=r"\w"):
        session.apply_action(action)
    assert session.get_observation("choices") == before


def test_unknown_names_are_refused(session: GccSession) -> None:
    with pytest.raises(UnknownNameError, match="no observation space"):
        session.get_observation("obj_size_o9")
    assert session.handle_session_parameter("no.such", "1") is None
    assert session.handle_session_parameter("timeout", "5") == "5"
    assert session.handle_session_parameter("timeout", "") == "5"
    with pytest.raises(InvalidParameterError, match="timeout must be above 0 seconds"):
        session.handle_session_parameter("timeout", "-5")


def test_an_action_says_whether_it_changed_anything(session: GccSession) -> None:
    flags = session.action_spaces[0].space
    assert isinstance(flags, CommandlineSpec)
    number = next(i for i, item in enumerate(flags.items) if item.name == "-fgcse")
    assert session.apply_action(number) == (False, None, False)
    assert session.apply_action(number) == (False, None, True)


def test_environments_of_a_vector_compile_at_the_same_time(make_env: Make) -> None:
    single = make_env(observation_space="obj_size")
    single.reset()
    levels = [single.action_space[f"-O{level}"] for level in ("1", "2", "s")]
    wanted = [single.observation[f"obj_size_o{level}"] for level in ("1", "2", "s")]
    vector = compiler_gym.make_vec(
        "gcc-v0",
        3,
        gcc_bin="gcc-12",
        benchmark="cbench-v1/crc32",
        observation_space="obj_size",
        reward_space="obj_size",
    )
    try:
        before, _ = vector.reset()
        observations, rewards, *_ = vector.step(np.array(levels))
        assert observations.tolist() == wanted
        assert rewards.tolist() == (before - observations).tolist()
    finally:
        vector.close()


def test_a_cache_of_actions_gives_the_same(make_env: Make) -> None:
    arguments = {"observation_space": "obj_size", "reward_space": "obj_size_os"}
    plain, cached = make_env(**arguments), make_env(**arguments, cache=TranspositionCache())
    for _ in range(2):
        plain.reset()
        cached.reset()
        for name in ("-O2", "-fno-gcse", "-O2", "unset:-O", "-fgcse"):
            action = plain.action_space[name]
            assert cached.step(action)[:4] == plain.step(action)[:4]
        assert cached.commandline() == plain.commandline() == cached.command_line
    assert cached.cache is not None
    assert cached.cache.statistics.hits > 0


def test_wrappers_know_it(make_env: Make) -> None:
    env = ForkOnStep(TimeLimit(make_env(observation_space="obj_size"), max_episode_steps=3))
    first, _ = env.reset()
    second, *_ = env.step(env.action_space["-O2"])
    assert second < first
    env.undo()
    assert env.observation["obj_size"] == first
