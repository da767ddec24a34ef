# SPDX-License-Identifier: MIT
"""Policies that a collection finds by name, besides those of the leaderboards.

A policy starts afresh for each program and keeps nothing between runs, so that any process may
run it. `random` and `numpy.random` are seeded before each run.
"""

import random
from contextlib import suppress

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError, PolicyLoadError, UnknownNameError, unknown_name
from compiler_gym.search import ALGORITHMS, run_search
from compiler_gym.tools.learn.leaderboard import LimitReached, Meter, Policy, find_policy
from compiler_gym.tools.learn.leaderboard.policies import LeftOpen

__all__ = ["SearchedEpisodes", "policy_named", "random_actions"]

_ALGORITHM = "portfolio"


def random_actions(env: CompilerEnv, generator: random.Random | None = None) -> None:
    """Take random actions until the episode ends, from `generator` or the module `random`."""
    draw = random.randrange if generator is None else generator.randrange
    while env.in_episode:
        count = env.episode.selection.action_count
        env.step(draw(count) if count else env.action_space.sample())


class SearchedEpisodes:
    """A search that records every sequence it tries as an episode.

    It does not repeat sequences. A search that ends early does not use up its steps.
    """

    def __init__(self, algorithm: str) -> None:
        if algorithm not in ALGORITHMS:
            raise UnknownNameError(unknown_name("algorithm", algorithm, ALGORITHMS))
        self.algorithm = algorithm

    def __call__(self, env: CompilerEnv, meter: Meter) -> None:
        """Search from the empty sequence, with a random seed."""
        with suppress(LimitReached):
            run_search(
                lambda: LeftOpen(env),
                [env.benchmark],
                algorithm=self.algorithm,
                steps=meter.limit.compilations,
                jobs=1,
                seed=random.getrandbits(31),
                starts=(),
                kept_processes=0,  # a fork is not recorded
            )


def policy_named(name: str) -> Policy:
    """Return the policy `name`.

    Raises:
        UnknownNameError: There is no such policy.
        PolicyLoadError: Its file raises an error when it is loaded.
    """
    kind, _, algorithm = name.partition(":")
    if name == "random":
        return random_actions
    if kind == "search":
        return SearchedEpisodes(algorithm or _ALGORITHM)
    if kind != "level" and not kind.endswith(".py"):
        raise UnknownNameError(
            f"no policy {name!r}; choose random, search, search:local, level:-Oz or a file "
            "such as agents/q.py"
        )
    try:
        return find_policy(name)
    except CompilerGymError:
        raise
    except Exception as error:
        raise PolicyLoadError(
            f"cannot load the policy {name}: {type(error).__name__}: {error}"
        ) from error
