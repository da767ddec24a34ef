# SPDX-License-Identifier: MIT
"""The functions that compute the observations, by their names in the table. Runs in a worker.

Everything that the engine offers has a name already: ``Module.text`` is a method, ``loop_forest`` a
function. This module adds the computations that need more than one call.
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from operator import methodcaller
from typing import Any

from msgspec import structs

from compiler_gym import _llvm
from compiler_gym.envs.llvm.actions.codegen_options import find_numbers
from compiler_gym.envs.llvm.observations import TABLE
from compiler_gym.envs.llvm.observations.costs import AT_RESET
from compiler_gym.envs.llvm.observations.cpu import cpu_info
from compiler_gym.envs.llvm.observations.ir2vec import vocabulary_path
from compiler_gym.envs.llvm.state.program import Program
from compiler_gym.errors import TableError
from compiler_gym.session import (
    BoxSpec,
    DictSpec,
    ObservationSpec,
    SpaceSequenceSpec,
    TextSpec,
)
from compiler_gym.tables import Observation, Table

__all__ = ["COMPUTE", "ENGINE", "Computation", "describe", "mca_cycles", "observation_specs"]

Computation = Callable[[Program], Any]

_vocabularies: dict[str, _llvm.Ir2VecVocabulary] = {}
_COLUMN = re.compile(r"`([a-z_]+)`")


def describe(row: Observation) -> Observation:
    """Return `row`, with space and default added if it is a table that the engine describes.

    Raises `TableError` if its description names a column that the engine does not have.
    """
    tables = _llvm.describe_tables()
    if row.space is not None or row.compute not in tables:
        return row
    columns = {
        name: (dtype, low, high, width) for name, dtype, low, high, width in tables[row.compute]
    }
    space = DictSpec({name: _column(*facts) for name, facts in columns.items()})
    unknown = sorted(set(_COLUMN.findall(row.description)) - set(space.items))
    if unknown:
        raise TableError(
            f"{row.compute!r} has no columns {', '.join(unknown)}, which the description of "
            f"{row.name} names; there are {', '.join(space.items)}"
        )
    default: dict[str, Any] = {
        name: [] if dtype == "str" else b"" for name, (dtype, *_) in columns.items()
    }
    return structs.replace(row, space=space, default=default)


def observation_specs(table: Table = TABLE) -> tuple[ObservationSpec, ...]:
    """Return the specification of every observation of `table`, for clients."""
    return tuple(describe(row).spec() for row in table.observations)


def _column(dtype: str, low: int, high: int, width: int) -> BoxSpec | SpaceSequenceSpec:
    if dtype == "str":
        return SpaceSequenceSpec(TextSpec())
    return BoxSpec(low, high, (-1, width) if width else (-1,), dtype)


def mca_cycles(module: _llvm.Module) -> float:
    """Return llvm-mca's cycles for one run, with blocks weighted by LLVM's static frequencies."""
    runs = dict(_llvm.call_frequencies(module))
    blocks = _llvm.machine_blocks(module)
    return math.fsum(runs.get(name, 1.0) * frequency * cycles
                     for name, _, _, _, frequency, cycles in blocks)  # fmt: skip


def _vocabulary() -> _llvm.Ir2VecVocabulary:
    path = str(vocabulary_path())
    if path not in _vocabularies:
        _vocabularies[path] = _llvm.Ir2VecVocabulary(path)
    return _vocabularies[path]


def _names_and_vectors(vectors: dict[str, Any]) -> dict[str, Any]:
    return {"names": vectors["names"], "vectors": vectors["functions"]}


def _ir_sha1(program: Program) -> str:
    return hashlib.sha1(program.module.bitcode(), usedforsecurity=False).hexdigest()


def _engine_computations() -> Iterator[tuple[str, Computation]]:
    """Yield the methods of a module and the functions that take one, by their own names."""

    def at_module(call: Callable[[_llvm.Module], Any]) -> Computation:
        return lambda program: call(program.module)

    for name, method in vars(_llvm.Module).items():
        if not name.startswith("_") and callable(method):
            yield f"Module.{name}", at_module(methodcaller(name))
    for name, function in vars(_llvm).items():
        if not name.startswith("_") and callable(function) and not isinstance(function, type):
            yield name, at_module(function)


ENGINE: dict[str, Computation] = {
    **dict(_engine_computations()),
    "assembly": lambda p: p.module.assembly().decode(errors="replace"),
    "ir_sha1": _ir_sha1,
    "ir_hash": lambda p: p.module.ir_hash().hex(),
    "bitcode_file": Program.write_bitcode,
    "codegen_choices": lambda p: find_numbers(p.module.chosen_options()),
    "cpu_info": lambda p: cpu_info(),
    "mca_cycles": lambda p: mca_cycles(p.module),
    "pass_statistics": lambda p: p.history.last(),
    "ir2vec.symbolic": lambda p: _vocabulary().symbolic(p.module)["program"],
    "ir2vec.symbolic_functions": lambda p: _names_and_vectors(_vocabulary().symbolic(p.module)),
    "ir2vec.flow_aware": lambda p: _vocabulary().flow_aware(p.module)["program"],
    "ir2vec.flow_aware_functions": lambda p: _names_and_vectors(_vocabulary().flow_aware(p.module)),
    "executable.is_buildable": lambda p: p.executable.is_buildable(p.module),
    "executable.is_runnable": lambda p: p.executable.is_runnable(p.module),
    "executable.build_times": lambda p: p.executable.build_times(p.module),
    "executable.times": lambda p: p.executable.times(p.module),
    "executable.comparison": lambda p: p.executable.comparison(p.module),
    "executable.text_size": lambda p: p.executable.text_size(p.module),
    "executable.measure_linked_text": lambda p: p.executable.measure_linked_text(p.module),
    "executable.measure_linked_size": lambda p: p.executable.measure_linked_size(p.module),
    "executable.instructions": lambda p: p.executable.instructions(p.module),
}
"""The function that computes an observation's plain value, by the name in its row."""


def _baseline(cost: str, level: str, of: str, compute: Computation, program: Program) -> float:
    """Return the result of `compute` for the program at `level`, cached under the name `cost`."""

    def measure(module: _llvm.Module) -> float:
        return compute(program.other(module))

    make: Callable[[], _llvm.Module] | None = None
    # Functions with optnone have no frequencies, so the program at reset stands in for -O0.
    if level == AT_RESET.option or (of, level) == ("mca_cycles", "O0"):
        cost, make = f"{cost}-{program.goal}", program.load
    elif program.scope.is_program or program.target.asked:
        make = partial(program.at_level, level)
    cost += program.scope.key + program.target.key
    if of.startswith("executable."):
        tools = program.executable.identify_tools(of.removeprefix("executable."))
        cost = f"{cost}-{hashlib.sha256(tools.encode()).hexdigest()[:16]}"
    return program.baselines.cost(program.benchmark.contents, level, cost, measure, make=make)


def _bind_table() -> dict[str, Computation]:
    computations = TABLE.bind(ENGINE)
    for cost in TABLE.costs:
        for name in (*cost.baselines, cost.initial):
            row = TABLE[name]
            computations[name] = partial(
                _baseline, cost.observation, row.level, row.compute, computations[name]
            )
    return computations


COMPUTE: dict[str, Computation] = _bind_table()
"""The function that computes the plain value of each observation, including baselines, by name."""
