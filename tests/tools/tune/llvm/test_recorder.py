# SPDX-License-Identifier: MIT
"""The part of `compiler-gym cc` that keeps what clang compiles."""

import shutil
from pathlib import Path

import pytest

from compiler_gym.lazy import parts
from compiler_gym.tools.tune.llvm import recorder


def test_the_entry_point_names_this_module() -> None:
    assert parts("recorders")["llvm"].load() is recorder
    assert f"apt install {recorder.COMMANDS[0]}" == recorder.INSTALL
    assert [f"{name}++" for name in ("clang",)] == [recorder.CXX_COMMANDS[1]]


@pytest.mark.skipif(shutil.which(recorder.COMMANDS[0]) is None, reason="needs clang")
def test_compiled_sources_of_a_command_are_kept(tmp_path: Path) -> None:
    (tmp_path / "one.c").write_text("int one(void) { return 1; }\n")
    kept = tmp_path / "kept"
    kept.mkdir()
    words = [recorder.COMMANDS[0], "-O2", "-c", "one.c", "-o", "one.o"]
    recorder.record(words, tmp_path, kept)
    assert [path.suffix for path in (kept / "modules").iterdir()] == [".bc"]
