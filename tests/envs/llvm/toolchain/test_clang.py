# SPDX-License-Identifier: MIT
"""The clang that is named, an installed one, the one in ``ziglang``, or what to install."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.errors import BenchmarkInitError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder on PATH; nothing is named."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("COMPILER_GYM_CLANG", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    return tmp_path


def tool(folder: Path, name: str) -> str:
    path = folder / name
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_the_version_that_the_engine_was_built_with_is_preferred(folder: Path) -> None:
    plain = tool(folder, "clang")
    assert clang_command() == [plain]
    numbered = tool(folder, "clang-22")
    assert clang_command() == [numbered]


def test_the_one_that_is_named_is_taken_and_no_other(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool(folder, "clang-22")
    mine = tool(folder, "mine")
    monkeypatch.setenv("COMPILER_GYM_CLANG", "mine")
    assert clang_command() == [mine]
    monkeypatch.setenv("COMPILER_GYM_CLANG", "/nowhere/clang")
    with pytest.raises(BenchmarkInitError, match=r"found '/nowhere/clang', which is no program"):
        clang_command()


def test_ziglang_stands_in_where_none_is_installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BenchmarkInitError, match=r"expected clang-22 or clang .*apt install"):
        clang_command()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object())
    assert clang_command()[:4] == [sys.executable, "-m", "ziglang", "cc"]
    assert "-mcpu=baseline" in clang_command()
    assert shutil.which("clang-22") is None
