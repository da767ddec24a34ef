# SPDX-License-Identifier: MIT
"""A run from a corpus to labels."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.learn.tails import TailGoal
from compiler_gym.tools.learn.tails.llvm.learning import TailRun

from ...conftest import OPTIONS


def test_labels_are_what_the_tail_leaves_in_a_run_of_the_whole_module(run: TailRun):
    labels = run.labels("validation")
    assert {*labels.packages} == {"m4"}
    for module in sorted({*labels.modules}):
        rows = labels.where(labels.modules == module)
        base = (run.folder / "bases" / "m4" / f"{module}.bc").read_bytes()
        for column, tail in enumerate(run.tails):
            every = _llvm.Module(base)
            every.run_on(tail, rows.names.tolist())
            assert every.instruction_count() == rows.left[:, column].sum()


def test_the_first_tail_saves_most_alone(run: TailRun):
    labels = run.labels("train")
    best = (labels.weights @ labels.savings).max()
    assert labels.weights @ labels.savings[:, 0] > 0.5 * best > 0


def test_the_table_has_the_labels_of_both_goals(run: TailRun, corpus: Path):
    table = run.table()
    own = table.columns
    assert {*own.split} == {"train", "validation", "test"}
    assert {*own.license[own.package == "m4"]} == {"GPL-3+"}
    assert own.features.shape[1] == len(table.features)
    assert OPTIONS.tails <= len(table.tails) == len({*table.tails}) <= OPTIONS.tails + 1
    for split in ("train", "validation"):
        labels, rows = run.labels(split), table.labels("instructions", split)
        assert table.tails_for("instructions") == run.tails
        assert rows.names.tolist() == labels.names.tolist()
        assert rows.left.tolist() == labels.left.tolist()
        assert rows.probes.tolist() == labels.probes.tolist()
    other = TailRun(run.folder, corpus, replace(OPTIONS, goal=TailGoal.BYTES))
    labels = other.labels("train")
    assert other.tails == table.tails_for("bytes")
    assert labels.weights @ labels.savings[:, 0] > 0
    assert labels.sizes.tolist() == own.bytes[own.split == "train"].tolist()


def test_an_interrupted_run_continues_with_the_same_result(
    run: TailRun, corpus: Path, tmp_path: Path
):
    other = tmp_path / "run"
    shutil.copytree(run.folder, other)
    (other / "tails.json").unlink()
    shutil.rmtree(other / "mined")
    lines: list[str] = []
    again = TailRun(other, corpus, OPTIONS, lines.append)
    assert again.tails == run.tails
    assert [line for line in lines if line.startswith("make_base")] == []
    assert (other / "tails.json").read_bytes() == (run.folder / "tails.json").read_bytes()


def test_a_folder_belongs_to_one_set_of_options(run: TailRun, corpus: Path):
    with pytest.raises(InvalidParameterError, match="other options"):
        TailRun(run.folder, corpus, replace(OPTIONS, mined=301))
    TailRun(run.folder, corpus, replace(OPTIONS, jobs=1))
