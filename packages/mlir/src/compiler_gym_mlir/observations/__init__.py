# SPDX-License-Identifier: MIT
"""The observations: one row per observation of an MLIR session.

Times are in microseconds, as in CompilerGym 0.2.5. A program is timed once per process, after its
results have been checked. ``compute`` defines the functions of the rows, ``features`` and
``graph`` describe operations, and ``cost`` estimates; all of them run in a worker.
"""

from compiler_gym.session import (
    BoxSpec,
    ObservationSpec,
    OpaqueSpec,
    ScalarSpec,
    SequenceSpec,
    SpaceSpec,
    TextSpec,
)
from compiler_gym_mlir.actions import ENTRIES, MOST_OPERATIONS

__all__ = ["FEATURES", "OBSERVATION_SPACES"]

FEATURES = 166
"""Number of features of an operation."""
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
    _text("ModuleText", "The current module, as printed by MLIR."),
    _text("ModuleHash", "The SHA-256 hash of the module, 64 hexadecimal digits."),
    _text("PayloadText", "The module before any transformation, with tags."),
    _text("TransformScript", "The transformations so far, as a transform-dialect module."),
    _text("LoweredText", "The module in the LLVM dialect, just before compilation."),
    ObservationSpec(
        "OperationFeatures",
        BoxSpec(-1024.0, 1024.0, (MOST_OPERATIONS, FEATURES), "float32"),
        "One row per operation: 1 at the cursor, the loops' bounds (log2) and kinds, access "
        "matrices, arithmetic, depth; unused rows are zeros.",
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
        "The actions of Schedule that apply now, as a mask of ones.",
    ),
    _text("CursorOperation", "The tag of the operation at the cursor; empty if none is left."),
    _number("FlopCount", "Arithmetic operations in the payload.", "int"),
    _number("ArithmeticIntensity", "Arithmetic operations per byte of arguments and results."),
    _number("StaticCost", "Estimated number of executed instructions, without running them."),
    _number("StaticCostNaive", "`StaticCost` of the payload without transformations."),
    ObservationSpec(
        "IsRunnable",
        ScalarSpec(0, 1, "bool"),
        "True if the module compiles and computes the right results on random inputs.",
        platform_dependent=True,
        default=False,
    ),
    _make_timed(
        "Runtime",
        "Times of single runs, in microseconds.",
        SequenceSpec("float", 0, None, low=0.0, as_array=True),
    ),
    _make_timed("RuntimeMedian", "The median time of one run, in microseconds."),
    _make_timed(
        "RuntimeNaive",
        "`RuntimeMedian` of the payload without transformations, at -O3; of a payload with more "
        "than 2^27 innermost iterations, only 2^27 run and the time is scaled.",
    ),
    _make_timed(
        "RuntimeNumpy",
        "The median time that NumPy takes for the payload in its type, in microseconds; 0 if "
        "NumPy has no such operation.",
    ),
    _make_timed("LogRuntime", "The natural logarithm of RuntimeMedian.", _LOGARITHM),
    _make_timed("LogRuntimeNaive", "The natural logarithm of RuntimeNaive.", _LOGARITHM),
    _make_timed(
        "FractionOfPeak",
        "GflopsPerSecond as a share of the measured peak of one thread of this machine, with "
        "operands in registers.",
    ),
    _make_timed("GflopsPerSecond", "Arithmetic operations per nanosecond."),
    _make_timed("CompileTime", "Seconds of the last compilation of this module."),
)
"""Every observation."""
