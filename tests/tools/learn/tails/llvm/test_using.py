# SPDX-License-Identifier: MIT
"""The use of a model on a module."""

from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.tools.learn.tails.llvm.learning import TailRun
from compiler_gym.tools.learn.tails.llvm.using import MODEL, improve

from ...conftest import PROGRAMS


@pytest.mark.parametrize("program", ["qsort", "stringsearch2"])
def test_the_included_model_makes_a_module_no_larger(program: str):
    pytest.importorskip("lightgbm", reason="needs LightGBM")
    module = (PROGRAMS / program / f"{program}.bc").read_bytes()
    improved = improve(module, MODEL)
    assert improved is not None
    base = _llvm.Module(module)
    base.apply_level("Oz")
    assert improved.base_instructions == base.instruction_count()
    assert improved.instructions == _llvm.Module(improved.bitcode).instruction_count()
    assert improved.instructions < improved.base_instructions
    assert improved.seconds >= improved.base_seconds > 0


def test_a_module_gives_the_saving_of_its_labels(run: TailRun, corpus: Path):
    pytest.importorskip("lightgbm", reason="needs LightGBM")
    run.judge("validation")
    labels = run.labels("validation")
    labels = labels.where(labels.modules == "qsort")
    module = (corpus / "packages/m4_1/modules/qsort.bc").read_bytes()
    improved = improve(module, run.folder / "model.json.xz", len(run.tails))
    assert improved is not None
    saved = improved.base_instructions - improved.instructions
    assert 0 <= saved <= labels.savings.max(axis=1).sum()


def test_damaged_bitcode_has_no_result():
    assert improve(b"BC", MODEL) is None
