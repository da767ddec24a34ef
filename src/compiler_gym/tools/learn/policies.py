# SPDX-License-Identifier: MIT
"""Policies by name: random actions, levels of the compiler, searches, and policies in files.

random                random actions until the limit is reached
level:-Oz             one action: the compiler's own pipeline
search:local          a search of `compiler_gym.search` until the limit is reached
search:local+levels   the same, with the compiler's own levels (-Oz, ...) tried first
search:local+known    the same, with levels and known sequences, as `compiler-gym search` does
agents/q.py           the function or object ``policy`` of a file
agents/q.py:Greedy    another object in the file, instantiated if it is a class
inliner.c             a heuristic in a file, read by a compiler's plug-in
"""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import CompilerGymError, PolicyLoadError, UnknownNameError, unknown_name
from compiler_gym.lazy import load_from_file, parts
from compiler_gym.registration import make
from compiler_gym.search import (
    ALGORITHMS,
    Budget,
    SearchProgress,
    Silent,
    default_starts,
    level_sequences,
    run_search,
)
from compiler_gym.spaces import action_names, space_name
from compiler_gym.tools.learn.leaderboard.evaluation import LimitReached, Meter, Policy
from compiler_gym.wrappers import CompilerEnvWrapper

_STARTS: dict[str, Callable[[Any], Sequence[Sequence[int]]]] = {
    "": lambda space: (),
    "levels": lambda space: level_sequences(space.names),
    "known": default_starts,
}
"""The starts of a search, by the name after the plus."""
_RESERVED_SHARE = 0.1
"""The fraction of the time reserved for the work before and after the search."""


@dataclass(frozen=True)
class LevelPolicy:
    """A policy that applies one of the compiler's own levels."""

    level: str

    def __call__(self, env: CompilerEnv) -> None:
        """Apply the level; raise `UnknownNameError` if no action space offers it."""
        for space in env.action_spaces:
            if self.level in action_names(space):
                env.reset(benchmark=env.benchmark, action_space=space)
                env.step(action_names(space).index(self.level))
                return
        raise UnknownNameError(f"no action {self.level!r} in any action space")


@dataclass(frozen=True)
class SearchPolicy:
    """A policy that searches on one thread and applies the best sequence.

    `starts` is empty to start from the empty sequence, "levels" for the compiler's levels, or
    "known" for levels and known sequences.
    """

    algorithm: str
    starts: str = ""

    def __call__(self, env: CompilerEnv, meter: Meter) -> int:
        """Search, apply the result and return the number of compilations."""
        assert env.spec is not None
        assert env.reward_space is not None
        name, reward = env.spec.id, env.reward_space.name
        space: Any = _with_levels(env) if self.starts else env.action_space
        env.action_space = space
        # The search confirms its result in the first environment it makes. Making that this one
        # brings it to the state to be judged, without charging the limit.
        inner = LeftOpen(env.unwrapped)  # type: ignore[arg-type]  # ours
        confirming = iter((inner,))
        seconds = max(meter.seconds_left * (1 - _RESERVED_SHARE) - 0.05, 0.05)
        time, most = None if seconds == float("inf") else seconds, meter.limit.compilations
        per_sequence = meter.limit.per_sequence
        budget = Budget(time, sequences=most) if per_sequence else Budget(time, most)
        (result,) = run_search(
            lambda: (
                next(confirming, None)
                or make(name, reward_space=reward, action_space=space_name(space))
            ),
            [env.benchmark],
            algorithm=self.algorithm,
            budget=budget,
            jobs=1,
            starts=_STARTS[self.starts](space),
            watcher=_UntilShortening() if per_sequence else None,
        )
        if most is None or not per_sequence:
            return result.steps
        # Shortening takes more sequences, can improve the result and may have begun. All but a
        # random search began with an empty sequence, which does not count.
        counted = most + (self.algorithm != "random")
        found = [one.actions for one in result.improvements if one.sequences <= counted]
        inner.reset(benchmark=env.benchmark)
        if found:
            inner.multistep(found[-1])
        return most


