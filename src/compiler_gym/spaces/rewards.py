# SPDX-License-Identifier: MIT
"""Rewards: the observations they need, and the numbers they make from them.

A reward is arithmetic on measured values: it uses no compiler and no files.
"""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, Self

import numpy as np

from compiler_gym.errors import BenchmarkInitError, ObservationError
from compiler_gym.spaces.base import deep_copy
from compiler_gym.spaces.scalar import Scalar


class Reward(Scalar):
    """A reward signal: a `Scalar` with a function that computes it.

    Obligations of a subclass:

    - `update` returns the reward of the actions since the last `update`, from
      the values of `observation_spaces` in their order.
    - Calls come from one thread: `reset` when an episode begins, then at most one `start`, then
      `update` after each request; nothing after a failure. If the reward is read again before
      the first action, it gets another `start` and `update`.
    - It supports `copy.deepcopy`: a fork continues with its own numbers.

    A reward equals another of the same name, and its name.

    >>> class Shrinkage(Reward):
    ...     def start(self, observations, observation_view):
    ...         self.size = observations[0]
    ...
    ...     def update(self, actions, observations, observation_view):
    ...         saved, self.size = self.size - observations[0], observations[0]
    ...         return float(saved)
    >>> reward = Shrinkage("shrinkage", observation_spaces=["size"], max=100.0)
    >>> reward.reset("benchmark://demo/1", {})
    >>> reward.start([50], {})
    >>> reward.update([7], [45], {}), reward.range
    (5.0, (-inf, 100.0))
    """

    description: str = ""
    """The reward in one sentence; if empty, the docstring of the class."""

    def __init__(
        self,
        name: str = "",
        observation_spaces: Sequence[str] | None = None,
        default_value: float = 0,
        min: float | None = None,
        max: float | None = None,
        default_negates_returns: bool = False,
        success_threshold: float | None = None,
        deterministic: bool = False,
        platform_dependent: bool = True,
        id: str = "",
    ) -> None:
        if id:
            warnings.warn("`id` was renamed: use `name`", DeprecationWarning, stacklevel=2)
            name = name or id
        if not name:
            raise TypeError("a reward needs a name")
        super().__init__(name, min=min, max=max, dtype=np.float64)
        self.observation_spaces = list(observation_spaces or ())
        """The names of the observations that `update` receives."""
        self.initial_spaces: list[str] = []
        """The names of the observations that `start` reads from the view: a reset sends them."""
        self.default_value = default_value
        """The reward of a step that failed."""
        self.default_negates_returns = default_negates_returns
        """True if a failure also cancels the reward of the episode so far."""
        self.success_threshold = success_threshold
        """The episode's total that counts as a success."""
        self.deterministic = deterministic
        """True if the same actions always earn the same reward."""
        self.platform_dependent = platform_dependent
        """True if the value may differ on another machine."""

    @property
    def id(self) -> str:
        """The name, with the same attribute as specs of observations."""
        return self.name

    @property
    def range(self) -> tuple[float, float]:
        """The bounds of one reward; infinite if open."""
        low, high = self._bounds()
        return float(low), float(high)

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode; a new one begins on the program `benchmark`.

        `observation_view` returns any observation by name; each costs a request.
        """

    def start(self, observations: Sequence[Any], observation_view: Mapping[str, Any]) -> None:
        """Store the observations of the program before any action.

        Called each time that they are observed before the first action. A reward that is first
        read later must work without this call.
        """

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the reward for `actions`, which led to `observations`."""
        raise NotImplementedError(f"{type(self).__name__} does not define update()")

    def reward_on_error(self, episode_reward: float) -> float:
        """Return the reward of a step that failed after `episode_reward` was earned.

        >>> Reward("r", default_value=-10.0, default_negates_returns=True).reward_on_error(2.5)
        -12.5
        """
        if self.default_negates_returns:
            return self.default_value - episode_reward
        return self.default_value

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return deep_copy(self, memo)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.name == other
        return isinstance(other, Reward) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r})"


