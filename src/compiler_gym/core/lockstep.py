# SPDX-License-Identifier: MIT
"""Steps several episodes together, if each observes one array, earns one reward and has a worker.

As few functions as possible are called for each episode. After a pass, little of the interpreter
is in the caches, and all workers wait while this runs: a function of 2 µs takes 10 µs here.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from compiler_gym._service import hold_all, settle
from compiler_gym.core.episode import Episode
from compiler_gym.core.pending import StepPending, StepTuple
from compiler_gym.core.plan import ObservationPlan, RawValues
from compiler_gym.errors import CompilerError, ServiceError
from compiler_gym.service import Channel, WorkerConnection, busy_workers
from compiler_gym.service.messages import Step, encode

__all__ = ["Lockstep"]

_MOST_PAYLOADS = 1 << 12
"""The most encoded requests that are kept; some action spaces have more actions."""


class Lockstep:
    """Steps `episodes` together.

    Args:
        episodes: The episodes, each with its own worker.
        observations: The array for the observations, with a row for each episode.
    """

    def __init__(self, episodes: Sequence[Episode], observations: NDArray[Any]) -> None:
        self._episodes = episodes
        self._observations = observations
        self.no_effects = np.zeros(len(episodes), dtype=np.bool_)
        """True if each action had no effect, bool[rows]."""
        self.all_false = np.zeros(len(episodes), dtype=np.bool_)
        """False for every row, bool[rows]."""
        self.all_true = np.ones(len(episodes), dtype=np.bool_)
        """True for every row, bool[rows]."""
        self._plans: list[ObservationPlan] = []
        self._values: list[RawValues] = []
        self._connections: list[WorkerConnection] = []
        self._channels: list[Channel] = []
        self._seconds: list[float] = []
        self._payloads: dict[int, bytes] = {}
        self._stay_awake = False
        self._actions: list[int] = []

    def begin(self, actions: Any) -> list[Channel] | None:
        """Begin a step of all episodes and return the channels that hold the requests.

        Returns None, and begins nothing, if the episodes must be stepped one by one.
        """
        numbers = cast("list[Any]", actions)
        if type(actions) is not list or len(numbers) != len(self._episodes):
            return None
        payloads = self._encode(numbers)
        if payloads is None and self._follow_workers():
            payloads = self._encode(numbers)
        if payloads is None:
            self._adopt()
            return None
        if not hold_all(self._channels, payloads, self._seconds):
            return None
        for episode, action in zip(self._episodes, numbers, strict=True):
            episode.history.actions.append(action)  # type: ignore[union-attr]  # see `_encode`
        self._actions = numbers
        return self._channels

    def _encode(self, numbers: list[Any]) -> list[bytes] | None:
        """Return an encoded request for each action; None if one cannot be stepped this way."""
        if (
            busy_workers.worker_may_look is not self._stay_awake
            or len(self._payloads) > _MOST_PAYLOADS
        ):
            self._stay_awake, self._payloads = busy_workers.worker_may_look, {}
        encoded, payloads = self._payloads, list[bytes]()
        for episode, action, plan, connection, channel in zip(
            self._episodes,
            numbers,
            self._plans,
            self._connections,
            self._channels,
            strict=False,
        ):
            if (
                episode.selection.plan is not plan
                or episode.connection is not connection
                or connection.channel is not channel
                or not episode.can_enter(action)
            ):
                break
            payload = encoded.get(action)
            if payload is None:
                payload = encoded[action] = encode(Step([action], plan.names, self._stay_awake))
            payloads.append(payload)
        return payloads if len(payloads) == len(numbers) else None

    def _follow_workers(self) -> bool:
        """Use the workers that replaced others at a reset; return whether there were any."""
        channels = [connection.channel for connection in self._connections]
        if None in channels or channels == self._channels:
            return False
        self._channels = [channel for channel in channels if channel is not None]
        return True

    def end(
        self, rewards: NDArray[np.float64], failures: dict[int, Exception]
    ) -> dict[int, StepTuple]:
        """Read the replies, and write observations and `rewards`.

        Args:
            rewards: Receives the reward of each episode, float64[rows].
            failures: Receives the exceptions of the user's rewards, by row.

        Returns:
            The results of the rows whose step failed, ended the episode or changed its actions.
        """
        values, actions = self._values, self._actions
        seen_at, cost_at, cost_is_float, *_ = values[0]
        costs = settle(
            self._channels,
            self._observations,
            self.no_effects,
            seen_at,
            cost_at,
            cost_is_float,
            count=len(self._plans[0].names),
        )
        exceptional: dict[int, StepTuple] = {}
        for number, episode in enumerate(self._episodes):
            cost, action = costs[number], actions[number]
            try:
                if cost is None:
                    exceptional[number] = self._read_long_reply(number, action)
                    continue
                update = values[number].reward.update
                reward = float(update([action], [cost], episode.selection.observation))
                rewards[number] = reward
                episode.history.earn(reward)  # type: ignore[union-attr]  # it was under way
            except (CompilerError, ServiceError) as error:
                exceptional[number] = episode.fail(error, self._plans[number])
            except Exception as error:
                failures[number] = error
        return exceptional

    def results(self, rewards: NDArray[np.float64]) -> dict[int, StepTuple]:
        """Return the result of each row, for rows that are not among those that `end`
        returned."""
        return {
            number: (
                self._observations[number].copy(),
                float(rewards[number]),
                False,
                False,
                {"action_had_no_effect": bool(unchanged), "new_action_space": False},
            )
            for number, unchanged in enumerate(self.no_effects)
        }

    def _read_long_reply(self, number: int, action: int) -> StepTuple:
        """Return the result of a step whose reply has more than an array and a number."""
        episode, connection = self._episodes[number], self._connections[number]
        connection.asked = Step([action], self._plans[number].names)
        return StepPending(episode, connection, None, [action], self._plans[number]).result()

    def _adopt(self) -> None:
        """Remember the plans and workers of the episodes, if they can be stepped together."""
        self._plans, self._connections, self._payloads = [], [], {}
        plans, connections, channels = (
            list[ObservationPlan](),
            list[WorkerConnection](),
            list[Channel](),
        )
        first = self._episodes[0].selection.plan
        kind = self._observations.dtype.name, self._observations.shape[1:]
        for episode in self._episodes:
            plan, connection = episode.selection.plan, episode.connection
            if (
                first.raw is None
                or plan.raw is None
                or plan.raw[:5] != first.raw[:5]
                or plan.raw[3:5] != kind
                or plan.names != first.names
                or type(connection) is not WorkerConnection
                or connection.channel is None
            ):
                return
            plans.append(plan)
            connections.append(connection)
            channels.append(connection.channel)
        self._values = [plan.raw for plan in plans if plan.raw is not None]
        self._seconds = [connection.limits.step_seconds for connection in connections]
        self._plans, self._connections, self._channels = plans, connections, channels
