# SPDX-License-Identifier: MIT
"""The functions that compute the observations of a session."""

import hashlib
import json
import math
from collections.abc import Callable
from typing import Any, Protocol

from compiler_gym.errors import CompilerError
from compiler_gym_mlir.actions import MOST_OPERATIONS
from compiler_gym_mlir.observations.cost import static_cost
from compiler_gym_mlir.observations.features import compute_features, make_table
from compiler_gym_mlir.observations.graph import make_graph
from compiler_gym_mlir.state.program import Program
from compiler_gym_mlir.toolchain.lowering import lower
from compiler_gym_mlir.toolchain.measuring import Bench
from compiler_gym_mlir.toolchain.peak import peak_gflops

__all__ = ["COMPUTE", "Observed"]


class Observed(Protocol):
    """The parts of a session that observations need."""

    program: Program
    runs: int
    warmups: int

    @property
    def bench(self) -> Bench:
        """The bench that runs the payload."""
        ...

    @property
    def cursor(self) -> str:
        """The tag of the operation that the flat list applies to."""
        ...

    @property
    def flops(self) -> int:
        """Arithmetic operations in the payload."""
        ...

    @property
    def bytes(self) -> int:
        """Bytes of the payload's arguments and results."""
        ...

    def mask(self) -> list[int]:
        """Return the mask of the entries of the flat list."""
        ...


def _feature_vector(session: Observed) -> list[list[float]]:
    program = session.program
    rows = (
        compute_features(operation, program.limits(tag), tag == session.cursor)
        for tag, operation in program.operations.items()
    )
    return make_table(rows, MOST_OPERATIONS)


def _is_runnable(session: Observed) -> bool:
    try:
        session.bench.compile_checked(session.program.text)
    except CompilerError:
        return False
    return True


def _median(session: Observed) -> float:
    return session.bench.median(session.program.text)


def _gflops(session: Observed) -> float:
    return session.flops / (1e3 * max(_median(session), 1e-9))


def _fraction_of_peak(session: Observed) -> float:
    element = "f64" if "f64" in session.program.payload else "f32"
    return _gflops(session) / peak_gflops(element)


COMPUTE: dict[str, Callable[[Observed], Any]] = {
    "ModuleText": lambda s: s.program.text,
    "ModuleHash": lambda s: hashlib.sha256(s.program.text.encode()).hexdigest(),
    "PayloadText": lambda s: s.program.payload,
    "TransformScript": lambda s: s.program.script,
    "LoweredText": lambda s: str(lower(s.program.text)),
    "OperationFeatures": _feature_vector,
    "OperationGraph": lambda s: json.dumps(make_graph(s.program.module)),
    "ScheduleMask": lambda s: s.mask(),
    "CursorOperation": lambda s: s.cursor,
    "FlopCount": lambda s: s.flops,
    "ArithmeticIntensity": lambda s: s.flops / max(1, s.bytes),
    "StaticCost": lambda s: static_cost(s.program.module),
    "StaticCostNaive": lambda s: s.program.naive_cost(static_cost),
    "IsRunnable": _is_runnable,
    "Runtime": lambda s: s.bench.times(s.program.text, s.runs, s.warmups),
    "RuntimeMedian": _median,
    "RuntimeNaive": lambda s: s.bench.naive(),
    "RuntimeNumpy": lambda s: s.bench.numpy(),
    "LogRuntime": lambda s: math.log(max(_median(s), 1e-9)),
    "LogRuntimeNaive": lambda s: math.log(max(s.bench.naive(), 1e-9)),
    "FractionOfPeak": _fraction_of_peak,
    "GflopsPerSecond": _gflops,
    "CompileTime": lambda s: s.bench.compile_seconds(s.program.text),
}
"""The function of each observation, by name."""
