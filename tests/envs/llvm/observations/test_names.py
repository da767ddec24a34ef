# SPDX-License-Identifier: MIT
"""The names of numbers are those of the engine."""

from collections.abc import Sequence

import numpy as np
import pytest

from compiler_gym import _llvm
from compiler_gym.envs.llvm.observations.names import (
    AUTOPHASE_FEATURES,
    EDGE_KINDS,
    FUNCTION_FEATURES,
    INST_COUNT_FEATURES,
    NODE_KINDS,
    PROGRAML_TEXTS,
    TOKEN_CATEGORIES,
    TOKEN_KINDS,
)


def numbers(raw: bytes) -> list[int]:
    return np.frombuffer(raw, dtype=np.int64).tolist()


def test_the_tables_of_names_are_those_of_the_engine() -> None:
    assert list(PROGRAML_TEXTS) == _llvm.program_graph_texts()
    assert list(FUNCTION_FEATURES) == _llvm.function_feature_names()
    assert list(TOKEN_CATEGORIES) == _llvm.token_categories()
    assert sorted(TOKEN_KINDS.items()) == _llvm.token_kinds()


def test_the_names_of_features_are_as_many_as_the_engine_counts() -> None:
    module = _llvm.Module(b"define i32 @f(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n")
    counts = dict(zip(INST_COUNT_FEATURES, numbers(module.inst_count()), strict=True))
    assert counts["AddCount"] == counts["RetCount"] == counts["TotalFuncsCount"] == 1
    assert counts["TotalInstsCount"] == 2
    features = dict(zip(AUTOPHASE_FEATURES, numbers(module.autophase()), strict=True))
    assert features["NumAddInst"] == features["NumRetInst"] == features["TotalBlocks"] == 1


@pytest.mark.parametrize(
    "names",
    [
        AUTOPHASE_FEATURES, INST_COUNT_FEATURES, FUNCTION_FEATURES, PROGRAML_TEXTS,
        TOKEN_CATEGORIES, NODE_KINDS, EDGE_KINDS,
    ],
)  # fmt: skip
def test_no_name_stands_for_two_numbers(names: Sequence[str]) -> None:
    assert len(set(names)) == len(names)
