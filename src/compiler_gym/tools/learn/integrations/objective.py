# SPDX-License-Identifier: MIT
"""A function to minimise, for libraries that search: Optuna, Nevergrad and others.

The cost is what an environment's reward lost, so that less is better, and a failure of
the compiler is the worst cost there is. Optuna needs the extra ``optuna``, Nevergrad
``nevergrad``; the objective itself needs neither.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import gymnasium

from compiler_gym.cli.kit.library import library
from compiler_gym.errors import InvalidParameterError
from compiler_gym.registration import Use, default_environment, make
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.spaces import action_names

__all__ = ["ObjectiveValue", "SequenceObjective"]


@dataclass(frozen=True, slots=True)
class ObjectiveValue:
    """What came of one sequence of actions."""

    actions: tuple[int, ...]
    cost: float
    """The reward with its sign turned; infinite after a failure."""
    error: str | None = None


class SequenceObjective:
    """The cost of a sequence of `length` actions on one program.

        >>> arguments = {"benchmark": "cbench-v1/crc32", "actions": ["sroa", "instcombine"]}
        >>> with SequenceObjective("llvm-ic-v0", length=2, **arguments) as cost:
        ...     cost([0, 1]) < 0
        True

    `actions` are the choices at each place, by name; all without any. ``None`` among them
    is a place left empty, so that shorter sequences can be found. `best` is the best
    evaluation so far. Call it, hand `optuna` to ``study.optimize``, or give
    `nevergrad_parametrization` to an optimiser of Nevergrad.
    """

    def __init__(
        self,
        env: str | gymnasium.Env[Any, Any] | None = None,
        *,
        length: int,
        actions: Iterable[str | None] = (),
        cache: TranspositionCache | None = None,
        **arguments: Any,
    ) -> None:
        if length < 1:
            raise InvalidParameterError(f"length is {length}: expected at least 1")
        env = default_environment(Use.SEARCH) if env is None else env
        self._made_here = isinstance(env, str)
        if isinstance(env, str):
            env = make(env, cache=cache or TranspositionCache(), **arguments)
        self.env: Any = env
        """The environment; it may be wrapped."""
        self.length = length
        self._program: Any = None
        space = env.action_space
        names = list(actions) or list(action_names(space))
        if not names:
            raise InvalidParameterError(f"expected actions with names, found {space!r}")
        self.choices: list[str | None] = names
        """The choices at each place."""
        known = self.env.action_space
        self._numbers = [None if name is None else known[name] for name in names]
        self.best: ObjectiveValue | None = None
        """The best evaluation so far."""

    def __call__(self, choices: Sequence[int]) -> float:
        """Return the cost of `choices`: at each place the number of a choice."""
        return self.evaluate(choices).cost

    def evaluate(self, choices: Sequence[int], on_step: Any = None) -> ObjectiveValue:
        """Return what comes of `choices`; `on_step` is called with the place and the cost."""
        self._reset()
        taken: list[Any] = []
        cost = 0.0
        for place, choice in enumerate(choices):
            action = self._numbers[int(choice)]
            if action is not None:
                _, reward, terminated, truncated, info = self.env.step(action)
                if "error" in info:
                    return ObjectiveValue((*taken, action), float("inf"), info["error_details"])
                taken.append(action)
                cost -= float(reward)
                if terminated or truncated:
                    break
            if on_step is not None:
                on_step(place, cost)
        found = ObjectiveValue(tuple(taken), cost)
        if self.best is None or found.cost < self.best.cost:
            self.best = found
        return found

    def optuna(self, trial: Any) -> float:
        """Return the cost of a trial of Optuna; it may be pruned after every action."""
        pruned = library("optuna", "optuna").TrialPruned

        def report(place: int, cost: float) -> None:
            trial.report(cost, place)
            if trial.should_prune():
                raise pruned

        names = ["" if name is None else name for name in self.choices]
        picked = [trial.suggest_categorical(f"action{i}", names) for i in range(self.length)]
        evaluation = self.evaluate([names.index(name) for name in picked], report)
        trial.set_user_attr("actions", list(evaluation.actions))
        if evaluation.error is not None:
            raise pruned(evaluation.error)
        return evaluation.cost

    def nevergrad_parametrization(self) -> Any:
        """Return what an optimiser of Nevergrad draws from; call this with ``*candidate.args``."""
        parameters = library("nevergrad", "nevergrad").p
        places = [parameters.Choice(range(len(self.choices))) for _ in range(self.length)]
        return parameters.Instrumentation(parameters.Tuple(*places))

    def commandline(self) -> str:
        """Return the best sequence as the compiler's command line."""
        if self.best is None:
            raise InvalidParameterError("nothing was evaluated yet")
        return self.env.action_space.to_string(list(self.best.actions))

    def close(self) -> None:
        """Close the environment if it was made here."""
        if self._made_here:
            self.env.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def _reset(self) -> None:
        """Start again on the same program, whatever the environment would choose next."""
        options = None if self._program is None else {"benchmark": self._program}
        self.env.reset(options=options)
        self._program = self.env.unwrapped.benchmark
