# SPDX-License-Identifier: MIT
"""What a request asks for, and what is made of the answers."""

from collections.abc import Callable

from compiler_gym.testing import FakeEnv

MakeEnv = Callable[..., FakeEnv]


def test_a_list_of_spaces_gives_a_dictionary(make_env: MakeEnv) -> None:
    env = make_env(observation_space=["digits", "half"])
    assert env.reset()[0] == {"digits": "7", "half": 3}
    assert env.step(0)[0] == {"digits": "8", "half": 4}


def test_a_step_may_ask_for_other_spaces(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", reward_space="number")
    env.reset()
    observations, rewards, *_ = env.step(
        0, observation_spaces=["half", "digits"], reward_spaces=["number"]
    )
    assert observations == [4, "8"]
    assert rewards == [-1.0]
    assert env.step(0, observation_spaces="digits")[0] == "9"
    assert env.step(0)[0] == 10
