# SPDX-License-Identifier: MIT
"""What the rows of the table name is what GCC makes of the program."""

import json
from pathlib import Path

import pytest

from compiler_gym.datasets import RunSpec, pack_run
from compiler_gym.session import BenchmarkSpec
from compiler_gym_gcc.observations import TABLE
from compiler_gym_gcc.observations.compute import COMPUTE, ENGINE
from compiler_gym_gcc.state.program import Program
from compiler_gym_gcc.state.settings import Settings
from compiler_gym_gcc.toolchain.spec import get_spec

from ..conftest import needed

TEXT = b"int f(int n) { return n * 3; }\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path / "cache"))


def compiled(folder: Path, text: bytes = TEXT, *, gcc: str = "gcc-12", run: bytes = b"") -> Program:
    benchmark = BenchmarkSpec("benchmark://own-v0/1", text, run=run)
    return Program(get_spec(needed("gcc-12")), benchmark, folder / "work", width=600)


def test_the_engine_has_what_the_table_needs_and_no_more() -> None:
    assert set(COMPUTE) == {row.name for row in TABLE.observations}
    assert set(ENGINE) == {row.compute for row in TABLE.observations}


def test_one_compilation_finds_every_fact_of_its_product(tmp_path: Path) -> None:
    program = compiled(tmp_path)
    level = Settings.alone("-O2")
    data = ENGINE["obj"](program, level)
    assert ENGINE["obj_size"](program, level) == len(data)
    assert len(ENGINE["obj_hash"](program, level)) == 40
    assert 0 < ENGINE["text_size"](program, level) < len(data)
    text = ENGINE["asm"](program, level)
    assert ENGINE["asm_size"](program, level) == len(text.encode())
    assert json.loads(ENGINE["instruction_counts"](program, level))["ret"] == 1
    assert "return n * 3" in ENGINE["source"](program, level)
    assert "Function f" in ENGINE["rtl"](program, level)


def test_the_mask_allows_options_and_then_the_values_of_one(tmp_path: Path) -> None:
    program = compiled(tmp_path)
    settings = Settings(program.spec.options)
    mask = ENGINE["action_mask"](program, settings)
    assert (len(mask), sum(mask)) == (600, len(program.spec.options))
    settings.pending = next(
        at for at, option in enumerate(program.spec.options) if option.name == "-fgcse"
    )
    assert sum(ENGINE["action_mask"](program, settings)) == 3
    assert ENGINE["command_line"](program, settings).endswith("# choosing -fgcse")


def test_runs_are_as_many_as_was_said_before_the_first(tmp_path: Path) -> None:
    text = b"int main(void) { return 0; }\n"
    program = compiled(tmp_path, text, run=pack_run(RunSpec.single()))
    program.set_run_count("runtime_observation_count", "2")
    assert len(ENGINE["runtime"](program, Settings.alone("-O1"))) == 2
    program.set_run_count("runtime_observation_count", "1")
    assert len(ENGINE["runtime"](program, Settings.alone("-O1"))) == 1
