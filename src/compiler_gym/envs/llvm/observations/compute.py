# SPDX-License-Identifier: MIT
"""What computes the observations, by the names that the table gives. Runs in a worker.

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
from compiler_gym.envs.llvm.machine.codegen_options import numbers_of
from compiler_gym.envs.llvm.observations import TABLE
from compiler_gym.envs.llvm.observations.costs import AT_RESET
from compiler_gym.envs.llvm.observations.cpu import cpu_info
from compiler_gym.envs.llvm.observations.ir2vec import vocabulary_path
from compiler_gym.envs.llvm.observations.subject import Subject
from compiler_gym.errors import TableError
from compiler_gym.session import (
    BoxSpec,
    DictSpec,
    ObservationSpec,
    SpaceSequenceSpec,
    TextSpec,
)
from compiler_gym.tables import Observation

__all__ = ["COMPUTE", "ENGINE", "Computation", "described", "mca_cycles", "observation_specs"]

Computation = Callable[[Subject], Any]

_vocabularies: dict[str, _llvm.Ir2VecVocabulary] = {}
_COLUMN = re.compile(r"`([a-z_]+)`")


def described(row: Observation) -> Observation:
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


def observation_specs() -> tuple[ObservationSpec, ...]:
    """Return what clients are told of every observation."""
    return tuple(described(row).spec() for row in TABLE.observations)


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


def _rows(vectors: dict[str, Any]) -> dict[str, Any]:
    return {"names": vectors["names"], "vectors": vectors["functions"]}


def _ir_sha1(subject: Subject) -> str:
    return hashlib.sha1(subject.module.bitcode(), usedforsecurity=False).hexdigest()


def _of_the_engine() -> Iterator[tuple[str, Computation]]:
    """Yield the methods of a module and the functions that take one, by their own names."""

    def at_module(call: Callable[[_llvm.Module], Any]) -> Computation:
        return lambda subject: call(subject.module)

    for name, found in vars(_llvm.Module).items():
        if not name.startswith("_") and callable(found):
            yield f"Module.{name}", at_module(methodcaller(name))
    for name, found in vars(_llvm).items():
        if not name.startswith("_") and callable(found) and not isinstance(found, type):
            yield name, at_module(found)


ENGINE: dict[str, Computation] = {
    **dict(_of_the_engine()),
    "assembly": lambda s: s.module.assembly().decode(errors="replace"),
    "ir_sha1": _ir_sha1,
    "ir_hash": lambda s: s.module.ir_hash().hex(),
    "bitcode_file": Subject.write_bitcode,
    "codegen_choices": lambda s: numbers_of(s.module.chosen_options()),
    "cpu_info": lambda s: cpu_info(),
    "mca_cycles": lambda s: mca_cycles(s.module),
    "pass_statistics": lambda s: s.history.last(),
    "ir2vec.symbolic": lambda s: _vocabulary().symbolic(s.module)["program"],
    "ir2vec.symbolic_functions": lambda s: _rows(_vocabulary().symbolic(s.module)),
    "ir2vec.flow_aware": lambda s: _vocabulary().flow_aware(s.module)["program"],
    "ir2vec.flow_aware_functions": lambda s: _rows(_vocabulary().flow_aware(s.module)),
    "program.is_buildable": lambda s: s.program.is_buildable(s.module),
    "program.is_runnable": lambda s: s.program.is_runnable(s.module),
    "program.build_times": lambda s: s.program.build_times(s.module),
    "program.times": lambda s: s.program.times(s.module),
    "program.comparison": lambda s: s.program.comparison(s.module),
    "program.text_size": lambda s: s.program.text_size(s.module),
    "program.linked_text_size": lambda s: s.program.linked_text_size(s.module),
    "program.linked_size": lambda s: s.program.linked_size(s.module),
    "program.instructions": lambda s: s.program.instructions(s.module),
}
"""From what a row of the table names to the plain value of its observation."""


def _baseline(cost: str, level: str, of: str, compute: Computation, subject: Subject) -> float:
    """Return what `compute` finds of the program at `level`; it is kept under the name `cost`."""

    def measure(module: _llvm.Module) -> float:
        return compute(subject.other(module))

    make: Callable[[], _llvm.Module] | None = None
    # What may not be optimised has no frequencies: the program at reset stands for -O0 there.
    if level == AT_RESET.option or (of, level) == ("mca_cycles", "O0"):
        cost, make = f"{cost}-{subject.goal}", subject.load
    elif subject.scope.is_program or subject.target.asked:
        make = partial(subject.at_level, level)
    cost += subject.scope.key + subject.target.key
    if of.startswith("program."):
        tools = subject.program.tools_of(of.removeprefix("program."))
        cost = f"{cost}-{hashlib.sha256(tools.encode()).hexdigest()[:16]}"
    return subject.baselines.cost(subject.benchmark.contents, level, cost, measure, make=make)


def _bound() -> dict[str, Computation]:
    bound = TABLE.bind(ENGINE)
    for cost in TABLE.costs:
        for name in (*cost.baselines, cost.initial):
            row = TABLE[name]
            bound[name] = partial(_baseline, cost.observation, row.level, row.compute, bound[name])
    return bound


COMPUTE: dict[str, Computation] = _bound()
"""From the name of an observation to its plain value, baselines too."""
