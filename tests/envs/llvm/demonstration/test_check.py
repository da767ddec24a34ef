# SPDX-License-Identifier: MIT
"""LLVM's own opt runs the command and counts what comes out."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from compiler_gym.envs.llvm.demonstration.check import count, find_opt, reproduce

needs_opt = pytest.mark.skipif(shutil.which("opt-22") is None, reason="needs opt-22")
CRC32 = Path(__file__).parents[4] / "programs" / "crc32" / "crc32.bc"


def printed_instructions(bitcode: Path) -> int:
    text = subprocess.check_output(["llvm-dis-22", bitcode, "-o", "-"], text=True)
    bodies = re.findall(r"^define [^\n]*\{\n(.*?)^\}", text, re.S | re.M)
    return sum(bool(re.match(r"  [^ \]]", line)) for body in bodies for line in body.splitlines())


@needs_opt
def test_instructions_are_those_that_the_disassembler_prints() -> None:
    assert count("opt-22", CRC32) == printed_instructions(CRC32) > 100


@needs_opt
def test_a_command_is_run_in_its_folder_and_its_output_counted(tmp_path: Path) -> None:
    shutil.copy(CRC32, tmp_path / "crc32.bc")
    found = reproduce("opt-22 '-passes=function(sroa)' crc32.bc -o crc32.found.bc", tmp_path)
    assert found == printed_instructions(tmp_path / "crc32.found.bc") < count("opt-22", CRC32)


@needs_opt
def test_a_command_that_fails_is_an_error_with_the_words_of_opt(tmp_path: Path) -> None:
    shutil.copy(CRC32, tmp_path / "crc32.bc")
    with pytest.raises(subprocess.CalledProcessError, match="non-zero exit status") as failure:
        reproduce("opt-22 -passes=nonsense crc32.bc -o out.bc", tmp_path)
    assert "unknown pass name" in failure.value.stderr


def test_an_opt_of_another_version_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_opt("22.1.0") is None
    (tmp_path / "opt").write_text("#!/bin/sh\necho '  LLVM version 21.1.2'\n")
    (tmp_path / "opt").chmod(0o755)
    assert find_opt("22.1.0") is None
    assert find_opt("21.0") == "opt"
    (tmp_path / "opt-21").write_text("no program")
    (tmp_path / "opt-21").chmod(0o755)
    assert find_opt("21.0") == "opt", "one that does not run is passed over"
