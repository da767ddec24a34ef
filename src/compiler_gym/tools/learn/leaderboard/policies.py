# SPDX-License-Identifier: MIT
"""Policies by name: levels of the compiler, searches, and those in files.

level:-Oz             one action: the compiler's own pipeline
search:local          a search of `compiler_gym.search` for as long as the limit allows
search:local+levels   the same, with the compiler's own levels (-Oz, ...) tried first
agents/q.py           the function or object ``policy`` of a file
agents/q.py:Greedy    another name in it, called if it is a class
inliner.c             a heuristic in a file that a compiler reads, as a plug-in says
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
"""The share of the time that is kept for what comes before and after the search."""


class LevelPolicy:
    """Take the compiler's own pipeline."""

    def __init__(self, level: str) -> None:
        self.level = level

    def __call__(self, env: CompilerEnv) -> None:
        """Apply the level; `UnknownNameError` where no action space has it."""
        for space in env.action_spaces:
            if self.level in action_names(space):
                env.reset(benchmark=env.benchmark, action_space=space)
                env.step(action_names(space).index(self.level))
                return
        raise UnknownNameError(f"no action {self.level!r} in any action space")


class SearchPolicy:
    """Search on one thread and take the best that was found.

    It begins with nothing, or with the levels of the compiler where it may use those.
    """

    def __init__(self, algorithm: str, *, has_levels: bool = False, seed: int = 0) -> None:
        if algorithm not in ALGORITHMS:
            raise UnknownNameError(f"no search {algorithm!r}; there are {', '.join(ALGORITHMS)}")
        self.algorithm = algorithm
        self.has_levels = has_levels
        self.seed = seed

    def __call__(self, env: CompilerEnv, meter: Meter) -> int:
        """Search, apply the result and return how many actions the search tried."""
        assert env.spec is not None
        assert env.reward_space is not None
        name, reward = env.spec.id, env.reward_space.name
        space: Any = _with_levels(env) if self.has_levels else env.action_space
        env.action_space = space
        # The search confirms its result in the first environment it makes: in this one it is
        # then where it is to be judged, and applying it is not charged to its limit.
        confirming = iter((LeftOpen(env.unwrapped),))  # type: ignore[arg-type]  # ours
        seconds = max(meter.seconds_left * (1 - _RESERVED_SHARE) - 0.05, 0.05)
        budget = Budget(
            seconds=None if seconds == float("inf") else seconds, steps=meter.limit.compilations
        )
        (found,) = run_search(
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
        return found.steps


class LeftOpen(CompilerEnvWrapper):
    """An environment whose `close` does nothing, for a search that closes what it was given."""

    def close(self) -> None:
        """Leave it open."""


def _with_levels(env: CompilerEnv) -> Any:
    """Return the action space that adds least to the first one but has levels.

    Where none holds all of the first one it is the largest that has levels; raises
    `UnknownNameError` if none has.
    """
    named: list[tuple[Any, set[str]]] = [
        (space, set(action_names(space))) for space in env.action_spaces
    ]
    leveled = [one for one in named if level_sequences(tuple(one[1]))]
    if not leveled:
        raise UnknownNameError("a search from the levels needs an action space with levels: none")
    fuller = [one for one in leveled if named[0][1] <= one[1]]
    best = min(fuller, key=_space_size) if fuller else max(leveled, key=_space_size)
    return best[0]


def _space_size(named: tuple[Any, set[str]]) -> int:
    return len(named[1])


def find_policy(name: str) -> Policy:
    """Return the policy `name`; raise `UnknownNameError` if there is none."""
    kind, _, rest = name.partition(":")
    if kind == "level":
        return LevelPolicy(rest)
    if kind == "search":
        algorithm, plus, levels = rest.partition("+")
        if plus and levels != "levels":
            raise UnknownNameError(f"no starts {levels!r} for a search: expected levels or none")
        return SearchPolicy(algorithm, has_levels=bool(plus))
    for entry in parts("heuristics").values():
        if name.endswith((heuristics := entry.load()).SUFFIXES):
            return heuristics.heuristic_policy(Path(name))
    if kind.endswith(".py"):
        return _policy_of_file(Path(kind), rest or "policy")
    raise UnknownNameError(
        f"no policy {name!r}: expected level:-Oz, search:local or a file such as agents/q.py"
    )


def _policy_of_file(path: Path, name: str) -> Policy:
    try:
        found = load_from_file(path, name)
    except FileNotFoundError:
        raise UnknownNameError(f"no file {path}: expected a Python file with a policy") from None
    except AttributeError as error:
        if error.name != name:
            raise
        raise UnknownNameError(f"{path} has no {name}: expected a function or an object") from None
    return found() if isinstance(found, type) else found
