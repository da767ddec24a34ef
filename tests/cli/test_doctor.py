# SPDX-License-Identifier: MIT
"""The doctor lists every program outside the library, and its status says if one is missing."""

import json
from pathlib import Path

import pytest

from compiler_gym.tools.tune.llvm.plugin import find_plugin
from tests.command_line import Run
from tests.loading import needs_packages


@needs_packages
def test_a_complete_machine_is_reported_and_fits_a_narrow_screen(cli: Run) -> None:
    ran = cli("doctor", COLUMNS="80")
    assert ran.status == 0
    for name in ("clang-22", "ld.lld-22", "strip", "opt-22", "gcc", "bwrap", "sandbox"):
        assert name in ran.output
    lines = [line for line in ran.output.splitlines() if ".so: /" not in line]  # a path is whole
    assert max(map(len, lines)) <= 80


def test_a_missing_tool_is_named_with_its_install_command(cli: Run, tmp_path: Path) -> None:
    ran = cli("doctor", PATH=str(tmp_path), COLUMNS="80")
    assert ran.status == 1
    assert "apt install binutils clang-22 lld-22" in ran.output
    assert "https://apt.llvm.org" in ran.output
    assert max(map(len, ran.output.splitlines())) <= 80
    document = json.loads(cli("doctor", "--json", PATH=str(tmp_path)).output)
    assert document["is_complete"] is False
    assert {tool["name"] for tool in document["tools"] if tool["works"]} == set()


def test_optional_programs_do_not_change_the_status(cli: Run, tmp_path: Path) -> None:
    for name in ("clang-22", "ld.lld-22", "strip"):
        version = "LLD 22.1.8" if name == "ld.lld-22" else "clang version 22.1.8"
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{version}'\n")
        (tmp_path / name).chmod(0o755)
    ran = cli("doctor", PATH=str(tmp_path))
    assert ran.status == 0
    assert "Install the optional programs with:" in ran.output
    assert "missing" in ran.output


@pytest.mark.parametrize("version", ["14.0.6", "23.0.0"])
def test_another_clang_stops_a_tuning_before_anything_is_copied(
    cli: Run, tmp_path: Path, version: str
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "clang").write_text(f"#!/bin/sh\necho 'clang version {version}'\n")
    (tools / "clang").chmod(0o755)
    ran = cli("tune", "--", "make", PATH=str(tools))
    assert ran.status == 2
    assert f"clang {version}" in ran.errors
    assert "apt install" in ran.errors
    assert "clang-22" in ran.errors
    assert "or older" not in ran.errors
    assert "building it" not in ran.errors
    assert not (tmp_path / "tuned").exists()


@pytest.mark.skipif(find_plugin() is None, reason="needs the size plug-in: `make size-plugin`")
def test_the_path_of_the_size_plug_in_is_one_line(cli: Run) -> None:
    ran = cli("doctor", COLUMNS="40")
    assert f"compiler_gym_size.so: {find_plugin()}" in ran.output.splitlines()
    tools = cli("doctor", "--json").json["tools"]
    assert str(find_plugin()) in [tool["path"] for tool in tools if tool["works"]]


def test_a_size_plug_in_that_cannot_be_loaded_gives_the_reason(cli: Run) -> None:
    ran = cli("doctor", COMPILER_GYM_SIZE_PLUGIN="/none.so")
    assert ran.status == 0
    assert "/none.so does not exist; see COMPILER_GYM_SIZE_PLUGIN" in ran.output