class DefaultRewardFromObservation(Reward):
    """The growth of an observation since the last step, starting from 0.

    The first reward of an episode is therefore the observation itself, and a falling cost earns
    a negative reward: use it for quantities to maximise, such as operations per second.

    >>> reward = DefaultRewardFromObservation("flops")
    >>> reward.reset("benchmark://demo/1", {})
    >>> [reward.update([0], [flops], {}) for flops in (10, 25, 20)]
    [10.0, 15.0, -5.0]
    """

    def __init__(self, observation_name: str, **kwargs: Any) -> None:
        super().__init__(observation_name, observation_spaces=[observation_name], **kwargs)
        self.previous_value: Any = None
        """The observation of the last update, or None before the first."""

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Start from 0 again."""
        self.previous_value = None

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the growth of the observation."""
        before = 0 if self.previous_value is None else self.previous_value
        self.previous_value = observations[0]
        return float(self.previous_value - before)


class FunctionReward(Reward):
    """The result of a function of an observation before and after an action.

    With several names it gets two lists. It is called only when both values exist: an
    observation that was not made at the reset earns nothing the first time.

    >>> reward = FunctionReward("halved", "IrInstructionCount", lambda before, now: before / now)
    >>> reward.reset("benchmark://demo/1", {})
    >>> reward.start([80], {})
    >>> reward.update([0], [40], {})
    2.0
    """

    def __init__(
        self,
        name: str,
        observation_space: str | Sequence[str],
        function: Callable[[Any, Any], float],
        **properties: Any,
    ) -> None:
        self._is_single = isinstance(observation_space, str)
        names = [observation_space] if isinstance(observation_space, str) else observation_space
        super().__init__(name, observation_spaces=names, **properties)
        self.function = function
        """The function, called with the observations before and after."""
        self.previous: Sequence[Any] | None = None
        """The observations of the last update, or None before the first."""

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode."""
        self.previous = None

    def start(self, observations: Sequence[Any], observation_view: Mapping[str, Any]) -> None:
        """Store the observations of the program before any action."""
        self.previous = list(observations)

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the result of the function."""
        before, self.previous = self.previous, list(observations)
        if before is None:
            return 0.0
        if self._is_single:
            return float(self.function(before[0], observations[0]))
        return float(self.function(before, self.previous))


class RuntimeReward(Reward):
    """The seconds saved since the last step, from a point estimate of the running time.

    It observes ``Runtime``: a list of `runtime_count` times, measured after `warmup_count` runs
    that do not count. Set both on the environment when you add this reward. The estimate for
    the original program is kept for as long as episodes stay on one benchmark.

    >>> reward = RuntimeReward(runtime_count=3, warmup_count=0, estimator=min)
    >>> reward.reset("benchmark://demo/1", {"IsRunnable": True, "Runtime": [2.0, 1.5, 1.75]})
    >>> reward.update([0], [[1.0, 1.25, 1.5]], {})
    0.5
    """

    def __init__(
        self,
        runtime_count: int,
        warmup_count: int,
        estimator: Callable[[Iterable[float]], float],
        default_value: float = 0,
    ) -> None:
        super().__init__(
            "runtime",
            observation_spaces=["Runtime"],
            default_value=default_value,
            default_negates_returns=True,
            deterministic=False,
            platform_dependent=True,
        )
        self.runtime_count = runtime_count
        """Number of times in an observation."""
        self.warmup_count = warmup_count
        """Number of runs before the measured ones."""
        self.estimator = estimator
        """Computes one number from several times, for example the median."""
        self.starting_runtime: float | None = None
        """The estimate before any action."""
        self.previous_runtime: float | None = None
        """The estimate of the last update."""
        self.current_benchmark: str | None = None
        """The program of `starting_runtime`."""

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Measure `benchmark`, unless it is the same as last time.

        Raises `BenchmarkInitError` for a program that cannot be run.
        """
        if benchmark != self.current_benchmark or self.starting_runtime is None:
            if not observation_view["IsRunnable"]:
                raise BenchmarkInitError(f"{benchmark} cannot be run: choose a runnable program")
            self.starting_runtime = float(self.estimator(observation_view["Runtime"]))
            self.current_benchmark = benchmark
        self.previous_runtime = self.starting_runtime

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the seconds saved; raise `ObservationError` for a wrong number of times."""
        times = observations[0]
        if len(times) != self.runtime_count:
            raise ObservationError(f"expected {self.runtime_count} runtimes, got {len(times)}")
        if self.previous_runtime is None:
            raise ObservationError("no starting runtime is known: call reset() before update()")
        runtime = float(self.estimator(times))
        saved = self.previous_runtime - runtime
        self.previous_runtime = runtime
        return saved


