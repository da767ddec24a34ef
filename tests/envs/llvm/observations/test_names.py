# SPDX-License-Identifier: MIT
"""The names of numbers are those of the engine."""

from compiler_gym import _llvm
from compiler_gym.envs.llvm.observations.names import (
    FUNCTION_FEATURES,
    PROGRAML_TEXTS,
    TOKEN_CATEGORIES,
    TOKEN_KINDS,
)


def test_the_tables_of_names_are_those_of_the_engine() -> None:
    assert list(PROGRAML_TEXTS) == _llvm.program_graph_texts()
    assert list(FUNCTION_FEATURES) == _llvm.function_feature_names()
    assert list(TOKEN_CATEGORIES) == _llvm.token_categories()
    assert sorted(TOKEN_KINDS.items()) == _llvm.token_kinds()
