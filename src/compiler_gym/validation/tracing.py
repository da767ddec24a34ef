# SPDX-License-Identifier: MIT
"""Record the hash of a program after each action, to find where two machines disagree.

A trace is small enough to mail: one line of names and hashes. Comparing two traces needs no
compiler.
"""

import json
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from compiler_gym.core import CompilerEnv, CompilerEnvState, StateVersionWarning
from compiler_gym.errors import CompilerGymError, StateFileError
from compiler_gym.spaces import action_name, space_name


@dataclass(frozen=True, slots=True)
class Trace:
    """The hashes of a program before any action and after each."""

    benchmark: str
    action_space: str | None
    compiler_version: str
    actions: tuple[str, ...]
    """The names of the actions; empty for an episode that could not begin."""
    hashes: tuple[str | None, ...]
    """One more than the number of actions, or fewer if the compiler failed."""
    error: str = ""
    """The error of the compiler, or of an episode that could not begin; empty if none."""
    commandline: str = ""
    environment: str | None = None

    @property
    def state(self) -> CompilerEnvState:
        """The episode as a state that can be traced elsewhere."""
        return CompilerEnvState(
            self.benchmark,
            self.commandline,
            action_space=self.action_space,
            environment=self.environment,
        )

    def to_line(self) -> str:
        """Return one line of JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def from_line(cls, line: str) -> "Trace":
        """Return the trace in one line of JSON; raise `StateFileError` if it is not one."""
        try:
            plain: dict[str, Any] = json.loads(line)
            plain["actions"], plain["hashes"] = tuple(plain["actions"]), tuple(plain["hashes"])
            return cls(**plain)
        except (KeyError, TypeError, ValueError) as error:
            raise StateFileError(f"not a trace in one line of JSON: {error}") from error


def trace(env: CompilerEnv, state: CompilerEnvState) -> Trace:
    """Apply `state` to `env` action by action and return the hash of the program after each.

    If the program or an action does not exist here, the trace has an error and no hashes.
    """
    actions: Sequence[Any] = ()
    hashes: list[str | None] = []
    error = ""
    try:
        actions = _begin(env, state)
        hashes.append(env.state.state_hash)
    except (CompilerGymError, ValueError) as failure:
        actions, error = (), f"{type(failure).__name__}: {failure}"
    for action in actions:
        _, _, _, truncated, info = env.multistep([action])
        if truncated and "error" in info:
            error = f"{info['error_type']}: {info['error_details']}"
            break
        hashes.append(_hash(env))
    return Trace(
        benchmark=state.benchmark,
        action_space=space_name(env.action_space),
        compiler_version=env.compiler_version,
        actions=tuple(action_name(env.action_space, action) for action in actions),
        hashes=tuple(hashes),
        error=error,
        commandline=state.commandline,
        environment=None if env.spec is None else env.spec.id,
    )


def _begin(env: CompilerEnv, state: CompilerEnvState) -> Sequence[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StateVersionWarning)
        actions = env.actions_from(state)
    env.reset(benchmark=state.benchmark)
    return actions


def first_disagreement(one: Trace, other: Trace) -> int | None:
    """Return the number of actions after which two traces first differ, or None.

    0 means that the program differs before any action, or that the episode could begin on only
    one of the machines. Raises `StateFileError` for traces of different episodes.
    """
    have_begun = bool(one.hashes and other.hashes)
    for name in ("benchmark", "actions") if have_begun else ("benchmark", "commandline"):
        if getattr(one, name) != getattr(other, name):
            raise StateFileError(
                f"the traces are of different episodes, with {name} "
                f"{getattr(one, name)!r} and {getattr(other, name)!r}"
            )
    for number in range(len(one.actions) + 1):
        if _hash_at(one, number) != _hash_at(other, number):
            return number
    return None


def _hash_at(trace: Trace, number: int) -> str | None:
    return trace.hashes[number] if number < len(trace.hashes) else None


def _hash(env: CompilerEnv) -> str | None:
    try:
        return env.state.state_hash
    except CompilerGymError:
        return None