class Origin(Enum):
    """The program from whose cost the savings of an episode are counted.

    >>> Origin("reset")
    <Origin.RESET: 'reset'>
    """

    RESET = "reset"
    """The program after a reset."""
    INITIAL = "initial"
    """The original program, if a reset already changes it."""


class CostReward(Reward):
    """The cost saved since the last step: ``before - after``.

    `cost` is the observation to lower; `initial` is the observation of the original cost,
    requested only if the reward did not observe that itself, or if `counts_from` requires it.
    The sum of an episode depends only on its final state, rounding included: it is 0 for the
    program of the reset, and 1 for a tie with the baseline by which the reward is scaled. The
    first action also earns the savings of the reset itself.

    >>> reward = CostReward("saved", cost="size", initial="size0", platform_dependent=False)
    >>> reward.start([50.0], {})
    >>> [reward.update([0], [size], {}) for size in (45.0, 47.0)]
    [5.0, -2.0]
    """

    def __init__(
        self,
        name: str,
        *,
        cost: str,
        initial: str,
        platform_dependent: bool,
        deterministic: bool = True,
        unit: str = "",
        levels: Mapping[str, str] | None = None,
        counts_from: Origin = Origin.RESET,
        **properties: Any,
    ) -> None:
        super().__init__(
            name=name,
            observation_spaces=[cost],
            default_value=0,
            default_negates_returns=True,
            deterministic=deterministic,
            platform_dependent=platform_dependent,
            **properties,
        )
        self.initial = initial
        self.initial_spaces = [] if counts_from is Origin.RESET else [initial]
        self.counts_from = counts_from
        """The program whose cost is `origin`."""
        self.origin: float | None = None
        """The cost from which savings are counted, once it is known."""
        self.unit = unit
        """The unit of the cost."""
        self.levels = dict(levels or {})
        """The observations of the cost at the compiler's own levels, by their options."""
        self.previous: float | None = None
        """The cost of the last update."""
        self.scale: float | None = None
        """The saving that counts as 1.0, once it is known."""
        self.earned = 0.0
        """The sum of the episode's rewards."""
        self.has_begun = False
        """True if an action was rewarded."""

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode."""
        self.origin = self.previous = self.scale = None
        self.earned = 0.0
        self.has_begun = False

    def start(self, observations: Sequence[Any], observation_view: Mapping[str, Any]) -> None:
        """Store the costs of the program before any action."""
        is_seen = self.counts_from is Origin.RESET
        origin = observations[0] if is_seen else observation_view[self.initial]
        self._count_from(float(origin), observation_view)
        self.previous = float(observations[0])
        self.has_begun = False

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the reward for changing the cost to ``observations[0]``."""
        cost = float(observations[0])
        if self.origin is None:
            self._count_from(float(observation_view[self.initial]), observation_view)
        if cost == self.previous and (self.has_begun or not actions):
            return 0.0
        self.has_begun = True
        assert self.origin is not None
        assert self.scale is not None
        self.previous = cost
        # The difference from the last cost would accumulate rounding errors over many steps.
        reward = (self.origin - cost) / self.scale - self.earned
        self.earned += reward
        return reward

    def saving(self, observation_view: Mapping[str, Any]) -> float:
        """Return the saving that counts as 1.0; less than 1 counts as 1. `origin` is known."""
        return 1.0

    def _count_from(self, origin: float, observation_view: Mapping[str, Any]) -> None:
        self.origin = self.previous = origin
        self.earned = 0.0
        self.scale = max(self.saving(observation_view), 1.0)


