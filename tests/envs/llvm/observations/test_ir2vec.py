# SPDX-License-Identifier: MIT
"""Vectors are those of LLVM's own IR2Vec, and a vocabulary that is none is refused."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.observations.ir2vec import vocabulary_path

MakeEnv = Callable[..., LlvmEnv]
Tool = Callable[..., bytes]


@pytest.mark.parametrize(
    ("name", "kind"), [("IR2Vec", "symbolic"), ("IR2VecFlowAware", "flow-aware")]
)
def test_vectors_are_those_of_llvms_own_tool(
    at_reset: LlvmEnv, tool: Tool, tmp_path: Path, name: str, kind: str
) -> None:
    path = at_reset.write_bitcode(tmp_path / "module.bc")
    flags = (f"--ir2vec-kind={kind}", f"--ir2vec-vocab-path={vocabulary_path()}", "--level=func")
    printed = tool("llvm-ir2vec-22", "embeddings", *flags, path).decode()
    found = at_reset.observation[f"{name}Functions"]
    rows = re.findall(r"^Function: (\S+)\n\s*\[([^\]]*)\]", printed, re.M)
    assert [row[0] for row in rows] == list(found["names"])
    for (_, numbers), vector in zip(rows, found["vectors"], strict=True):
        expected = np.array(numbers.split(), dtype=float)
        assert np.allclose(vector, expected, atol=0.006), "the tool prints two decimals"
    assert np.allclose(at_reset.observation[name], found["vectors"].sum(axis=0))
