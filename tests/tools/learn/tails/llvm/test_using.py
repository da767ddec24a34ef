# SPDX-License-Identifier: MIT
"""The use of a model on a module."""

from pathlib import Path

import pytest

from compiler_gym import _elf, _llvm
from compiler_gym.tools.learn.tails import TailGoal
from compiler_gym.tools.learn.tails.llvm.learning import TailRun
from compiler_gym.tools.learn.tails.llvm.using import MODELS, improve

from ...conftest import PROGRAMS


@pytest.mark.parametrize("program", ["qsort", "stringsearch2"])
def test_the_included_model_makes_a_module_no_larger(program: str):
    pytest.importorskip("lightgbm", reason="needs LightGBM")
    module = (PROGRAMS / program / f"{program}.bc").read_bytes()
    improved = improve(module, MODELS[TailGoal.INSTRUCTIONS])
    assert improved is not None
    base = _llvm.Module(module)
    base.apply_level("Oz")
    assert improved.before == base.instruction_count()
    assert improved.after == _llvm.Module(improved.bitcode).instruction_count()
    assert improved.after < improved.before
    assert improved.seconds >= improved.base_seconds > 0


def test_a_module_gives_the_saving_of_its_labels(run: TailRun, corpus: Path):
    pytest.importorskip("lightgbm", reason="needs LightGBM")
    run.judge("validation")
    labels = run.labels("validation")
    labels = labels.where(labels.modules == "qsort")
    module = (corpus / "packages/m4_1/modules/qsort.bc").read_bytes()
    improved = improve(module, run.folder / "model.json.xz", len(run.tails))
    assert improved is not None
    saved = improved.before - improved.after
    assert 0 <= saved <= labels.savings.max(axis=1).sum()


@pytest.mark.parametrize("program", ["dijkstra", "qsort", "stringsearch2"])
def test_tails_for_bytes_make_the_object_smaller(program: str):
    module = (PROGRAMS / program / f"{program}.bc").read_bytes()
    improved = improve(module, MODELS[TailGoal.BYTES])
    assert improved is not None
    assert improved.goal == TailGoal.BYTES
    base = _llvm.Module(module)
    base.apply_level("Oz")
    sizes = [
        _elf.function_bytes(_llvm.object_code_in_sections(one))
        for one in (base, _llvm.Module(improved.bitcode))
    ]
    assert [sum(own.values()) for own in sizes] == [improved.before, improved.after]
    assert improved.after < improved.before
    assert all(sizes[1][name] <= size for name, size in sizes[0].items())


def test_damaged_bitcode_has_no_result():
    assert improve(b"BC", MODELS[TailGoal.INSTRUCTIONS]) is None
