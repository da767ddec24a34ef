# SPDX-License-Identifier: MIT
"""The table of functions and outcomes."""

import pytest

from .test_model import make_labels


def test_savings_are_never_below_zero():
    labels = make_labels(90)
    labels.left[0] = (150, 100, 40)
    assert labels.savings[0].tolist() == [0, 0, 60]
    assert labels.weights.sum() * 100 == pytest.approx(1)


def test_a_part_has_the_same_columns():
    labels = make_labels(90)
    part = labels.where(labels.packages == "package3")
    assert {*part.packages} == {"package3"}
    assert len(part.names) == len(part.left) == len(part.features) == 10
