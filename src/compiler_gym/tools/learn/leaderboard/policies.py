# SPDX-License-Identifier: MIT
"""Policies by name: levels of the compiler, searches, and policies in files.

level:-Oz             one action: the compiler's own pipeline
search:local          a search of `compiler_gym.search` until the limit is reached
search:local+levels   the same, with the compiler's own levels (-Oz, ...) tried first
agents/q.py           the function or object ``policy`` of a file
agents/q.py:Greedy    another object in the file, instantiated if it is a class
inliner.c             a heuristic in a file, read by a compiler's plug-in
"""

from pathlib import Path
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import UnknownNameError
from compiler_gym.lazy import load_from_file, parts
from compiler_gym.registration import make
from compiler_gym.search import ALGORITHMS, Budget, level_sequences, run_search
from compiler_gym.spaces import action_names, space_name
from compiler_gym.tools.learn.leaderboard.evaluation import Policy
from compiler_gym.tools.learn.leaderboard.metered import Meter
from compiler_gym.wrappers import CompilerEnvWrapper

__all__ = ["LeftOpen", "LevelPolicy", "SearchPolicy", "find_policy"]

_RESERVED_SHARE = 0.1
"""The fraction of the time reserved for the work before and after the search."""


class LevelPolicy:
    """A policy that applies one of the compiler's own levels."""

    def __init__(self, level: str) -> None:
        self.level = level

    def __call__(self, env: CompilerEnv) -> None:
        """Apply the level; raise `UnknownNameError` if no action space offers it."""
        for space in env.action_spaces:
            if self.level in action_names(space):
                env.reset(benchmark=env.benchmark, action_space=space)
                env.step(action_names(space).index(self.level))
                return
        raise UnknownNameError(f"no action {self.level!r} in any action space")


class SearchPolicy:
    """A policy that searches on one thread and applies the best sequence.

    The search starts from the empty sequence, or from the compiler's levels if `has_levels`.
    """

    def __init__(self, algorithm: str, *, has_levels: bool = False, seed: int = 0) -> None:
        if algorithm not in ALGORITHMS:
            raise UnknownNameError(f"no search {algorithm!r}; choose from {', '.join(ALGORITHMS)}")
        self.algorithm = algorithm
        self.has_levels = has_levels
        self.seed = seed

    def __call__(self, env: CompilerEnv, meter: Meter) -> int:
        """Search, apply the result and return the number of actions tried."""
        assert env.spec is not None
        assert env.reward_space is not None
        name, reward = env.spec.id, env.reward_space.name
        space: Any = _with_levels(env) if self.has_levels else env.action_space
        env.action_space = space
        # The search confirms its result in the first environment it makes. Making that this one
        # brings it to the state to be judged, without charging the limit.
        confirming = iter((LeftOpen(env.unwrapped),))  # type: ignore[arg-type]  # ours
        seconds = max(meter.seconds_left * (1 - _RESERVED_SHARE) - 0.05, 0.05)
        budget = Budget(
            seconds=None if seconds == float("inf") else seconds, steps=meter.limit.compilations
        )
        (result,) = run_search(
            lambda: (
                next(confirming, None)
                or make(name, reward_space=reward, action_space=space_name(space))
            ),
            [env.benchmark],
            algorithm=self.algorithm,
            budget=budget,
            jobs=1,
            seed=self.seed,
            starts=level_sequences(space.names) if self.has_levels else (),
        )
        return result.steps


class LeftOpen(CompilerEnvWrapper):
    """An environment whose `close` does nothing, for a search that closes its environments."""

    def close(self) -> None:
        """Do nothing."""


def _with_levels(env: CompilerEnv) -> Any:
    """Return the smallest action space with levels that contains the first one.

    If there is none, return the largest with levels; raise `UnknownNameError` if no space has
    levels.
    """
    spaces: list[tuple[Any, set[str]]] = [
        (space, set(action_names(space))) for space in env.action_spaces
    ]
    leveled = [space for space in spaces if level_sequences(tuple(space[1]))]
    if not leveled:
        raise UnknownNameError("no action space has levels to start from; search without +levels")
    fuller = [space for space in leveled if spaces[0][1] <= space[1]]
    best = min(fuller, key=_space_size) if fuller else max(leveled, key=_space_size)
    return best[0]


def _space_size(space: tuple[Any, set[str]]) -> int:
    return len(space[1])


def find_policy(name: str) -> Policy:
    """Return the policy `name`; raise `UnknownNameError` if there is none."""
    kind, _, argument = name.partition(":")
    if kind == "level":
        return LevelPolicy(argument)
    if kind == "search":
        algorithm, plus, levels = argument.partition("+")
        if plus and levels != "levels":
            raise UnknownNameError(f"no starts {levels!r} for a search; write search:NAME+levels")
        return SearchPolicy(algorithm, has_levels=bool(plus))
    for entry in parts("heuristics").values():
        if name.endswith((heuristics := entry.load()).SUFFIXES):
            return heuristics.heuristic_policy(Path(name))
    if kind.endswith(".py"):
        return _load_policy(Path(kind), argument or "policy")
    raise UnknownNameError(
        f"no policy {name!r}; choose level:-Oz, search:local or a file such as agents/q.py"
    )


def _load_policy(path: Path, name: str) -> Policy:
    try:
        policy = load_from_file(path, name)
    except FileNotFoundError:
        raise UnknownNameError(f"no file {path}; name a Python file with a policy") from None
    except AttributeError as error:
        if error.name != name:
            raise
        raise UnknownNameError(f"{path} does not define {name}; define a policy") from None
    return policy() if isinstance(policy, type) else policy
