# SPDX-License-Identifier: MIT
"""The environment for loop nests, with a property for each main observation."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from compiler_gym.core import CompilerEnv, CompilerEnvState, DerivedObservation, Listing, Panes
from compiler_gym.datasets import Benchmark, Dataset
from compiler_gym.service import SessionSource
from compiler_gym.spaces import Reward
from compiler_gym.validation import ValidationResult
from compiler_gym_loop_tool.datasets import make_benchmark, make_datasets
from compiler_gym_loop_tool.observations import TIMED
from compiler_gym_loop_tool.observations.derived import list_derived_observations
from compiler_gym_loop_tool.panes import PANES, TREE
from compiler_gym_loop_tool.rewards import make_rewards
from compiler_gym_loop_tool.validation import validate

__all__ = ["SOURCE", "LoopToolEnv"]

SOURCE = SessionSource("compiler_gym_loop_tool.session:LoopToolSession")
_TIMED = frozenset(TIMED)


class LoopToolEnv(CompilerEnv):
    """Transform a loop nest, which is compiled and timed as you do.

    - Actions: ``simple`` (default) resizes the existing loops and ``split`` adds loops, as in
      CompilerGym 0.2.5; ``loops`` moves, splits, merges, fuses and annotates them, as in LoopTune.
    - Observations: GFLOPS, measured or from a static model; the tree as text, as a vector per
      loop, as a graph; the machine's peak and roofline.
    - Rewards: GFLOPS gained, from separate measurements, from alternating measurements of the old
      and the new nest, or from the model; the gain as a share of the peak.
    - End: an episode never ends by itself. It is truncated if a nest computes a different result
      than NumPy (which is a bug), would run for minutes, or cannot run on this machine.
    - Programs: ``loop_tool-cpu-v0``, LoopTune's matmuls, layers, random nests, and your own.

    Nothing is compiled before a time is needed, and each tree is checked against NumPy before it
    is timed. ``info["timing"]`` has the confidence interval of a time.

        >>> import compiler_gym
        >>> with compiler_gym.make("loop_tool-v0", action_space="loops") as env:
        ...     _ = env.reset(benchmark="loop_tool://matmul/m=16,n=16,k=16", reward_space=None)
        ...     _ = env.multistep([env.action_space[name] for name in ("down", "swap_down")])
        ...     print(env.loop_tree)
        for m in 16 : L0
         for k in 16 : L1
          for n in 16 : L2
           C[m, n] += (A[m, k] * B[k, n])
    """

    default_benchmark: ClassVar[str | None] = "benchmark://loop_tool-cpu-v0/1024"
    state_observation: ClassVar[str | None] = "tree_hash"
    uri_keys: ClassVar[tuple[str, ...] | None] = ()
    listing: ClassVar[Listing] = TREE

    def __init__(
        self,
        *,
        datasets: Iterable[Dataset] | None = None,
        rewards: Iterable[Reward] = (),
        derived_observation_spaces: Iterable[DerivedObservation | Mapping[str, Any]] = (),
        **options: Any,
    ) -> None:
        super().__init__(
            SOURCE,
            rewards=(*make_rewards(), *rewards),
            derived_observation_spaces=(*list_derived_observations(), *derived_observation_spaces),
            datasets=make_datasets() if datasets is None else datasets,
            **options,
        )

    @property
    def panes(self) -> Panes:
        """The views that the explorer shows."""
        return PANES

    @property
    def flops(self) -> float:
        """Measured GFLOPS of the current nest."""
        return self.observation["flops"]

    @property
    def flops_deterministic(self) -> float:
        """GFLOPS of the nest according to a static model."""
        return self.observation["flops_deterministic"]

    @property
    def loop_tree(self) -> str:
        """The loop tree as text."""
        return self.observation["loop_tree"]

    @property
    def timing_seconds(self) -> float:
        """Seconds that one timing may take, 0.006 by default; reset with each session.

        Setting it raises `InvalidParameterError` unless it is above 0 and at most 60.
        """
        return float(self.send_param("timing.seconds", ""))

    @timing_seconds.setter
    def timing_seconds(self, seconds: float) -> None:
        self.send_param("timing.seconds", str(seconds))

    def step(
        self,
        action: Any,
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> Any:
        """Apply `action` as `CompilerEnv.step` does, and add ``info["timing"]`` if timed."""
        result = super().step(action, observation_spaces, reward_spaces, timeout=timeout)
        return self._with_timing(result, observation_spaces, reward_spaces)

    def multistep(
        self,
        actions: Iterable[Any],
        observation_spaces: Any = None,
        reward_spaces: Any = None,
        *,
        timeout: float | None = None,
    ) -> Any:
        """Apply `actions` as `CompilerEnv.multistep` does, and add ``info["timing"]`` if timed."""
        result = super().multistep(actions, observation_spaces, reward_spaces, timeout=timeout)
        return self._with_timing(result, observation_spaces, reward_spaces)

    def make_benchmark(self, text: str, name: str = "mine", *, target: str = "cpu") -> Benchmark:
        """Return the program that `text` contains or describes.

        See `compiler_gym_loop_tool.make_benchmark`.
        """
        return make_benchmark(text, name, target=target)

    def validate(
        self, state: CompilerEnvState | None = None, *, rungs: Iterable[str] | None = None
    ) -> ValidationResult:
        """Replay `state` (default: the current one) in a new worker and compare with NumPy.

        `rungs` names the checks: see ``compiler_gym_loop_tool.validation.RUNGS``. None
        runs all of them.
        """
        state = self.state if state is None else state
        reward = state.reward_space
        if (
            reward is not None
            and reward in self.reward
            and not self.reward.spaces[reward].deterministic
        ):
            state = replace(state, reward=None)  # a new measurement would differ
        return validate(state, self._twin, rungs)

    def tree_svg(self) -> str:
        """Return an SVG picture of the loop tree and the cursor in it."""
        from compiler_gym_loop_tool.pictures import tree_svg

        return tree_svg(self.loop_tree, int(self.observation["action_state"][0]))

    def roofline_svg(self) -> str:
        """Return an SVG picture of the nest's performance and the machine's limits."""
        from compiler_gym_loop_tool.pictures import roofline_svg

        return roofline_svg(self.observation["roofline"])

    def roofline_text(self) -> str:
        """Return a text picture of the nest's performance and the machine's limits."""
        return self.observation["roofline_picture"]

    def _with_timing(self, result: Any, observation_spaces: Any, reward_spaces: Any) -> Any:
        selection = self.episode.selection
        plan = selection.plan
        if observation_spaces is not None or reward_spaces is not None:
            plan = selection.plan_for(observation_spaces, reward_spaces)
        if not result[3] and not _TIMED.isdisjoint(plan.names):
            facts = self.send_param("timing.last", "")
            if facts:
                result[4]["timing"] = json.loads(facts)
        return result

    def _state_hash(self) -> str | None:
        return self.observation["tree_hash"]

    def _render_text(self) -> str:
        steps = len(self.actions)
        head = f"# {self.episode.require().benchmark} after {steps} action{'s' * (steps != 1)}"
        return f"{head}\n{self.observation['tree_picture']}"