class NormalizedCostReward(CostReward):
    """The cost saved as a share of the initial cost.

    The rewards of an episode sum to at most 1. An initial cost of 0 counts as 1.

    >>> reward = NormalizedCostReward("s", cost="c", initial="c0", platform_dependent=False)
    >>> reward.start([50.0], {})
    >>> reward.update([0], [45.0], {})
    0.1
    """

    def __init__(self, name: str, *, max: float | None = 1, **properties: Any) -> None:
        super().__init__(name, max=max, **properties)

    def saving(self, observation_view: Mapping[str, Any]) -> float:
        """Return the saving that counts as 1.0."""
        assert self.origin is not None
        return self.origin


class BaselineReward(NormalizedCostReward):
    """The cost saved as a share of the saving of a baseline pipeline.

    The rewards of an episode sum to 1.0 for a tie with the baseline, and to more for a better
    result. A baseline that saves nothing (or increases the cost) counts as saving 1: the reward
    is then the plain saving.

    >>> names = {"cost": "c", "initial": "c0", "baseline": "c-Oz"}
    >>> reward = BaselineReward("s", **names, platform_dependent=False)
    >>> reward.start([50.0], {"c-Oz": 40.0})
    >>> reward.update([0], [45.0], {})
    0.5
    """

    def __init__(self, name: str, *, baseline: str, **properties: Any) -> None:
        super().__init__(name, max=None, success_threshold=1, **properties)
        self.baseline = baseline
        self.initial_spaces.append(baseline)

    def saving(self, observation_view: Mapping[str, Any]) -> float:
        """Return the saving of the baseline from the initial cost."""
        assert self.origin is not None
        return self.origin - float(observation_view[self.baseline])


class ChangeReward(Reward):
    """The increase of an observation since the last step, or the decrease if `falls` is set.

    Unlike :class:`CostReward` it keeps no sum, because two measurements of a program differ.
    `initial` is the observation of the program before any action, requested only if the reward
    did not get that itself; without it, the first observation earns nothing. `number` converts
    the observation to a number.

    >>> reward = ChangeReward("gain", "speed", deterministic=False)
    >>> reward.reset("benchmark://demo/1", {})
    >>> reward.start([2.0], {})
    >>> [reward.update([0], [speed], {}) for speed in (2.5, 4.5, 4.0)]
    [0.5, 2.0, -0.5]
    """

    def __init__(
        self,
        name: str,
        observation: str,
        *,
        deterministic: bool,
        initial: str | None = None,
        falls: bool = False,
        number: Callable[[Any], float] = float,
        platform_dependent: bool = True,
    ) -> None:
        super().__init__(
            name,
            observation_spaces=[observation],
            default_value=0,
            default_negates_returns=True,
            deterministic=deterministic,
            platform_dependent=platform_dependent,
        )
        change = "decrease" if falls else "increase"
        self.description = f"The {change} of `{observation}` since the last step."
        self.initial = initial
        self.falls = falls
        """True if a decrease is rewarded, not an increase."""
        self.number = number
        self.previous: float | None = None
        """The number of the last update, or of the start."""

    def reset(self, benchmark: str, observation_view: Mapping[str, Any]) -> None:
        """Forget the last episode."""
        self.previous = None

    def start(self, observations: Sequence[Any], observation_view: Mapping[str, Any]) -> None:
        """Store the observation of the program before any action."""
        self.previous = self.number(observations[0])

    def update(
        self,
        actions: Sequence[Any],
        observations: Sequence[Any],
        observation_view: Mapping[str, Any],
    ) -> float:
        """Return the increase of the observation, or its decrease."""
        now = self.number(observations[0])
        if self.previous is None:
            before = now if self.initial is None else self.number(observation_view[self.initial])
        else:
            before = self.previous
        self.previous = now
        return before - now if self.falls else now - before
