# SPDX-License-Identifier: MIT
"""Several environments as one, with a worker process each and no other processes.

A step asks all workers together, as many at a time as there are cores, and writes what
comes back into arrays that are made once. What it returns is what Gymnasium's `SyncVectorEnv`
returns, in every autoreset mode; only programs may be chosen for each row.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from copy import deepcopy
from typing import Any, Self

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from numpy.typing import NDArray

from compiler_gym.core.durations import Durations
from compiler_gym.core.env import CompilerEnv
from compiler_gym.core.foreign import fork_of
from compiler_gym.core.lockstep import Lockstep
from compiler_gym.core.requests import StepResult
from compiler_gym.core.row import DirectRow, ResetResult, Row, ThreadRow
from compiler_gym.core.sampler import Sampler, sampler_of
from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidActionError,
    InvalidParameterError,
    ServiceIsClosed,
)
from compiler_gym.service import Channel, Connection, busy_workers, exchange, finish

__all__ = ["CompilerVectorEnv", "VectorStepResult"]

VectorStepResult = tuple[Any, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]
"""Observations, rewards, terminations, truncations, infos."""
_TRIES = 5
"""How many random programs are tried before a reset fails."""


class CompilerVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """`env_fns` make the sub-environments; their spaces must be the same.

    - `autoreset_mode`: when an episode that ended is followed by another: at the next
      step (Gymnasium's default), in the same step, or never by itself.
    - `sampler`: what each episode runs on: a function of a random generator, or a list of
      programs and datasets to draw from. A program that does not start is drawn again.
    - `max_episode_steps`: truncates episodes.
    - `copy`: False returns the same arrays at every step.

    A failure of the compiler truncates the episode of its row; ``infos["error"]`` holds
    the typed error there and the other rows go on.
    """

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
                f"max_episode_steps is {max_episode_steps}: expected a number above 0"
            )
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        """When an ended episode is followed by another."""
        self.max_episode_steps = max_episode_steps
        """After how many steps an episode is truncated, if ever."""
        self.copy = copy
        self._sampler = sampler_of(sampler)
        self.envs: list[Any] = []
        """The sub-environments."""
        try:
            self.envs.extend(make() for make in env_fns)
            self._describe()
        except BaseException:
            for env in self.envs:
                env.close()
            raise
        self._executor: ThreadPoolExecutor | None = None
        self._is_closing = False
        self._make_rows()

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every row, or where ``options["reset_mask"]`` is True.

        A number as `seed` is that of the first row; those of the others follow it. Other
        options are those of the environment; a list as ``options["benchmark"]`` has one
        program per row.
        """
        self._require_open()
        seeds = self._seeds(seed)
        chosen = dict(options or {})
        mask = self._mask(chosen.pop("reset_mask", None))
        rows = [int(row) for row in np.flatnonzero(mask)]
        failures: dict[int, Exception] = {}
        begun = self._begin_resets(rows, failures, [seeds[row] for row in rows], chosen)
        exchange(list(_channels(begun).values()))
        results = self._end_resets(begun, failures, chosen)
        if failures:
            raise failures[min(failures)]
        infos: dict[str, Any] = {}
        for row, (observation, info) in results.items():
            self._enter(row, observation, 0.0, False, False)
            infos = self._add_info(infos, info, row)
        self._has_ended = bool(self._ended())
        return self._observe(), infos

    def step(self, actions: Any) -> VectorStepResult:
        """Apply an action in every row and return the batch.

        Raises `InvalidActionError` before anything is applied if one is no action.
        """
        if self._is_closing:
            self._require_open()
        lockstep = self._lockstep
        if lockstep is not None and not self._has_ended:
            batch = self._step_together(lockstep, actions)
            if batch is not None:
                return batch
        ended = self._ended()
        listed = self._actions(actions, ended)
        if ended and self.autoreset_mode is AutoresetMode.DISABLED:
            raise InvalidParameterError(
                f"the episodes of rows {ended} have ended: "
                "expected reset(options={'reset_mask': ...}) before the next step"
            )
        return self._batch(self._step_each(listed, ended))

    def fork(self) -> Self:
        """Return an independent vector environment in the same state."""
        self._require_open()
        twin = object.__new__(type(self))
        forks: list[Any] = []
        try:
            forks.extend(fork_of(env) for env in self.envs)
            memo: dict[int, Any] = {id(self): twin, id(self.envs): forks, id(self._rows): []}
            memo |= {id(old): new for old, new in zip(self.envs, forks, strict=True)}
            state = {k: v for k, v in self.__dict__.items() if k not in _UNCOPIED}
            twin.__setstate__({**deepcopy(state, memo), "envs": forks, "_sampler": self._sampler})
        except BaseException:
            for fork in forks:
                fork.close()
            raise
        return twin

    def close_extras(self, **kwargs: Any) -> None:
        """End every session, also in the middle of a step."""
        self._is_closing = True
        for row in getattr(self, "_rows", ()):
            row.abandon()
        if getattr(self, "_executor", None) is not None:
            assert self._executor is not None
            self._executor.shutdown(wait=True)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the attribute `name` of every row, or what it returns if it is a method."""
        values = [self._attribute(env, name) for env in self.envs]
        return tuple(value(*args, **kwargs) if callable(value) else value for value in values)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return the attribute `name` of every row."""
        return tuple(self._attribute(env, name) for env in self.envs)

    def set_attr(self, name: str, values: Any) -> None:
        """Set the attribute `name`: one value for all rows, or a list with one for each."""
        listed = list(values) if isinstance(values, (list, tuple)) else [values] * self.num_envs
        if len(listed) != self.num_envs:
            raise InvalidParameterError(f"expected {self.num_envs} values, found {len(listed)}")
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

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the environments and the arrays; each episode is replayed when it is read."""
        return {key: value for key, value in self.__dict__.items() if key not in _UNCOPIED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._executor, self._is_closing = None, False
        self._make_rows()

    def _describe(self) -> None:
        if not self.envs:
            raise InvalidParameterError("expected at least one environment, found none")
        first = self.envs[0]
        for name, hint in (("observation_space", "an observation"), ("reward_space", "a reward")):
            if getattr(first, name, True) is None:
                raise InvalidParameterError(
                    f"a vector of environments needs its {name} set: expected {hint}"
                )
        for number, env in enumerate(self.envs):
            for name in ("observation_space", "action_space"):
                mine, other = getattr(first, name), getattr(env, name)
                if mine != other:
                    raise InvalidParameterError(
                        f"sub-environments differ: the {name} of row 0 is {mine!r}, "
                        f"that of row {number} is {other!r}"
                    )
        self.num_envs = count = len(self.envs)
        self.metadata = {**first.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = first.render_mode
        self.single_action_space = first.action_space
        self.single_observation_space = first.observation_space
        self.action_space = batch_space(self.single_action_space, count)
        self.observation_space = batch_space(self.single_observation_space, count)
        self._observations: Any = create_empty_array(
            self.single_observation_space, n=count, fn=np.zeros
        )
        self._is_array = isinstance(self._observations, np.ndarray)
        self._seen: list[Any] = [None] * count
        self._rewards = np.zeros(count)
        self._terminations = [False] * count
        self._truncations = [False] * count
        self._has_ended = False
        self._clock = 0
        self._began = [0] * count
        self._durations = Durations(count)

    def _make_rows(self) -> None:
        self._rows: list[Row] = [
            DirectRow(env)
            if isinstance(env, CompilerEnv) and not isinstance(env, gymnasium.Wrapper)
            else ThreadRow(env, self._threads)
            for env in self.envs
        ]
        self._lockstep = Lockstep.over(self._rows, self._observations)

    def _threads(self) -> Executor:
        if self._executor is None:
            self._executor = ThreadPoolExecutor(self.num_envs, "vector-environment")
        return self._executor

    def _ended(self) -> list[int]:
        """Return the rows whose episodes have ended and are yet to be followed by others."""
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            return []
        if True not in self._terminations and True not in self._truncations:
            return []
        return [n for n in range(self.num_envs) if self._terminations[n] or self._truncations[n]]

    def _step_together(self, lockstep: Lockstep, actions: Any) -> VectorStepResult | None:
        """Step all rows in the usual way; return None if one needs another, or an action is none.

        What the user's own code raises is raised when all have been waited for: that of
        the first row, if there are several.
        """
        listed = actions.tolist() if type(actions) is np.ndarray else actions
        channels = lockstep.begin(listed)
        if channels is None:
            return None
        self._has_ended = True  # as long as it is not known, after an interrupt for example
        if len(channels) <= busy_workers.cores:
            exchange(channels)
        else:
            self._exchange(channels, listed)
        failures: dict[int, Exception] = {}
        others = lockstep.end(self._rewards, failures)
        self._clock += 1
        limit = self.max_episode_steps
        if others or failures or (limit is not None and self._clock - min(self._began) >= limit):
            results = {**lockstep.results(self._rewards), **others}
            for number in failures:
                del results[number]
            return self._batch(self._conclude(results, {}, failures))
        self._has_ended = False
        nowhere, everywhere = lockstep.nowhere, lockstep.everywhere
        return (
            self._observations.copy() if self.copy else self._observations,
            self._rewards.copy(),
            nowhere.copy(),
            nowhere.copy(),
            {
                "action_had_no_effect": lockstep.no_effects.copy(),
                "_action_had_no_effect": everywhere.copy(),
                "new_action_space": nowhere.copy(),
                "_new_action_space": everywhere.copy(),
            },
        )

    def _batch(self, infos: dict[str, Any]) -> VectorStepResult:
        return (
            self._observe(),
            self._rewards.copy(),
            np.array(self._terminations, dtype=np.bool_),
            np.array(self._truncations, dtype=np.bool_),
            infos,
        )

    def _step_each(self, actions: list[Any], resets: list[int]) -> dict[str, Any]:
        """Step the rows one by one, reset those of `resets` instead, and return the infos.

        All are waited for together, and what is raised is as by `_step_together`.
        """
        rows = self._rows
        failures: dict[int, Exception] = {}
        begun: dict[int, Connection | None] = {}
        self._clock += 1
        for number in range(self.num_envs):
            if number not in resets:
                try:
                    begun[number] = rows[number].begin_step(actions[number])
                except Exception as error:
                    failures[number] = error
        restarts = self._begin_resets(resets, failures)
        asked = {**restarts, **begun}
        channels = _channels(asked)
        self._exchange(list(channels.values()), [actions[row] for row in channels], list(channels))
        finish(connection for connection in asked.values() if connection is not None)
        restarted = self._end_resets(restarts, failures)
        results: dict[int, StepResult] = {}
        for number in begun:
            try:
                results[number] = rows[number].end_step()
            except Exception as error:
                failures[number] = error
        return self._conclude(results, restarted, failures)

    def _exchange(
        self, channels: list[Channel], actions: list[Any], rows: Sequence[int] | None = None
    ) -> None:
        """Send what `channels` hold for `actions` of `rows`, all if None, and await the replies."""
        if not busy_workers.takes_turns(len(channels)):
            exchange(channels)
            return
        durations, numbers = self._durations, rows or range(len(channels))
        exchange(channels, durations.guess(numbers, actions))
        durations.learn(numbers, actions, [channel.seconds for channel in channels])

    def _conclude(
        self,
        results: dict[int, StepResult],
        restarted: dict[int, ResetResult],
        failures: dict[int, Exception],
    ) -> dict[str, Any]:
        """Take in what the rows return, start next episodes, and return the infos."""
        said: list[dict[str, Any]] = [{}] * self.num_envs
        finals: dict[int, Any] = {}
        limit = math.inf if self.max_episode_steps is None else self.max_episode_steps
        for number, (seen, info) in restarted.items():
            self._enter(number, seen, 0.0, False, False)
            said[number] = info
        for number, (seen, reward, terminated, truncated, info) in sorted(results.items()):
            truncated = truncated or self._clock - self._began[number] >= limit
            self._enter(number, seen, reward, terminated, truncated)
            said[number] = info
            if (terminated or truncated) and self.autoreset_mode is AutoresetMode.SAME_STEP:
                finals[number] = seen
        infos = self._follow_up(finals, said) if finals else self._gather_infos(said)
        self._has_ended = bool(self._ended())
        if failures:
            raise failures[min(failures)]
        return infos

    def _gather_infos(self, said: list[dict[str, Any]]) -> dict[str, Any]:
        """Return what `_add_info` makes of the rows' infos, at once where all are as usual."""
        infos: dict[str, Any] = {}
        if all(info.keys() == _USUAL and set(map(type, info.values())) == {bool} for info in said):
            for key in _USUAL:
                infos[key] = np.array([info[key] for info in said], dtype=np.bool_)
                infos[f"_{key}"] = np.ones(len(said), dtype=np.bool_)
            return infos
        for row, info in enumerate(said):
            infos = self._add_info(infos, info, row)
        return infos

    def _enter(self, row: int, seen: Any, reward: float, terminated: bool, truncated: bool) -> None:
        self._see(row, seen)
        self._rewards[row] = reward
        self._terminations[row] = terminated
        self._truncations[row] = truncated

    def _see(self, row: int, seen: Any) -> None:
        if self._is_array:
            self._observations[row] = seen
        else:
            self._seen[row] = seen

    def _follow_up(self, finals: dict[int, Any], said: list[dict[str, Any]]) -> dict[str, Any]:
        """Start the next episodes in the same step; what was last goes into the infos."""
        last = {row: {"final_obs": seen, "final_info": said[row]} for row, seen in finals.items()}
        infos = self._gather_infos([{} if row in last else info for row, info in enumerate(said)])
        for row, info in last.items():
            infos = self._add_info(infos, info, row)
        failures: dict[int, Exception] = {}
        begun = self._begin_resets(list(finals), failures)
        exchange(list(_channels(begun).values()))
        restarted = self._end_resets(begun, failures)
        if failures:
            raise failures[min(failures)]
        for row, (seen, info) in restarted.items():
            self._see(row, seen)
            infos = self._add_info(infos, info, row)
        return infos

    def _begin_resets(
        self,
        rows: list[int],
        failures: dict[int, Exception],
        seeds: Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> dict[int, Connection | None]:
        begun: dict[int, Connection | None] = {}
        for number, row in enumerate(rows):
            try:
                seed = None if seeds is None else seeds[number]
                begun[row] = self._begin_reset(row, seed, options)
            except Exception as error:
                failures[row] = error
        return begun

    def _end_resets(
        self,
        begun: Iterable[int],
        failures: dict[int, Exception],
        options: dict[str, Any] | None = None,
    ) -> dict[int, ResetResult]:
        """Return what the resets return; every one is waited for."""
        results: dict[int, ResetResult] = {}
        for row in begun:
            try:
                results[row] = self._end_reset(row, options)
            except Exception as error:
                failures[row] = error
        return results

    def _begin_reset(
        self, row: int, seed: int | None, options: dict[str, Any] | None
    ) -> Connection | None:
        chosen = dict(options or {})
        programs = chosen.get("benchmark")
        if isinstance(programs, (list, tuple)):
            if len(programs) != self.num_envs:
                raise InvalidParameterError(
                    f"expected {self.num_envs} programs, found {len(programs)}"
                )
            chosen["benchmark"] = programs[row]
        elif programs is None and self._sampler is not None:
            base = self.envs[row].unwrapped
            if seed is not None:  # the reset starts the generator of later draws from the seed
                base.np_random = np.random.default_rng([seed, 1])
            chosen["benchmark"] = self._sampler(base)
        self._began[row] = self._clock
        begun = self._rows[row].begin_reset(seed, chosen or None)
        if self._is_closing:  # by another thread, which may not have seen the session of this row
            self.envs[row].unwrapped.close()
            self._require_open()
        return begun

    def _end_reset(self, row: int, options: dict[str, Any] | None) -> ResetResult:
        for _ in range(_TRIES - 1):
            try:
                return self._rows[row].end_reset()
            except BenchmarkInitError:
                if self._sampler is None or (options or {}).get("benchmark") is not None:
                    raise
                self._begin_reset(row, None, options)
        return self._rows[row].end_reset()

    def _actions(self, actions: Any, ended: list[int]) -> list[Any]:
        """Return one action per row, or raise `InvalidActionError`; any will do for `ended`."""
        if isinstance(self.single_action_space, gymnasium.spaces.Discrete):
            # Python's integers: the way to a session is short for them.
            listed = np.asarray(actions).reshape(-1).tolist()
        else:
            listed = list(iterate(self.action_space, actions))
        if len(listed) != self.num_envs:
            raise InvalidActionError(f"expected {self.num_envs} actions, found {len(listed)}")
        for number, (row, action) in enumerate(zip(self._rows, listed, strict=True)):
            if not row.takes(action) and number not in ended:
                raise InvalidActionError(
                    f"{action!r} is not an action of {row.env.action_space!r} in row {number}"
                )
        return listed

    def _observe(self) -> Any:
        if self._is_array:
            return self._observations.copy() if self.copy else self._observations
        self._observations = concatenate(
            self.single_observation_space, self._seen, self._observations
        )
        return deepcopy(self._observations) if self.copy else self._observations

    def _seeds(self, seed: Any) -> list[int | None]:
        if seed is None or isinstance(seed, (int, np.integer)):
            return [None if seed is None else int(seed) + row for row in range(self.num_envs)]
        if len(seed) != self.num_envs:
            raise InvalidParameterError(f"expected {self.num_envs} seeds, found {len(seed)}")
        return list(seed)

    def _mask(self, mask: Any) -> NDArray[np.bool_]:
        if mask is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        array = np.asarray(mask)
        if array.shape != (self.num_envs,) or array.dtype != np.bool_ or not array.any():
            raise InvalidParameterError(
                f"reset_mask is {mask!r}: expected {self.num_envs} booleans, at least one True"
            )
        return array

    def _attribute(self, env: Any, name: str) -> Any:
        return env.get_wrapper_attr(name)

    def _require_open(self) -> None:
        if self.closed or self._is_closing:
            raise ServiceIsClosed("the vector environment is closed")


def _channels(connections: Mapping[int, Connection | None]) -> dict[int, Channel]:
    """Return what holds the requests of `connections`, where something is to be asked."""
    return {
        row: connection.channel
        for row, connection in connections.items()
        if connection is not None and connection.channel is not None
    }


_USUAL = dict.fromkeys(("action_had_no_effect", "new_action_space")).keys()
"""What an environment's info holds after a step that went well: two truth values."""
_UNCOPIED = ("_rows", "_lockstep", "_executor")
"""What is made anew for a copy."""
