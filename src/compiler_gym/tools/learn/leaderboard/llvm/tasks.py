# SPDX-License-Identifier: MIT
"""The leaderboards of LLVM: IR instructions, code size, retired instructions and inlining."""

from compiler_gym.tools.learn.leaderboard.task import LeaderboardTask, Limit

DEFAULTS = {
    "reward_space": "IrInstructionCountOz",
    "cost": "IrInstructionCount",
    "initial": "IrInstructionCountO0",
    "baseline": "IrInstructionCountOz",
}
"""The default values of a task's fields; the tasks below use them."""

_ENVIRONMENT = "llvm-v0"


def _instruction_count(seconds: float) -> LeaderboardTask:
    return LeaderboardTask(
        f"llvm-ic-{seconds:g}s",
        f"IR instructions of cbench-v1, {seconds:g} s for each program",
        Limit(seconds=seconds),
        environment=_ENVIRONMENT,
        published_baseline="IrInstructionCountOptOz",
    )


def _compilations(count: int) -> LeaderboardTask:
    return LeaderboardTask(
        f"llvm-ic-{count}x",
        f"IR instructions of cbench-v1, {count} compilations of each program",
        Limit(compilations=count, per_sequence=True),
        environment=_ENVIRONMENT,
        published_baseline="IrInstructionCountOptOz",
    )


TASKS = (
    _instruction_count(1),
    _instruction_count(10),
    _instruction_count(60),
    *map(_compilations, (1, 3, 10, 45, 100)),
    LeaderboardTask(
        "llvm-textsize-10s",
        "Bytes of machine code of cbench-v1, 10 s for each program",
        Limit(seconds=10),
        environment=_ENVIRONMENT,
        reward_space="ObjectTextSizeOz",
        cost="ObjectTextSizeBytes",
        initial="ObjectTextSizeO0",
        baseline="ObjectTextSizeOz",
        published_baseline="ObjectTextSizeOptOz",
    ),
    LeaderboardTask(
        "llvm-ic-unseen",
        "IR instructions of cbench-v1, by a policy trained only on generated programs",
        Limit(seconds=10, compilations=100),
        environment=_ENVIRONMENT,
        train=("generator://csmith-v0", "generator://llvm-stress-v0"),
        train_seconds=600,
        published_baseline="IrInstructionCountOptOz",
    ),
    LeaderboardTask(
        "llvm-instructions-60s",
        "Retired instructions of cbench-v1 at run time, against -O3",
        Limit(seconds=60),
        environment=_ENVIRONMENT,
        goal="speed",
        reward_space="RuntimeInstructionsO3",
        cost="RuntimeInstructions",
        initial="RuntimeInstructionsO0",
        baseline="RuntimeInstructionsO3",
        tolerance=0.02,
    ),
    LeaderboardTask(
        "llvm-inline-heuristic",
        "Bytes of machine code of cbench-v1, by an inlining heuristic in one compilation",
        Limit(seconds=60),
        environment="llvm-inline-v0",
        action_space="Inlining",
        reward_space="ObjectTextSizeOz",
        cost="ObjectTextSizeBytes",
        initial="ObjectTextSizeO0",
        baseline="ObjectTextSizeOz",
        published_baseline="ObjectTextSizeOptOz",
    ),
)
"""The tasks, in the order of listings."""
