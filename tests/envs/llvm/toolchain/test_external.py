# SPDX-License-Identifier: MIT
"""What a build of a project needs is checked at once, by versions and with one advice."""

import importlib.util
import re
from pathlib import Path

import pytest

from compiler_gym.envs.llvm.toolchain.external import external_tools, require_build_tools
from compiler_gym.errors import ProjectError
from compiler_gym.registration import ExternalTool
from tests.stand_ins import always

CLANG = "clang version {}.0.6"
LLD = "Debian LLD {}.1.8 (compatible with GNU linkers)"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("COMPILER_GYM_CLANG", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", always(None))
    return tmp_path


def install(folder: Path, name: str, version: str, lld: str = "ld.lld") -> None:
    """Install a tool that prints `version`, and `lld` for the linker that it runs."""
    path = folder / name
    path.write_text(
        f"#!/bin/sh\ncase $1 in -print-prog-name*) echo {lld};; *) echo '{version}';; esac\n"
    )
    path.chmod(0o755)


def row(name: str) -> ExternalTool:
    return next(tool for tool in external_tools() if tool.name == name)


def test_all_that_is_missing_is_named_at_once_with_one_command(folder: Path) -> None:
    with pytest.raises(ProjectError, match=r"clang-22 is not on PATH; ld\.lld-22 is") as refused:
        require_build_tools()
    assert "`apt install binutils clang-22 lld-22`" in str(refused.value)
    assert not list(folder.iterdir())


@pytest.mark.parametrize("version", ["14", "21", "23", "99"])
def test_a_clang_of_another_version_cannot_build_a_project(folder: Path, version: str) -> None:
    install(folder, "clang", CLANG.format(version))
    install(folder, "ld.lld-22", LLD.format("22"))
    install(folder, "strip", "GNU strip")
    with pytest.raises(ProjectError, match=rf"is clang {version}\.0\.6.*apt install clang-22`"):
        require_build_tools()
    assert row("clang-22").problem
    assert not row("ld.lld-22").problem


def test_the_linker_that_clang_runs_has_to_be_of_its_version(folder: Path) -> None:
    install(folder, "clang-22", CLANG.format("22"), str(folder / "ld.lld"))
    install(folder, "ld.lld", LLD.format("14"))
    install(folder, "ld.lld-22", LLD.format("22"))
    install(folder, "llvm-strip-22", "LLVM version 22.1.8")
    with pytest.raises(ProjectError, match=r"is lld 14\.1\.8, but .*`apt install lld-22`"):
        require_build_tools()
    install(folder, "clang-22", CLANG.format("22"), str(folder / "ld.lld-22"))
    require_build_tools()


def test_a_named_clang_that_is_not_there_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(folder, "clang-22", CLANG.format("22"))
    monkeypatch.setenv("COMPILER_GYM_CLANG", "/nowhere/clang")
    with pytest.raises(ProjectError, match="COMPILER_GYM_CLANG is '/nowhere/clang', which is not"):
        require_build_tools()


def test_a_program_that_prints_no_version_is_not_taken_for_clang(folder: Path) -> None:
    install(folder, "clang", "gcc (Debian 12.2.0-14) 12.2.0")
    with pytest.raises(ProjectError, match=re.escape("does not print a version of clang")):
        require_build_tools()
