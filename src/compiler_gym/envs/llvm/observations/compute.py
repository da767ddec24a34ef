# SPDX-License-Identifier: MIT
"""The functions that compute the observations, by the names in the table. Runs in a worker.

Whatever the engine offers of a module has a name already: ``Module.text`` is the method,
``loop_forest`` the function. What takes more than one call of it stands here.
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
    """Return `row` with its space and default, if it is a table that the engine describes.

    Raises `TableError` where its description names a column that the engine does not have.
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
            f"the description of {row.name} names {', '.join(unknown)}: {row.compute!r} has "
            f"{', '.join(space.items)}"
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
    """Return the cycles of one run by llvm-mca, with blocks as often as it is guessed."""
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


def _of_the_engine() -> Iterator[tuple[str, Computation]]:
    """Yield the methods of a module and the functions that take one, by their own names."""

    def at_module(call: Callable[[_llvm.Module], Any]) -> Computation:
        return lambda program: call(program.module)

    for name, found in vars(_llvm.Module).items():
        if not name.startswith("_") and callable(found):
            yield f"Module.{name}", at_module(methodcaller(name))
    for name, found in vars(_llvm).items():
        if not name.startswith("_") and callable(found) and not isinstance(found, type):
            yield name, at_module(found)


ENGINE: dict[str, Computation] = {
    **dict(_of_the_engine()),
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
"""From what a row of the table names to the plain value of its observation."""


def _baseline(cost: str, level: str, of: str, compute: Computation, program: Program) -> float:
    """Return what `compute` finds of the program at `level`; it is kept under the name `cost`."""

    def measure(module: _llvm.Module) -> float:
        return compute(program.other(module))

    make: Callable[[], _llvm.Module] | None = None
    # What may not be optimised has no frequencies: the program at reset stands for -O0 there.
    if level == AT_RESET.option or (of, level) == ("mca_cycles", "O0"):
        cost, make = f"{cost}-{program.goal}", program.load
    elif program.scope.is_program or program.target.asked:
        make = partial(program.at_level, level)
    cost += program.scope.key + program.target.key
    if of.startswith("executable."):
        tools = program.executable.identify_tools(of.removeprefix("executable."))
        cost = f"{cost}-{hashlib.sha256(tools.encode()).hexdigest()[:16]}"
    return program.baselines.cost(program.benchmark.contents, level, cost, measure, make=make)


def _bound() -> dict[str, Computation]:
    bound = TABLE.bind(ENGINE)
    for cost in TABLE.costs:
        for name in (*cost.baselines, cost.initial):
            row = TABLE[name]
            bound[name] = partial(_baseline, cost.observation, row.level, row.compute, bound[name])
    return bound


COMPUTE: dict[str, Computation] = _bound()
"""From the name of an observation to its plain value, baselines too."""
