# SPDX-License-Identifier: MIT
"""What is linked here is what clang and lld link."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune.builds import Binary
from compiler_gym.tools.tune.llvm.flags import FOLDING
from compiler_gym.tools.tune.llvm.linker import Linker, compile_words, list_refused_flags
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld
CLANG = ["clang-22", "-Oz", "-flto", "-fuse-ld=lld", *FOLDING, "-Wl,--strip-all"]


def test_the_fair_rival_is_clangs(binary: Binary, project: Path, tmp_path: Path) -> None:
    linker = Linker(binary, tmp_path)
    made = linker.link("lto", linker.compile("o", ["-Oz", "-flto"]), ["-Oz", "-flto", *FOLDING])
    command = [*CLANG, "main.c", "sort.c", "-o", str(tmp_path / "by-hand")]
    subprocess.run(command, cwd=project, check=True)
    run = [subprocess.run([path], capture_output=True, check=True).stdout
           for path in (made, tmp_path / "by-hand")]  # fmt: skip
    assert run[0] == run[1]
    assert abs(made.stat().st_size - (tmp_path / "by-hand").stat().st_size) < 16


def test_a_failed_compilation_gives_the_reason(binary: Binary, tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"(?s)clang-22.*\(1\).*no-such-flag"):
        Linker(binary, tmp_path).compile("o", ["--no-such-flag"])


@pytest.mark.parametrize("flag", ["-fsanitize=address", "-fprofile-use", "-m32", "--coverage"])
def test_flags_that_a_plan_cannot_honour_are_found(binary: Binary, flag: str) -> None:
    unit = binary.units[0]
    assert list_refused_flags(unit) == []
    words = (*unit.command.words, flag)
    assert list_refused_flags(replace(unit, command=replace(unit.command, words=words))) == [flag]


def test_link_time_optimisation_of_the_build_is_left_to_the_plan(
    binary: Binary, tmp_path: Path
) -> None:
    unit = binary.units[0]
    words = (*unit.command.words, "-flto=thin")
    own = replace(unit, command=replace(unit.command, words=words))
    assert list_refused_flags(own) == []
    assert "-flto=thin" not in compile_words(own, ("-flto",), tmp_path / "x.o")
    assert "-flto" in compile_words(own, ("-flto",), tmp_path / "x.o")


def test_a_static_program_of_another_linker_is_stripped(binary: Binary, tmp_path: Path) -> None:
    source, linked = tmp_path / "main.c", tmp_path / "static"
    source.write_text("int main(void) { return 3; }\n")
    subprocess.run(["clang-22", "-static", source, "-o", linked], check=True)
    stripped = Linker(binary, tmp_path).strip_file("own", linked)
    assert stripped.stat().st_size < linked.stat().st_size
    assert subprocess.run([stripped], check=False).returncode == 3
