# SPDX-License-Identifier: MIT
"""Policies are found by name, and what is none is refused with what was expected."""

from pathlib import Path

import numpy as np
import pytest

from compiler_gym.errors import PolicyLoadError
from compiler_gym_inline.llvm.policies import find_feature_policy

FILE = """
from compiler_gym_inline.llvm import FeaturePolicy
def decide(features): return features[0] > 0
other = FeaturePolicy.of(lambda features: True)
number = 3
"""


def answer(name: str) -> bool:
    with find_feature_policy(name).compilation() as decide:
        return decide(np.zeros(39, np.int64))


def test_policies_are_found_by_name(tmp_path: Path) -> None:
    path = tmp_path / "rule.py"
    path.write_text(FILE)
    assert not answer("default")
    assert not answer(str(path))
    assert answer(f"{path}:other")


def test_an_invalid_policy_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rule.py"
    path.write_text(FILE)
    for name, words in (
        ("llvm", "use default, FILE.py"),
        (f"{path}:nothing", "has no attribute 'nothing'"),
        (f"{path}:number", "not a function or class"),
        (str(tmp_path / "absent.py"), "no file"),
    ):
        with pytest.raises(PolicyLoadError, match=words):
            find_feature_policy(name)
    path.write_text("1 / 0")
    with pytest.raises(PolicyLoadError, match="ZeroDivisionError"):
        find_feature_policy(str(path))
