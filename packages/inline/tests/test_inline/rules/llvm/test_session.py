# SPDX-License-Identifier: MIT
"""The session refuses programs that are not bundled, and actions that are not text."""

from pathlib import Path

import pytest

from compiler_gym.errors import BenchmarkInitError, InvalidActionError, UnknownNameError
from compiler_gym.session import BenchmarkSpec
from compiler_gym_inline.rules.llvm.session import LlvmRuleSession


def start(folder: Path, contents: bytes) -> LlvmRuleSession:
    benchmark = BenchmarkSpec("benchmark://user-v0/mine", contents)
    return LlvmRuleSession(folder / "work", LlvmRuleSession.action_spaces[0], benchmark)


@pytest.mark.parametrize("contents", [b"", b"../programs/sha", b"sha\n", b"BC\xc0\xde"])
def test_only_bundled_programs_can_be_linked(tmp_path: Path, contents: bytes) -> None:
    with pytest.raises(BenchmarkInitError, match="no bundled program"):
        start(tmp_path, contents)


def test_actions_are_texts_and_observations_have_names(tmp_path: Path) -> None:
    session = start(tmp_path, b"crc32")
    with pytest.raises(InvalidActionError, match="is not text"):
        session.apply_action(3)
    with pytest.raises(UnknownNameError, match="no observation space 'Size'"):
        session.get_observation("Size")
