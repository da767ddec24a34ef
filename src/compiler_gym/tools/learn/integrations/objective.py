# SPDX-License-Identifier: MIT
"""A function to minimise with search libraries such as Optuna and Nevergrad.

The cost is the negated reward of an episode, and infinite if the compiler fails. Optuna needs the
extra ``optuna``, Nevergrad ``nevergrad``; the objective itself needs neither.
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


@dataclass(frozen=True, slots=True)
class ObjectiveValue:
    """The evaluation of one sequence of actions."""

    actions: tuple[int, ...]
    cost: float
    """The negated reward; infinite after a failure."""
    error: str | None = None


class SequenceObjective:
    """The cost of a sequence of `length` actions on one program.

        >>> arguments = {"benchmark": "cbench-v1/crc32", "actions": ["sroa", "instcombine"]}
        >>> with SequenceObjective("llvm-ic-v0", length=2, **arguments) as cost:
        ...     cost([0, 1]) < 0
        True

    `actions` are the names of the choices at each position; all actions if empty. A ``None`` among
    them leaves a position empty, so that shorter sequences can be found. `best` is the best
    evaluation so far. Call the objective, pass `optuna` to ``study.optimize``, or pass
    `nevergrad_parametrization` to a Nevergrad optimiser.
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
            raise InvalidParameterError(f"length must be at least 1 (got {length})")
        env = default_environment(Use.SEARCH) if env is None else env
        self._owns_env = isinstance(env, str)
        if isinstance(env, str):
            env = make(env, cache=cache or TranspositionCache(), **arguments)
        self.env: Any = env
        """The environment; it may be wrapped."""
        self.length = length
        self._program: Any = None
        space = env.action_space
        names = list(actions) or list(action_names(space))
        if not names:
            raise InvalidParameterError(f"the actions of {space!r} have no names")
        self.choices: list[str | None] = names
        """The choices at each position."""
        actions_by_name = self.env.action_space
        self._numbers = [None if name is None else actions_by_name[name] for name in names]
        self.best: ObjectiveValue | None = None
        """The best evaluation so far."""

    def __call__(self, choices: Sequence[int]) -> float:
        """Return the cost of `choices`: the index of a choice for each position."""
        return self.evaluate(choices).cost

    def evaluate(self, choices: Sequence[int], on_step: Any = None) -> ObjectiveValue:
        """Return the evaluation of `choices`; call `on_step` with each position and the cost."""
        self._reset()
        actions: list[Any] = []
        cost = 0.0
        for position, choice in enumerate(choices):
            action = self._numbers[int(choice)]
            if action is not None:
                _, reward, terminated, truncated, info = self.env.step(action)
                if "error" in info:
                    return ObjectiveValue((*actions, action), float("inf"), info["error_details"])
                actions.append(action)
                cost -= float(reward)
                if terminated or truncated:
                    break
            if on_step is not None:
                on_step(position, cost)
        evaluation = ObjectiveValue(tuple(actions), cost)
        if self.best is None or evaluation.cost < self.best.cost:
            self.best = evaluation
        return evaluation

    def optuna(self, trial: Any) -> float:
        """Return the cost of an Optuna trial, which may be pruned after any action."""
        pruned = library("optuna", "optuna").TrialPruned

        def report(position: int, cost: float) -> None:
            trial.report(cost, position)
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
        """Return the parametrization for Nevergrad; call the objective with ``*candidate.args``."""
        parameters = library("nevergrad", "nevergrad").p
        positions = [parameters.Choice(range(len(self.choices))) for _ in range(self.length)]
        return parameters.Instrumentation(parameters.Tuple(*positions))

    def commandline(self) -> str:
        """Return the best sequence as the compiler's command line."""
        if self.best is None:
            raise InvalidParameterError("there is no sequence yet; call the objective first")
        return self.env.action_space.to_string(list(self.best.actions))

    def close(self) -> None:
        """Close the environment, unless it was passed in."""
        if self._owns_env:
            self.env.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def _reset(self) -> None:
        """Reset to the same program, even if the environment would choose another."""
        options = None if self._program is None else {"benchmark": self._program}
        self.env.reset(options=options)
        self._program = self.env.unwrapped.benchmark
