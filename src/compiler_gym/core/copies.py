# SPDX-License-Identifier: MIT
"""Copies of an environment: forks, deep copies and pickles.

A fork copies the process and is exact; a pickle carries the actions and replays
them. What has a process or points back at its environment is rebuilt.
"""

import copy
from collections.abc import Sequence
from typing import Any, Self

from compiler_gym.core.plan import RewardChoice
from compiler_gym.core.requests import Requests
from compiler_gym.core.views import ObservationView, RewardView
from compiler_gym.service.messages import Step, Stepped
from compiler_gym.spaces import Reward

__all__ = ["Copies"]


class Copies(Requests):
    """How an environment is copied."""

    _made_with: tuple[tuple[Any, ...], dict[str, Any]]
    """What the constructor was called with."""

    def fork(self) -> Self:
        """Return an independent environment in exactly the same state.

        Its process is a copy of this one's. It has its own random generators,
        which continue as these would. Raises `ServiceError` if the worker is lost on the
        way; the next step then reports the end of the episode.
        """
        twin = self._twin()
        if self.in_episode:
            assert self._connection is not None
            assert self._episode is not None
            twin._episode = self._episode.fork()
            forked = self._connection.fork()
            if forked is None:
                twin._replay(self._episode.actions)
            else:
                twin._connection = forked
                twin._watch(forked)
        return twin

    def __copy__(self) -> Self:
        raise TypeError("an environment has a process: use copy.deepcopy() or fork()")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.fork()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Remember the arguments, so that another process can make the same environment."""
        self = super().__new__(cls)
        self._made_with = (args, kwargs)
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what makes this environment and where its episode stands.

        Unpickling replays the episode in a new worker. Spaces that were added
        after the environment was made are not part of it, but for rewards in use.
        """
        args, kwargs = self._made_with
        snapshot = {
            "spec": self.spec,
            "benchmark": self._benchmark,
            "next_benchmark": self._next_benchmark,
            "action_space": self._action_space_name,
            "observation_space": self._observations.names,
            "reward_space": self._rewards.names,
            "rewards_in_use": self._rewards.rewards,
            "rewards": {name: r.__dict__ for name, r in self.reward.spaces.items()},
            "episode": self._episode.fork() if self._episode and self.in_episode else None,
            "np_random": self._np_random,
            "np_random_seed": self._np_random_seed,
        }
        return _remake, (type(self), args, kwargs, snapshot)

    def _restore(self, snapshot: dict[str, Any]) -> None:
        self.spec = snapshot["spec"]
        self._benchmark = snapshot["benchmark"]
        self._next_benchmark = snapshot["next_benchmark"]
        self._set_action_space(snapshot["action_space"])
        self.observation_space = snapshot["observation_space"]
        for reward in snapshot["rewards_in_use"]:
            if reward.name not in self.reward.spaces:
                self.reward.add_space(reward)
        self.reward_space = snapshot["reward_space"]
        self._np_random = snapshot["np_random"]
        self._np_random_seed = snapshot["np_random_seed"]
        for name, numbers in snapshot["rewards"].items():
            if name in self.reward.spaces:
                self.reward.spaces[name].__dict__.update(numbers)
        self._episode = snapshot["episode"]
        if self._episode is not None:
            self._replay(self._episode.actions)

    def _twin(self) -> Self:
        twin = type(self).__new__(type(self), *self._made_with[0], **self._made_with[1])
        twin.__dict__.update(self._copied_attributes())
        twin._connection = None
        twin._episode = None
        twin._finalizer = None
        twin._rebind()
        return twin

    def _copied_attributes(self) -> dict[str, Any]:
        """Return the attributes of a copy; what has a process or a binding is left out."""
        left_out = ("_connection", "_finalizer", "observation", "reward", "_plan")
        attributes = {k: v for k, v in self.__dict__.items() if k not in left_out}
        attributes["_observation_specs"] = list(self.observation.spaces.values())
        attributes["_reward_spaces"] = copy.deepcopy(list(self.reward.spaces.values()))
        # Together: the space in use is one of those built, unless an action replaced it.
        attributes["_built_action_spaces"], attributes["_action_space"] = copy.deepcopy(
            (self._built_action_spaces, self._action_space)
        )
        attributes["_np_random"] = copy.deepcopy(self._np_random)
        attributes["datasets"] = self.datasets.copy()
        return attributes

    def _rebind(self) -> None:
        """Rebuild what refers to this object after its attributes were copied."""
        attributes = self.__dict__
        self.observation = ObservationView(self._ask, attributes.pop("_observation_specs"))
        self.reward = RewardView(attributes.pop("_reward_spaces"), self.observation)
        shape = self._rewards.shape
        self._rewards = RewardChoice(
            [self.reward.spec(reward.name) for reward in self._rewards.rewards], shape
        )
        self._replan()

    def _replay(self, actions: Sequence[Any]) -> None:
        """Bring a fresh session to where `actions` lead, keeping the episode's numbers."""
        kept, numbers = self._episode, self._reward_numbers()
        assert self._benchmark is not None
        self._begin(self._benchmark, None)
        if actions:
            reply = self._call(Step(list(actions), []))
            assert isinstance(reply, Stepped)
            if reply.action_space is not None:
                self._replace_action_space(reply.action_space)
        for reward, state in numbers:
            reward.__dict__.update(state)
        self._episode = kept

    def _reward_numbers(self) -> list[tuple[Reward, dict[str, Any]]]:
        return [(reward, dict(reward.__dict__)) for reward in self.reward.spaces.values()]


def _remake(
    cls: type[Copies], args: tuple[Any, ...], kwargs: dict[str, Any], snapshot: dict[str, Any]
) -> Copies:
    env = cls(*args, **kwargs)
    env._restore(snapshot)
    return env
