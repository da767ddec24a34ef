# SPDX-License-Identifier: MIT
"""Rows that build and run the program: whether that works, and how long it takes."""

from compiler_gym.session import DictSpec, ScalarSpec, SequenceSpec
from compiler_gym.tables import Observation

__all__ = ["RUNS"]

_TIMES = SequenceSpec("float", low=0.0)
_TIMES_ARRAY = SequenceSpec("float", low=0.0, as_array=True)
_POSITIVE = ScalarSpec(0.0, None, "float")

RUNS: tuple[Observation, ...] = (
    Observation(
        name="IsBuildable",
        space=ScalarSpec(dtype="bool"),
        description="Whether the program links.",
        compute="executable.is_buildable",
        platform_dependent=True,
        default=False,
    ),
    Observation(
        name="IsRunnable",
        space=ScalarSpec(dtype="bool"),
        description="Whether the program links, says how to run it, and does its first case right.",
        compute="executable.is_runnable",
        platform_dependent=True,
        default=False,
    ),
    Observation(
        name="Buildtime",
        space=_TIMES_ARRAY,
        description="How long code generation and linking take, in seconds: an array of as many "
        "as ``llvm.set_buildtimes_per_observation_count`` says (1), and of none if it cannot be "
        "linked.",
        compute="executable.build_times",
        deterministic=False,
        platform_dependent=True,
        default=[],
    ),
    Observation(
        name="Runtime",
        space=_TIMES_ARRAY,
        description="Wall-clock times of the program's largest case, in seconds: an array of as "
        "many as `runtime_observation_count` says, after `runtime_warmup_runs_count` runs, and of "
        "none if it cannot be run.",
        compute="executable.times",
        deterministic=False,
        platform_dependent=True,
        default=[],
    ),
    Observation(
        name="RuntimeComparison",
        space=DictSpec(
            {
                "speedup": _POSITIVE,
                "low": _POSITIVE,
                "high": _POSITIVE,
                "baseline": _TIMES,
                "candidate": _TIMES,
            }
        ),
        description="How many times as fast the program is as at reset, with its 95 % confidence "
        "interval: processor times of both, run in turns on one processor, outliers left out.",
        compute="executable.comparison",
        deterministic=False,
        platform_dependent=True,
        default={"speedup": 1.0, "low": 0.0, "high": 0.0, "baseline": [], "candidate": []},
    ),
)
