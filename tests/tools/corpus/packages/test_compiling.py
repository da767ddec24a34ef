"""What compilers offer is the contract that the builder asks for."""

import inspect

import pytest

from compiler_gym.lazy import named
from compiler_gym.registration import compilers
from compiler_gym.tools.corpus.packages import UnitCompiler

OFFERED = [one for one in compilers().values() if one.package_compiler]


def test_at_least_one_compiler_makes_programs_of_packages() -> None:
    assert OFFERED


@pytest.mark.parametrize("compiler", OFFERED, ids=lambda compiler: compiler.name)
def test_what_a_compiler_offers_has_all_parts_of_the_contract(compiler: object) -> None:
    offered = named(compiler.package_compiler)  # type: ignore[attr-defined]  # a Compiler

    for name, method in inspect.getmembers(UnitCompiler, inspect.isfunction):
        if not name.startswith("_"):
            assert inspect.signature(getattr(offered, name)).parameters.keys() == (
                inspect.signature(method).parameters.keys() - {"self"}
            )
    assert offered.packages
    assert offered.level.startswith("-O")
    assert offered.suffix[0] == "."
