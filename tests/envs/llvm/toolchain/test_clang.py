# SPDX-License-Identifier: MIT
"""The clang that is named, an installed one, the one in ``ziglang``, or what to install."""

import importlib.util
import shutil
import sys
from pathlib import Path

import pytest

from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.errors import BenchmarkInitError
from tests.stand_ins import always, stand_in


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder on PATH; nothing is named."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("COMPILER_GYM_CLANG", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", always(None))
    return tmp_path


def tool(folder: Path, name: str, version: str = "") -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{version}'\n")
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
    with pytest.raises(BenchmarkInitError, match=r"'/nowhere/clang', which is not a program"):
        clang_command()


def test_ziglang_stands_in_where_none_is_installed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        BenchmarkInitError, match=r"neither clang-22 nor clang .*apt install clang-22"
    ):
        clang_command()
    monkeypatch.setattr(importlib.util, "find_spec", stand_in(lambda name: object()))
    assert clang_command()[:4] == [sys.executable, "-m", "ziglang", "cc"]
    assert "-mcpu=baseline" in clang_command()
    assert shutil.which("clang-22") is None


def test_an_older_clang_reads_sources_and_a_newer_one_is_refused(folder: Path) -> None:
    older = tool(folder, "clang", "Debian clang version 14.0.6")
    assert clang_command() == [older]
    tool(folder, "clang", "clang version 99.1.0-rc1")
    with pytest.raises(
        BenchmarkInitError, match=r"is clang 99\.1\.0.* cannot read: clang-22 is needed"
    ):
        clang_command()