class _UntilShortening(Silent):
    """Ends a search whose result is about to be shortened."""

    def tick(self, seconds: float, programs: Sequence[SearchProgress]) -> None:
        """Interrupt the search, which returns its results then."""
        if all(program.phase in ("minimising", "done") for program in programs):
            raise KeyboardInterrupt


@dataclass(frozen=True)
class RecordedSearch:
    """A search in the policy's own environment, each of whose sequences is an episode.

    It starts from the empty sequence with a random seed and does not repeat sequences. A search
    that ends early does not use up its steps.
    """

    algorithm: str

    def __call__(self, env: CompilerEnv, meter: Meter) -> None:
        """Search until the limit is reached."""
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


class LeftOpen(CompilerEnvWrapper):
    """An environment whose `close` does nothing, for a search that closes its environments."""

    def close(self) -> None:
        """Do nothing."""


def random_actions(env: CompilerEnv, generator: random.Random | None = None) -> None:
    """Take random actions until the episode ends, from `generator` or the module `random`."""
    draw = random.randrange if generator is None else generator.randrange
    while env.in_episode:
        count = env.episode.selection.action_count
        env.step(draw(count) if count else env.action_space.sample())


def find_policy(name: str, search: Callable[[str], Policy] = SearchPolicy) -> Policy:
    """Return the policy `name`; `search` makes a search without levels.

    Raises:
        UnknownNameError: There is no such policy.
        PolicyLoadError: Its file raises an error when it is loaded.
    """
    kind, _, argument = name.partition(":")
    if name == "random":
        return random_actions
    if kind == "level":
        return LevelPolicy(argument)
    if kind == "search":
        algorithm, plus, starts = (argument or "portfolio").partition("+")
        if algorithm not in ALGORITHMS:
            raise UnknownNameError(unknown_name("algorithm", algorithm, ALGORITHMS))
        if plus and starts not in ("levels", "known"):
            raise UnknownNameError(
                f"no starts {starts!r} for a search; write search:NAME+levels or search:NAME+known"
            )
        return SearchPolicy(algorithm, starts) if plus else search(algorithm)
    for entry in parts("heuristics").values():
        if name.endswith((heuristics := entry.load()).SUFFIXES):
            return heuristics.heuristic_policy(Path(name))
    if kind.endswith(".py"):
        return _load_policy(Path(kind), argument or "policy")
    raise UnknownNameError(
        f"no policy {name!r}; choose random, level:-Oz, search:local or a file such as agents/q.py"
    )


def _load_policy(path: Path, name: str) -> Policy:
    try:
        policy = load_from_file(path, name)
        return policy() if isinstance(policy, type) else policy
    except FileNotFoundError:
        raise UnknownNameError(f"no file {path}; name a Python file with a policy") from None
    except CompilerGymError:
        raise
    except Exception as error:
        if isinstance(error, AttributeError) and error.name == name:
            raise UnknownNameError(f"{path} does not define {name}; define a policy") from None
        raise PolicyLoadError(
            f"cannot load the policy {path}: {type(error).__name__}: {error}"
        ) from error


def _with_levels(env: CompilerEnv) -> Any:
    """Return the smallest action space with levels that contains the first one.

    If there is none, return the largest with levels; raise `UnknownNameError` if no space has
    levels.
    """
    names = [(space, set(action_names(space))) for space in env.action_spaces]
    leveled = [entry for entry in names if level_sequences(tuple(entry[1]))]
    if not leveled:
        raise UnknownNameError("no action space has levels to start from; search without +levels")
    fuller = [entry for entry in leveled if names[0][1] <= entry[1]]
    best = min(fuller, key=_size) if fuller else max(leveled, key=_size)
    return best[0]


def _size(entry: tuple[Any, set[str]]) -> int:
    return len(entry[1])
