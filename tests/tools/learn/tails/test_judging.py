# SPDX-License-Identifier: MIT
"""The comparison of orders of tails."""

import numpy as np
import pytest

from compiler_gym.tools.learn.tails.judging import judge, save_first
from compiler_gym.tools.learn.tails.llvm.learning import TailRun


def test_a_judgement_is_repeatable_and_none_is_below_the_base(run: TailRun):
    pytest.importorskip("lightgbm", reason="needs LightGBM")
    rows = run.judge("validation")
    model = (run.folder / "model.json.xz").read_bytes()
    assert run.judge("validation") == rows
    assert (run.folder / "model.json.xz").read_bytes() == model
    ways = {(row.way, row.tries): row for row in rows}
    assert min(row.saved.pooled.mean for row in rows) >= 0
    assert ways["constant", 1].over_constant.pooled.mean == 0
    most = ways["all tails", len(run.tails)].saved.pooled.mean
    assert all(row.saved.pooled.mean <= most for row in rows)
    assert most > 0


def test_a_judgement_adds_up(run: TailRun):
    labels = run.labels("train", "validation")
    order = np.tile(np.arange(len(run.tails)), (len(labels.names), 1))
    saved = save_first(labels, order, 2)
    judged = judge(labels, saved)
    assert judged.pooled.mean == pytest.approx(saved.sum() / labels.instructions.sum())
    assert judged.packages.mean == pytest.approx(labels.weights @ saved)
    assert judged.pooled.low <= judged.pooled.mean <= judged.pooled.high
