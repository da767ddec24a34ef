# SPDX-License-Identifier: MIT
"""Rows that build and run the program: success and duration."""

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
        description="True if the program links.",
        compute="executable.is_buildable",
        platform_dependent=True,
        default=False,
    ),
    Observation(
        name="IsRunnable",
        space=ScalarSpec(dtype="bool"),
        description="True if the program links, specifies how to run it, and passes its first "
        "case.",
        compute="executable.is_runnable",
        platform_dependent=True,
        default=False,
    ),
    Observation(
        name="Buildtime",
        space=_TIMES_ARRAY,
        description="The times of code generation and linking, in seconds: an array of "
        "``llvm.set_buildtimes_per_observation_count`` (default: 1) values, empty if the program "
        "does not link.",
        compute="executable.build_times",
        deterministic=False,
        platform_dependent=True,
        default=[],
    ),
    Observation(
        name="Runtime",
        space=_TIMES_ARRAY,
        description="Wall-clock times of the program's largest case, in seconds: an array of "
        "`runtime_observation_count` values, measured after `runtime_warmup_runs_count` runs; "
        "empty if the program cannot be run.",
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
        description="The speedup over the program at reset, with its 95 % confidence interval: "
        "processor times of both, run alternately on one processor, without outliers.",
        compute="executable.comparison",
        deterministic=False,
        platform_dependent=True,
        default={"speedup": 1.0, "low": 0.0, "high": 0.0, "baseline": [], "candidate": []},
    ),
)
