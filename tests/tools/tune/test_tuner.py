# SPDX-License-Identifier: MIT
"""The tuner fulfils the contract."""

import inspect
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError, UnknownNameError
from compiler_gym.tools.tune import Tuner, list_sources, require_honoured, tuner_named
from compiler_gym.tools.tune.builds import find_binaries
from compiler_gym.tools.tune.llvm.llvm_tuner import LlvmTuner
from tests.tools.tune.builds.projects import record, write_project


def test_a_tuner_has_what_the_contract_names() -> None:
    for name, member in inspect.getmembers(Tuner):
        if name.startswith("_"):
            continue
        found = getattr(LlvmTuner, name)
        if inspect.isfunction(member):
            assert list(inspect.signature(found).parameters) == list(
                inspect.signature(member).parameters
            )


def test_flags_that_no_plan_can_honour_are_refused_by_name(tmp_path: Path) -> None:
    tree = write_project(tmp_path / "tree")
    (binary,) = find_binaries(record(tree, tmp_path / "record", "make").events(), tree)
    require_honoured(binary, lambda unit: [])
    with pytest.raises(ProjectError, match=r"main\.c is compiled with -a -b, which a plan does"):
        require_honoured(binary, lambda unit: ["-a", "-b"] if unit.path.name == "main.c" else [])
    sources = list_sources(binary, binary.units)
    assert [source.path for source in sources] == [binary.name_unit(unit) for unit in binary.units]
    assert len({source.sha256 for source in sources}) == len(binary.units)


@pytest.mark.parametrize("name", ["llvm", "llvm 22.1.8", None])
def test_the_compiler_that_can_be_tuned_has_a_tuner(name: str | None) -> None:
    assert type(tuner_named(name)).__name__ == "LlvmTuner"


@pytest.mark.parametrize("name", ["", "llvm-22", "mlir", "tcc"])
def test_another_compiler_is_refused(name: str) -> None:
    with pytest.raises(UnknownNameError, match=r"no tuner for the compiler .*: use llvm$"):
        tuner_named(name)


@pytest.mark.parametrize("name", ["gcc", "gcc-12", "/usr/bin/gcc-12", "x86_64-linux-gnu-gcc-12"])
def test_an_environment_is_named_for_the_compiler_that_has_only_that(name: str) -> None:
    with pytest.raises(UnknownNameError, match="GCC is available as the environment gcc-v0"):
        tuner_named(name)
