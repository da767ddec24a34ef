# SPDX-License-Identifier: MIT
"""The program of an episode: its settings, and where it is built."""

import pytest

from compiler_gym.errors import InvalidParameterError
from tests.envs.llvm.running_programs import HELLO, MakeEnv, program, started


def test_times_are_as_many_as_asked_for_and_the_setting_lasts(make_env: MakeEnv) -> None:
    env = make_env()
    env.runtime_observation_count = 3
    env.runtime_warmup_runs_count = 1
    env.reset(benchmark=program(HELLO))
    assert len(env.observation["Runtime"]) == 3
    env.runtime_observation_count = 2
    assert len(env.observation["Runtime"]) == 2
    env.reset()
    assert len(env.observation["Runtime"]) == 2
    fork = env.fork()
    assert (fork.runtime_observation_count, fork.runtime_warmup_runs_count) == (2, 1)
    assert len(fork.observation["Runtime"]) == 2
    fork.close()
    assert all(seconds > 0 for seconds in env.observation["Runtime"])


@pytest.mark.parametrize("value", [0, -1, 1.5, "many", None])
def test_a_wrong_number_of_runs_is_refused(make_env: MakeEnv, value) -> None:
    env = make_env()
    with pytest.raises(InvalidParameterError, match="expected a whole number of at least 1"):
        env.runtime_observation_count = value


def test_the_parameters_of_compiler_gym_0_2_5_work(make_env: MakeEnv) -> None:
    env = started(make_env, program(HELLO))
    env.send_param("llvm.set_runtimes_per_observation_count", "4")
    env.send_param("llvm.set_warmup_runs_count_per_runtime_observation", "0")
    assert len(env.observation["Runtime"]) == 4
    with pytest.raises(InvalidParameterError, match="runtime_observation_count is 'x'"):
        env.send_param("llvm.set_runtimes_per_observation_count", "x")


def test_a_fork_builds_in_a_directory_of_its_own(make_env: MakeEnv) -> None:
    env = started(make_env, program(HELLO))
    size = env.observation["TextSizeBytes"]
    fork = env.fork()
    env.close()
    assert fork.observation["TextSizeBytes"] == size
    assert len(fork.observation["Runtime"]) == 1
    fork.close()
