# SPDX-License-Identifier: MIT
"""A vector environment: several environments, each with its worker process, stepped together.

A step sends requests to all workers, at most one per core at a time, and writes the replies into
preallocated arrays. It returns the same values as Gymnasium's `SyncVectorEnv`, in every autoreset
mode; in addition, programs can be chosen for each row.
"""

import copy as copying
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Self, cast

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import NDArray

from compiler_gym.core import Pending, ResetResult, StepTuple, fork_wrapped
from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidActionError,
    InvalidParameterError,
    ServiceIsClosed,
)
from compiler_gym.service import Channel, busy_workers, exchange, finish
from compiler_gym.vector.rows import Batch, Durations, Rows, Sampler, infos_as_usual, make_sampler

VectorStepResult = tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]
"""The observations, rewards, terminations, truncations and infos."""
_TRIES = 5
"""The number of random programs to try before a reset fails."""


class CompilerVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """Several environments as one, each with a row in every array.

    A failure of the compiler truncates the episode of its row; ``infos["error"]`` holds the typed
    error there, and the other rows continue.

    Args:
        env_fns: Functions that make the sub-environments, which must have equal spaces.
        autoreset_mode: The time at which a new episode follows an ended one: at the next step
            (Gymnasium's default), in the same step, or never.
        sampler: The source of programs: a function of a random generator, or a list of programs
            and datasets to draw from. A program that does not start is replaced with another.
        max_episode_steps: The number of steps after which an episode is truncated.
        copy: False returns the same arrays at every step.

    Raises:
        InvalidParameterError: There are no environments, or their spaces differ.
    """

    _rows = Rows(())
    """No rows, for `close` after a failure in the constructor."""

    num_envs = 0
    single_action_space: gymnasium.Space[Any]
    single_observation_space: gymnasium.Space[Any]
    action_space: gymnasium.Space[Any]

    def __init__(
        self,
        env_fns: Iterable[Callable[[], gymnasium.Env[Any, Any]]],
        *,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        sampler: Sampler | Sequence[Any] | None = None,
        max_episode_steps: int | None = None,
        copy: bool = True,
    ) -> None:
        super().__init__()
        if max_episode_steps is not None and max_episode_steps < 1:
            raise InvalidParameterError(
                f"max_episode_steps must be at least 1 (got {max_episode_steps})"
            )
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        """The time at which a new episode follows an ended one."""
        self.max_episode_steps = max_episode_steps
        """The number of steps after which an episode is truncated; None never truncates."""
        self.copy = copy
        self._sampler = make_sampler(sampler)
        self.envs: list[Any] = []
        """The sub-environments."""
        try:
            self.envs.extend(make() for make in env_fns)
            self._require_alike()
        except BaseException:
            for env in self.envs:
                env.close()
            raise
        self._describe()
        self._is_closing = False
        self._clock = 0
        self._began = [0] * self.num_envs
        self._durations = Durations(self.num_envs)
        self._batch = Batch(self.single_observation_space, self.num_envs)
        self._rows = Rows(self.envs)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every row, or in those where ``options["reset_mask"]`` is True.

        Args:
            seed: A list of seeds, or the seed of the first row; other rows get the following
                numbers.
            options: ``reset_mask``, bool[rows]; ``benchmark``, a program or a list with one for
                each row; and other options of the environments.

        Returns:
            The observations and the infos.

        Raises:
            BenchmarkInitError: A program cannot be read.
        """
        self._require_open()
        seeds = self._seeds(seed)
        further = dict(options or {})
        mask = self._mask(further.pop("reset_mask", None))
        failures: dict[int, Exception] = {}
        rows = [int(row) for row in np.flatnonzero(mask)]
        pending = self._begin_resets(rows, failures, seeds, further)
        exchange(list(_channels(pending).values()))
        results = self._end_resets(pending, failures, further)
        if failures:
            raise failures[min(failures)]
        infos: dict[str, Any] = {}
        for row, (observation, info) in results.items():
            self._batch.enter(row, observation, 0.0, False, False)
            infos = self._add_info(infos, info, row)
        return self._batch.observe(copy=self.copy), infos

    def step(self, actions: Any) -> VectorStepResult:
        """Apply an action in every row.

        Returns:
            The observations, rewards float64[rows], terminations and truncations bool[rows], and
            the infos.

        Raises:
            InvalidActionError: An action is not in its space; then no action is applied.
        """
        if self._is_closing:
            self._require_open()
        ended = self._find_ended()
        listed = self._actions(actions, ended)
        if ended and self.autoreset_mode is AutoresetMode.DISABLED:
            raise InvalidParameterError(
                f"the episodes of rows {ended} have ended; call "
                "reset(options={'reset_mask': ...}) before the next step"
            )
        return self._make_result(self._step_each(listed, ended))

    def fork(self) -> Self:
        """Return an independent vector environment in the same state."""
        self._require_open()
        # The memo shares the sampler and replaces the environments with their forks.
        memo: dict[int, Any] = {id(self._sampler): self._sampler}
        forks: list[Any] = []
        try:
            for env in self.envs:
                forks.append(fork_wrapped(env))
                memo[id(env)] = forks[-1]
            return copying.deepcopy(self, memo)
        except BaseException:
            for fork in forks:
                fork.close()
            raise

    def close_extras(self, **kwargs: Any) -> None:
        """End every session, even in the middle of a step."""
        self._is_closing = True
        self._rows.close()

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the attribute `name` of every row; call it if it is a method."""
        values = self.get_attr(name)
        return tuple(value(*args, **kwargs) if callable(value) else value for value in values)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return the attribute `name` of every row."""
        return tuple(env.get_wrapper_attr(name) for env in self.envs)

    def set_attr(self, name: str, values: Any) -> None:
        """Set the attribute `name` to one value for all rows, or to a list with one for each."""
        is_several = isinstance(values, (list, tuple))
        listed = list(cast("Sequence[Any]", values)) if is_several else [values] * self.num_envs
        if len(listed) != self.num_envs:
            raise InvalidParameterError(f"pass 1 or {self.num_envs} values (got {len(listed)})")
        for env, value in zip(self.envs, listed, strict=True):
            env.set_wrapper_attr(name, value)

    def render(self) -> tuple[Any, ...]:
        """Return the renderings of all rows."""
        return tuple(env.render() for env in self.envs)

    @property
    def np_random(self) -> tuple[np.random.Generator, ...]:  # type: ignore[override]  # as SyncVectorEnv
        """The random generators of the rows."""
        return self.get_attr("np_random")

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]  # as SyncVectorEnv
        """The seeds of the rows."""
        return self.get_attr("np_random_seed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: Any) -> None:
        self.close()

    def _require_alike(self) -> None:
        """Raise `InvalidParameterError` if there are no rows, or their spaces differ."""
        if not self.envs:
            raise InvalidParameterError("env_fns is empty; pass at least one function")
        first = self.envs[0]
        for name, hint in (("observation_space", "an observation"), ("reward_space", "a reward")):
            if getattr(first, name, True) is None:
                raise InvalidParameterError(f"a vector of environments needs {hint}; set {name}")
        for number, env in enumerate(self.envs):
            for name in ("observation_space", "action_space"):
                expected, actual = getattr(first, name), getattr(env, name)
                if expected != actual:
                    raise InvalidParameterError(
                        f"sub-environments differ: the {name} of row 0 is {expected!r}, "
                        f"that of row {number} is {actual!r}"
                    )

    def _describe(self) -> None:
        """Set the attributes that Gymnasium defines for a vector."""
        first = self.envs[0]
        self.num_envs = len(self.envs)
        self.metadata = {**first.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = first.render_mode
        self.single_action_space = first.action_space
        self.single_observation_space = first.observation_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)

    def _find_ended(self) -> list[int]:
        """Return the rows whose episodes have ended and must be reset at the next step."""
        return [] if self.autoreset_mode is AutoresetMode.SAME_STEP else self._batch.find_ended()

    def _make_result(self, infos: dict[str, Any]) -> VectorStepResult:
        batch = self._batch
        return batch.observe(copy=self.copy), batch.rewards.copy(), *batch.ends(), infos

    def _step_each(self, actions: list[Any], resets: list[int]) -> dict[str, Any]:
        """Step each row, or reset it if it is in `resets`, and return the infos.

        Waits for all rows together. If the user's code raises exceptions, that of the first row
        is raised after all rows have finished.
        """
        failures: dict[int, Exception] = {}
        steps: dict[int, Pending[StepTuple]] = {}
        self._clock += 1
        for number in range(self.num_envs):
            if number not in resets:
                try:
                    steps[number] = self._rows[number].begin_step(actions[number])
                    steps[number].send(later=True)
                except Exception as error:
                    failures[number] = error
        restarts = self._begin_resets(resets, failures)
        channels = _channels({**restarts, **steps})
        self._exchange(list(channels.values()), [actions[row] for row in channels], list(channels))
        finish([*restarts.values(), *steps.values()])
        restarted = self._end_resets(restarts, failures)
        results: dict[int, StepTuple] = {}
        for number, pending in steps.items():
            try:
                results[number] = pending.result()
            except Exception as error:
                failures[number] = error
        return self._conclude(results, restarted, failures)

    def _exchange(
        self, channels: list[Channel], actions: list[Any], rows: Sequence[int] | None = None
    ) -> None:
        """Send the pending requests of `channels` and wait for the replies.

        Args:
            channels: The channels of `rows`.
            actions: The action of each channel.
            rows: The numbers of the rows; None means all.
        """
        if not busy_workers.takes_turns(len(channels)):
            exchange(channels)
            return
        durations, numbers = self._durations, rows or range(len(channels))
        exchange(channels, durations.guess(numbers, actions))
        durations.learn(numbers, actions, [channel.seconds for channel in channels])

    def _conclude(
        self,
        results: dict[int, StepTuple],
        restarted: dict[int, ResetResult],
        failures: dict[int, Exception],
    ) -> dict[str, Any]:
        """Store the results of the rows, start the next episodes, and return the infos."""
        dicts: list[dict[str, Any]] = [{}] * self.num_envs
        finals: dict[int, Any] = {}
        limit = math.inf if self.max_episode_steps is None else self.max_episode_steps
        for number, (obs, info) in restarted.items():
            self._batch.enter(number, obs, 0.0, False, False)
            dicts[number] = info
        for number, (obs, reward, terminated, truncated, info) in sorted(results.items()):
            truncated = truncated or self._clock - self._began[number] >= limit
            self._batch.enter(number, obs, reward, terminated, truncated)
            dicts[number] = info
            if (terminated or truncated) and self.autoreset_mode is AutoresetMode.SAME_STEP:
                finals[number] = obs
        infos = self._follow_up(finals, dicts) if finals else self._gather_infos(dicts)
        if failures:
            raise failures[min(failures)]
        return infos

    def _gather_infos(self, dicts: list[dict[str, Any]]) -> dict[str, Any]:
        """Return the infos of all rows as arrays, in the form of `_add_info`."""
        infos = infos_as_usual(dicts)
        if infos is None:
            infos = {}
            for row, info in enumerate(dicts):
                infos = self._add_info(infos, info, row)
        return infos

    def _follow_up(self, finals: dict[int, Any], dicts: list[dict[str, Any]]) -> dict[str, Any]:
        """Start the next episodes in the same step; add the last observations to the infos."""
        last = {row: {"final_obs": obs, "final_info": dicts[row]} for row, obs in finals.items()}
        infos = self._gather_infos([{} if row in last else info for row, info in enumerate(dicts)])
        for row, info in last.items():
            infos = self._add_info(infos, info, row)
        failures: dict[int, Exception] = {}
        pending = self._begin_resets(list(finals), failures)
        exchange(list(_channels(pending).values()))
        restarted = self._end_resets(pending, failures)
        if failures:
            raise failures[min(failures)]
        for row, (obs, info) in restarted.items():
            self._batch.see(row, obs)
            infos = self._add_info(infos, info, row)
        return infos

    def _begin_resets(
        self,
        rows: list[int],
        failures: dict[int, Exception],
        seeds: Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> dict[int, Pending[ResetResult]]:
        """Begin resets of `rows`, each with its element of `seeds`, without sending them."""
        resets: dict[int, Pending[ResetResult]] = {}
        for row in rows:
            try:
                resets[row] = self._begin_reset(row, None if seeds is None else seeds[row], options)
            except Exception as error:
                failures[row] = error
        return resets

    def _end_resets(
        self,
        resets: dict[int, Pending[ResetResult]],
        failures: dict[int, Exception],
        options: dict[str, Any] | None = None,
    ) -> dict[int, ResetResult]:
        """Wait for all resets and return their results."""
        results: dict[int, ResetResult] = {}
        for row, pending in resets.items():
            try:
                results[row] = self._end_reset(row, pending, options)
            except Exception as error:
                failures[row] = error
        return results

    def _begin_reset(
        self, row: int, seed: int | None, options: dict[str, Any] | None
    ) -> Pending[ResetResult]:
        passed = dict(options or {})
        programs = passed.get("benchmark")
        if isinstance(programs, (list, tuple)):
            listed = cast("Sequence[Any]", programs)
            if len(listed) != self.num_envs:
                raise InvalidParameterError(
                    f"pass 1 or {self.num_envs} programs (got {len(listed)})"
                )
            passed["benchmark"] = listed[row]
        elif programs is None and self._sampler is not None:
            base = self.envs[row].unwrapped
            if seed is not None:  # later draws are seeded by the reset itself
                base.np_random = np.random.default_rng([seed, 1])
            passed["benchmark"] = self._sampler(base)
        self._began[row] = self._clock
        pending = self._rows[row].begin_reset(seed, passed or None)
        pending.send(later=True)
        if self._is_closing:  # another thread is closing and may have missed this session
            self.envs[row].unwrapped.close()
            self._require_open()
        return pending

    def _end_reset(
        self, row: int, pending: Pending[ResetResult], options: dict[str, Any] | None
    ) -> ResetResult:
        for _ in range(_TRIES - 1):
            try:
                return pending.result()
            except BenchmarkInitError:
                if self._sampler is None or (options or {}).get("benchmark") is not None:
                    raise
                pending = self._begin_reset(row, None, options)
        return pending.result()

    def _actions(self, actions: Any, ended: list[int]) -> list[Any]:
        """Return an action for each row, or raise `InvalidActionError`; `ended` rows ignore it."""
        if isinstance(self.single_action_space, gymnasium.spaces.Discrete):
            # Python integers take a fast path to the session.
            listed = np.asarray(actions).reshape(-1).tolist()
        else:
            listed = list(iterate(self.action_space, actions))
        if len(listed) != self.num_envs:
            raise InvalidActionError(f"pass {self.num_envs} actions (got {len(listed)})")
        for number, (row, action) in enumerate(zip(self._rows, listed, strict=True)):
            if not row.takes(action) and number not in ended:
                raise InvalidActionError(
                    f"{action!r} is not an action of {row.env.action_space!r} in row {number}"
                )
        return listed

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None:
            return [None] * self.num_envs
        if isinstance(seed, (int, np.integer)):
            first = int(cast("int", seed))
            return [first + row for row in range(self.num_envs)]
        seeds = list(cast("Sequence[int | None]", seed))
        if len(seeds) != self.num_envs:
            raise InvalidParameterError(f"pass 1 or {self.num_envs} seeds (got {len(seeds)})")
        return seeds

    def _mask(self, mask: Any) -> NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        array = np.asarray(mask)
        if array.shape != (self.num_envs,) or array.dtype != np.bool_ or not array.any():
            raise InvalidParameterError(
                f"reset_mask must be {self.num_envs} booleans with at least one True (got {mask!r})"
            )
        return array

    def _require_open(self) -> None:
        if self.closed or self._is_closing:
            raise ServiceIsClosed("the vector environment is closed")


def _channels(pending: Mapping[int, Pending[Any]]) -> dict[int, Channel]:
    """Return the channels with the requests of `pending`, by row."""
    channels = {row: item.channel for row, item in pending.items()}
    return {row: channel for row, channel in channels.items() if channel is not None}
