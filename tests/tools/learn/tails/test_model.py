# SPDX-License-Identifier: MIT
"""The model that orders tails."""

from pathlib import Path

import numpy as np
import pytest

from compiler_gym.tools.learn.tails import TailGoal
from compiler_gym.tools.learn.tails.labels import Labels
from compiler_gym.tools.learn.tails.model import TailModel

TAILS = ["function(gvn),function(dce)", "function(dce)", "function(sroa)"]


def make_labels(count: int = 900) -> Labels:
    """Return functions whose first feature decides which of three tails saves something."""
    draw = np.random.default_rng(5)
    kinds = draw.integers(0, 3, count)
    features = draw.normal(size=(count, 6)).astype(np.float32)
    features[:, 0] = kinds
    instructions = np.full(count, 100, np.int32)
    left = np.full((count, 3), 100, np.int32)
    left[np.arange(count), kinds] = 90
    return Labels(
        np.array([f"package{number % 9}" for number in range(count)]),
        np.full(count, "module"),
        np.array([f"function{number}" for number in range(count)]),
        np.arange(count),
        instructions,
        instructions,
        features,
        np.repeat(instructions[:, None], 2, axis=1),
        left,
    )


def test_it_learns_which_tail_helps_and_is_the_same_after_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    pytest.importorskip("lightgbm", reason="needs LightGBM")
    labels = make_labels()
    model = TailModel.fit(labels, ["a", "b"], TAILS, 0)
    expected = model.expect(labels.instructions, labels.features, labels.probes)
    order = model.order(expected)
    assert (order[:, 0] == labels.features[:, 0]).mean() > 0.99
    assert (np.sort(order, axis=1) == np.arange(3)).all()
    again = TailModel.fit(labels, ["a", "b"], TAILS, 0)
    model.save(tmp_path / "one")
    again.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    loaded = TailModel.load(tmp_path / "one")
    assert (loaded.probes, loaded.tails) == (["a", "b"], TAILS)
    same = loaded.expect(labels.instructions, labels.features, labels.probes)
    assert np.array_equal(same, expected)
    savings = np.array([[0.0, 0.01, 0.0], [0.1, 1.0, 3.0]])

    def expect(*_: object) -> "np.ndarray[tuple[int, ...], np.dtype[np.float64]]":
        return savings

    monkeypatch.setattr(loaded, "expect", expect)
    chosen = loaded.choose(labels.instructions, labels.features, labels.probes, 2)
    assert chosen == [[], [TAILS[2], TAILS[1]]]


def test_a_model_without_trees_keeps_the_order_of_its_tails(tmp_path: Path):
    TailModel([], TAILS, "", TailGoal.BYTES).save(tmp_path / "fixed")
    loaded = TailModel.load(tmp_path / "fixed")
    assert (loaded.goal, loaded.tails) == (TailGoal.BYTES, TAILS)
    labels = make_labels(4)
    known = (labels.instructions, labels.features, labels.probes)
    assert (loaded.order(loaded.expect(*known)) == np.arange(3)).all()
    assert loaded.choose(*known, 2) == [TAILS[:2]] * 4
