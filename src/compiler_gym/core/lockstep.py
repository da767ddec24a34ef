# SPDX-License-Identifier: MIT
"""The step of most vectors: every row has a worker, and all see one array and earn one reward.

Nothing is called for each row that need not be. After a pass little of the interpreter is in
the caches, and all workers wait while this runs: what takes 2 µs by itself takes 10 here.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym._service import hold_all, settle
from compiler_gym.core.plan import Plan, RawValues
from compiler_gym.core.requests import StepResult
from compiler_gym.core.row import DirectRow, Row
from compiler_gym.errors import CompilerError, ServiceError
from compiler_gym.service import Channel, WorkerConnection, crowd
from compiler_gym.service.messages import Step, encode

__all__ = ["Lockstep"]

_MOST_PAYLOADS = 1 << 12
"""How many requests are kept; there are spaces with more actions."""


class Lockstep:
    """Steps `rows` and writes what they see into `observations`, an array with a row for each."""

    def __init__(self, rows: Sequence[DirectRow], observations: NDArray[Any]) -> None:
        self._rows = rows
        self._envs = [row.env for row in rows]
        self._observations = observations
        self.no_effects = np.zeros(len(rows), dtype=np.bool_)
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

    @classmethod
    def over(cls, rows: Sequence[Row], observations: Any) -> "Lockstep | None":
        """Return one if `rows` and `observations` allow for it."""
        direct = [row for row in rows if isinstance(row, DirectRow)]
        if len(direct) < len(rows) or not isinstance(observations, np.ndarray):
            return None
        return cls(direct, observations)

    def begin(self, actions: Any) -> list[Channel] | None:
        """Prepare a step and return what holds its requests; None if the rows must do it."""
        if type(actions) is not list or len(actions) != len(self._envs):
            return None
        if crowd.worker_may_look is not self._stay_awake or len(self._payloads) > _MOST_PAYLOADS:
            self._stay_awake, self._payloads = crowd.worker_may_look, {}
        known, payloads = self._payloads, []
        for env, action, plan, connection in zip(
            self._envs, actions, self._plans, self._connections, strict=False
        ):
            episode = env._episode
            if (
                type(action) is not int
                or not 0 <= action < env._plain_action_count
                or env._plan is not plan
                or env._connection is not connection
                or episode is None
                or not episode.running
            ):
                break
            payload = known.get(action)
            if payload is None:
                payload = known[action] = encode(Step([action], plan.names, self._stay_awake))
            payloads.append(payload)
        if len(payloads) < len(actions):
            self._adopt()
            return None
        if not hold_all(self._channels, payloads, self._seconds):
            return None
        for env, action in zip(self._envs, actions, strict=True):
            env._episode.actions.append(action)  # type: ignore[union-attr]  # seen above
        self._actions = actions
        return self._channels

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
        for number, env in enumerate(self._envs):
            cost, action = costs[number], actions[number]
            try:
                if cost is None:
                    others[number] = self._rows[number].end_step_of(
                        self._connections[number], action, self._plans[number]
                    )
                    continue
                update = values[number].reward.update
                reward = rewards[number] = float(update([action], [cost], env.observation))
                episode = env._episode
                episode.reward = reward + (episode.reward or 0.0)  # type: ignore[union-attr]
            except (CompilerError, ServiceError) as error:
                others[number] = env._failed_step(error, env._plan)
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

    def _adopt(self) -> None:
        """Take over what the rows ask for, and whom, if they fit: the next step is for us then."""
        self._plans, self._connections, self._payloads = [], [], {}
        plans, connections, channels = [], [], []
        first = self._envs[0]._plan
        kind = self._observations.dtype.name, self._observations.shape[1:]
        for env in self._envs:
            plan, connection = env._plan, env._connection
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
