# SPDX-License-Identifier: MIT
"""Vectors are those of LLVM's own IR2Vec, and a vocabulary that is none is refused."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.observations import ir2vec
from compiler_gym.envs.llvm.observations.ir2vec import vocabulary_path
from compiler_gym.errors import EnvironmentNotSupported

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


@pytest.fixture
def vocabulary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    path = tmp_path / "vocabulary.json"
    monkeypatch.setenv(ir2vec.VARIABLE, str(path))
    ir2vec.dimension.cache_clear()
    yield path
    ir2vec.dimension.cache_clear()


def test_the_length_of_vectors_is_that_of_the_vocabulary(
    vocabulary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vocabulary.write_text('{"Opcodes": {"Add": [0.5, 1.0, 2.0]}, "Types": {}, "Arguments": {}}')
    assert ir2vec.vocabulary_path() == vocabulary
    assert ir2vec.dimension() == 3
    monkeypatch.delenv(ir2vec.VARIABLE)
    ir2vec.dimension.cache_clear()
    ours = json.loads(ir2vec.vocabulary_path().read_bytes())
    assert {len(vector) for vector in ours["Opcodes"].values()} == {ir2vec.dimension()}


@pytest.mark.parametrize(
    "text", [None, "", "{}", "[]", '{"Opcodes": {}}', '{"Opcodes": {"Add": 1}}']
)
def test_an_invalid_vocabulary_is_named_with_the_fix(vocabulary: Path, text: str | None) -> None:
    if text is not None:
        vocabulary.write_text(text)
    with pytest.raises(
        EnvironmentNotSupported, match=rf"{vocabulary} is not an IR2Vec vocabulary.*unset"
    ):
        ir2vec.dimension()
