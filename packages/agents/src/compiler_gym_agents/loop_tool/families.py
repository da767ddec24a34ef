# SPDX-License-Identifier: MIT
"""Generate the loop-nest tasks: random nests by seed, matrix products and network layers.

They are judged by a deterministic cost model, so that rewards are the same on every machine.
"""

from collections.abc import Iterator

from compiler_gym_agents import AgentTask

__all__ = ["agent_tasks"]

_SEEDS = {"train": (0, 60), "validation": (1_000, 12), "test": (2_000, 24)}
_NAMED = {
    "train": ("network-layers-v0/resnet50-conv2-3x3", "network-layers-v0/resnet50-conv3-reduce",
              "network-layers-v0/resnet50-classes", "looptune-matmul-v0/128x128x128",
              "looptune-matmul-v0/64x96x160"),
    "validation": ("network-layers-v0/mlp-mnist-1", "network-layers-v0/mlp-mixer-tokens"),
    "test": ("network-layers-v0/bert-base-query", "network-layers-v0/bert-base-scores",
             "network-layers-v0/bert-base-context", "looptune-matmul-test-v0/64x240x64",
             "looptune-matmul-test-v0/80x176x224"),
}  # fmt: skip
_CALLS = {"easy": 40, "medium": 20, "hard": 10}
_GOAL = "flops_deterministic"
_MOST_ACTIONS = 64


def agent_tasks() -> Iterator[AgentTask]:
    """Yield every task."""
    for split, (first, count) in _SEEDS.items():
        for seed in range(first, first + count):
            difficulty = tuple(_CALLS)[seed % len(_CALLS)]
            yield _task_of_nest(f"generator://loop_nests-v0/{seed}", split, difficulty, seed)
    for split, names in _NAMED.items():
        for name in names:
            yield _task_of_nest(f"benchmark://{name}", split, "hard", 0)


def _task_of_nest(program: str, split: str, difficulty: str, seed: int) -> AgentTask:
    calls = _CALLS[difficulty]
    return AgentTask(
        id=f"tile-a-loop-nest/{program.partition('://')[2]}",
        split=split,
        family="tile-a-loop-nest",
        difficulty=difficulty,
        env_id="loop_tool-v0",
        benchmark=program,
        action_space="loops",
        goal=_GOAL,
        baseline=f"{_GOAL}_at_reset",
        prompt="Make the loop nest as fast as you can: split, move, unroll and vectorise loops and "
        f"pack operands. Its result must not change. The nest is {program}. You are judged by "
        f"{_GOAL}, the GFLOPS that a model predicts: you win if it is above {_GOAL}_at_reset. "
        f"You may call tools {calls} times and apply {_MOST_ACTIONS} actions.",
        more_is_better=True,
        max_calls=calls,
        max_actions=_MOST_ACTIONS,
        seed=seed,
        checks=("numpy",),
    )
