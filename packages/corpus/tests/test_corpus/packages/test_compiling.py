"""What compilers offer is the contract that the builder asks for."""

import inspect
from importlib.metadata import EntryPoint

import pytest

from compiler_gym.lazy import parts
from compiler_gym_corpus.packages import UnitCompiler

OFFERED = [*parts("corpus_builders").values()]


def test_at_least_one_compiler_makes_programs_of_packages() -> None:
    assert OFFERED


@pytest.mark.parametrize("compiler", OFFERED, ids=lambda entry: entry.name)
def test_a_compilers_builder_has_all_parts_of_the_contract(compiler: EntryPoint) -> None:
    offered = compiler.load().unit_compiler

    for name, method in inspect.getmembers(UnitCompiler, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(getattr(offered, name)).parameters.keys() == (
                inspect.signature(method).parameters.keys() - {"self"}
            )
    assert offered.packages
    assert offered.level.startswith("-O")
    assert offered.suffix[0] == "."
