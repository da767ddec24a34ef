# SPDX-License-Identifier: MIT
"""The observations: a row for each observation of an MLIR session.

Times are microseconds, as in CompilerGym 0.2.5. A program is timed once in a process, after its
results were found right. ``compute`` holds what the rows name, ``features`` and ``graph`` describe
operations, ``cost`` estimates; all of them run in a worker.
"""

from compiler_gym.envs.mlir.actions import ENTRIES, MOST_OPERATIONS
from compiler_gym.session import (
    BoxSpec,
    ObservationSpec,
    OpaqueSpec,
    ScalarSpec,
    SequenceSpec,
    SpaceSpec,
    TextSpec,
)

__all__ = ["FEATURES", "OBSERVATION_SPACES"]

FEATURES = 166
"""Number of numbers that describe an operation."""
_TIME = ScalarSpec(0, None, "float")
_LOGARITHM = ScalarSpec(None, None, "float")


def _text(name: str, description: str) -> ObservationSpec:
    return ObservationSpec(name, TextSpec(), description, default="")


def _number(name: str, description: str, dtype: str = "float") -> ObservationSpec:
    return ObservationSpec(name, ScalarSpec(0, None, dtype), description, default=0)


def _make_timed(name: str, description: str, space: SpaceSpec = _TIME) -> ObservationSpec:
    default: float | list[float] = 0.0 if isinstance(space, ScalarSpec) else []
    return ObservationSpec(
        name, space, description, deterministic=False, platform_dependent=True, default=default
    )


OBSERVATION_SPACES = (
    _text("ModuleText", "The module as it is, as MLIR prints it."),
    _text("ModuleHash", "The SHA-256 of the module, 64 hexadecimal digits."),
    _text("PayloadText", "The module before any transformation, with its tags."),
    _text("TransformScript", "The transformations so far, as a transform-dialect module."),
    _text("LoweredText", "The module in the LLVM dialect, as it is compiled."),
    ObservationSpec(
        "OperationFeatures",
        BoxSpec(-1024.0, 1024.0, (MOST_OPERATIONS, FEATURES), "float32"),
        "A row for each operation: whether it is at the cursor, its loops' bounds (log2), kinds, "
        "access matrices, arithmetic, depth; zeros where there is none.",
    ),
    ObservationSpec(
        "OperationGraph",
        OpaqueSpec("json"),
        "The operations and the values between them: a dictionary of nodes and edges.",
        default='{"nodes":[],"edges":[]}',
    ),
    ObservationSpec(
        "ScheduleMask",
        BoxSpec(0, 1, (len(ENTRIES),), "uint8"),
        "Which actions of Schedule mean something now: 1 where one does.",
    ),
    _text("CursorOperation", "The tag of the operation at the cursor; empty where none is left."),
    _number("FlopCount", "Arithmetic operations of the payload.", "int"),
    _number("ArithmeticIntensity", "Arithmetic operations for each byte of arguments and results."),
    _number("StaticCost", "An estimate of the instructions that run, without running them."),
    _number("StaticCostNaive", "`StaticCost` of the payload without transformations."),
    ObservationSpec(
        "IsRunnable",
        ScalarSpec(0, 1, "bool"),
        "Whether the module compiles, and computes what it should on random inputs.",
        platform_dependent=True,
        default=False,
    ),
    _make_timed(
        "Runtime",
        "Times of one run, in microseconds.",
        SequenceSpec("float", 0, None, low=0.0, as_array=True),
    ),
    _make_timed("RuntimeMedian", "The median time of one run, in microseconds."),
    _make_timed(
        "RuntimeNaive",
        "`RuntimeMedian` of the payload without transformations, at -O3; where it has more "
        "than 2^27 innermost rounds, as few are timed and the time is multiplied.",
    ),
    _make_timed(
        "RuntimeNumpy",
        "The median time in microseconds that numpy takes for the payload in its type; 0 where it "
        "cannot do it.",
    ),
    _make_timed("LogRuntime", "The natural logarithm of RuntimeMedian.", _LOGARITHM),
    _make_timed("LogRuntimeNaive", "The natural logarithm of RuntimeNaive.", _LOGARITHM),
    _make_timed(
        "FractionOfPeak",
        "GflopsPerSecond as a part of what one thread of this machine reaches at most with numbers "
        "in registers, which is measured.",
    ),
    _make_timed("GflopsPerSecond", "Arithmetic operations per nanosecond."),
    _make_timed("CompileTime", "Seconds of the last compilation of this module."),
)
"""Every observation."""
