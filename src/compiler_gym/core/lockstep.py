# SPDX-License-Identifier: MIT
"""One step of several episodes that all see one array and earn one reward, in workers each.

Nothing is called for each episode that need not be. After a pass little of the interpreter is
in the caches, and all workers wait while this runs: what takes 2 µs by itself takes 10 here.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from compiler_gym._service import hold_all, settle
from compiler_gym.core.episode import Episode
from compiler_gym.core.pending import StepPending, StepResult
from compiler_gym.core.plan import Plan, RawValues
from compiler_gym.errors import CompilerError, ServiceError
from compiler_gym.service import Channel, WorkerConnection, busy_workers
from compiler_gym.service.messages import Step, encode

__all__ = ["Lockstep"]

_MOST_PAYLOADS = 1 << 12
"""How many requests are kept; there are spaces with more actions."""


class Lockstep:
    """Steps `episodes` and writes what they see into `observations`, with a row for each."""

    def __init__(self, episodes: Sequence[Episode], observations: NDArray[Any]) -> None:
        self._episodes = episodes
        self._observations = observations
        self.no_effects = np.zeros(len(episodes), dtype=np.bool_)
        """Which actions changed nothing, [rows]."""
        self.nowhere, self.everywhere = self.no_effects.copy(), ~self.no_effects
        """What is true of no row, [rows], and what is of all."""
        self._plans: list[Plan] = []
        self._values: list[RawValues] = []
        self._connections: list[WorkerConnection] = []
        self._channels: list[Channel] = []
        self._seconds: list[float] = []
        self._payloads: dict[int, bytes] = {}
        self._stay_awake = False
        self._actions: list[int] = []

    def begin(self, actions: Any) -> list[Channel] | None:
        """Enter a step and return what holds its requests; None if each must do it by itself."""
        numbers = cast("list[Any]", actions)
        if type(actions) is not list or len(numbers) != len(self._episodes):
            return None
        payloads = self._encoded(numbers)
        if payloads is None and self._follow_workers():
            payloads = self._encoded(numbers)
        if payloads is None:
            self._adopt()
            return None
        if not hold_all(self._channels, payloads, self._seconds):
            return None
        for episode, action in zip(self._episodes, numbers, strict=True):
            episode.history.actions.append(action)  # type: ignore[union-attr]  # seen above
        self._actions = numbers
        return self._channels

    def _encoded(self, numbers: list[Any]) -> list[bytes] | None:
        """Return the requests for these actions; None if one is not as usual."""
        if (
            busy_workers.worker_may_look is not self._stay_awake
            or len(self._payloads) > _MOST_PAYLOADS
        ):
            self._stay_awake, self._payloads = busy_workers.worker_may_look, {}
        known, payloads = self._payloads, list[bytes]()
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
            payload = known.get(action)
            if payload is None:
                payload = known[action] = encode(Step([action], plan.names, self._stay_awake))
            payloads.append(payload)
        return payloads if len(payloads) == len(numbers) else None

    def _follow_workers(self) -> bool:
        """Take over workers that were replaced at a reset; return whether there were any."""
        channels = [connection.channel for connection in self._connections]
        if None in channels or channels == self._channels:
            return False
        self._channels = [channel for channel in channels if channel is not None]
        return True

    def end(
        self, rewards: NDArray[np.float64], failures: dict[int, Exception]
    ) -> dict[int, StepResult]:
        """Take in the replies, with the `rewards` of those that are as usual.

        Returns the results of the others; what the user's own code raises goes to `failures`.
        """
        values, actions = self._values, self._actions
        seen_at, cost_at, cost_is_float, *_ = values[0]
        costs = settle(
            self._channels, self._observations, self.no_effects, seen_at, cost_at, cost_is_float
        )
        others: dict[int, StepResult] = {}
        for number, episode in enumerate(self._episodes):
            cost, action = costs[number], actions[number]
            try:
                if cost is None:
                    others[number] = self._said_more(number, action)
                    continue
                update = values[number].reward.update
                reward = float(update([action], [cost], episode.selection.observation))
                rewards[number] = reward
                episode.history.earn(reward)  # type: ignore[union-attr]  # it was under way
            except (CompilerError, ServiceError) as error:
                others[number] = episode.fail(error, self._plans[number])
            except Exception as error:
                failures[number] = error
        return others

    def results(self, rewards: NDArray[np.float64]) -> dict[int, StepResult]:
        """Return the results of the step one by one, as if each row was as usual."""
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

    def _said_more(self, number: int, action: int) -> StepResult:
        """Return the result of a step whose reply is not as usual."""
        episode, connection = self._episodes[number], self._connections[number]
        return StepPending(episode, connection, None, [action], self._plans[number]).result()

    def _adopt(self) -> None:
        """Take over what the episodes ask for, and whom, if they fit: the next step is for us."""
        self._plans, self._connections, self._payloads = [], [], {}
        plans, connections, channels = list[Plan](), list[WorkerConnection](), list[Channel]()
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
