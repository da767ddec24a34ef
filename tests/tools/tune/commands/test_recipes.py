# SPDX-License-Identifier: MIT
"""``compiler-gym cc --recipe`` and ``--policy``: builds get smaller, and need no other change."""

import os
import platform
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.builds import SET_APART, measure_sizes
from compiler_gym.envs.llvm.toolchain import clang_command
from compiler_gym.errors import PlanError, UnknownNameError
from compiler_gym.tools.tune.commands.cc import describe_recipe
from compiler_gym.tools.tune.llvm.plugin import find_linker
from tests.native.driver.trees import DRIVER, POLICY, RECIPE, SOURCES, Tree
from tests.stand_ins import always
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld
MAKEFILE = """
run: main.o libpart.a
\t$(CC) -o $@ main.o -L. -lpart -lm
libpart.a: part.o
\tar rcs $@ $^
%.o: %.c
\t$(CC) -O2 -Wall -Werror -c -o $@ $<
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("how", [RECIPE, POLICY])
def test_a_makefile_builds_a_smaller_program(tmp_path: Path, how: str) -> None:
    tree = Tree(tmp_path)
    tree.write({**SOURCES["parts"], "Makefile": MAKEFILE})
    said = tree.run(f"make 'CC=compiler-gym cc {how}'")[1]
    assert said.count("compiler-gym cc: run: ") == (how == POLICY)
    assert tree.printed("run") == "45\n"
    tree.run("clang-22 -Oz main.c part.c -o plain")
    assert measure_sizes(tmp_path / "run").loaded < measure_sizes(tmp_path / "plain").loaded


def test_recipes_and_policies_are_described_or_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    described = {
        name: [part.split("\0") for part in os.fsdecode(described).split("\0\0")]
        for name in ("size", "small", "small-packed")
        for described in [describe_recipe("policy" if name == "size" else "recipe", name)]
    }
    for (file, stamp, *_), (clang,), *_ in described.values():
        assert Path(file).suffix == ".toml"
        assert stamp.split()[1] == str(Path(file).stat().st_ino)
        assert [clang] == clang_command()
    for kind, name, error, match in (
        ("recipe", "tiny", UnknownNameError, "no recipe 'tiny'; there are small"),
        ("policy", "siz", UnknownNameError, "did you mean size"),
        ("policy", f"{tmp_path}/none.toml", PlanError, "cannot read"),
        ("policy", "old.json", PlanError, "a policy is a plan now: train it again as NAME.toml"),
    ):
        with pytest.raises(error, match=match):
            describe_recipe(kind, name)
    monkeypatch.setattr(platform, "machine", always("riscv64"))
    with pytest.raises(PlanError, match="is for x86_64, but this machine is riscv64"):
        describe_recipe("recipe", "small")


@pytest.fixture
def called(tmp_path: Path) -> Callable[..., list[str]]:
    """Return a function that calls the driver with a compiler that prints its arguments."""
    for name in ("cc", "cxx", "ld"):
        shutil.copy(DRIVER.removesuffix("cc") + name, tmp_path)
    described, clang = describe_recipe("recipe", "small"), clang_command()[0]
    for program in (clang, find_linker(clang)):
        is_alone, printer = f"\0\0{program}\0\0".encode(), f"\0\0{tmp_path}/printer\0\0".encode()
        described = described.replace(is_alone, printer)
    (tmp_path / "described").write_bytes(described)
    tree = Tree(tmp_path)
    tree.write(
        {
            "printer": '#!/bin/sh\nprintf "%s\\n" "$@"\n',
            "compiler-gym": "#!/bin/sh\n"
            'case "$2" in --describe-recipe) cat described;; *) echo library "$@";; esac\n',
        }
    )
    for name in ("printer", "compiler-gym"):
        (tmp_path / name).chmod(0o755)

    def call(line: str, verb: str = "cc", how: str = "--recipe small", **more: str) -> list[str]:
        variables = " ".join(f"{name}={value}" for name, value in more.items())
        words = f"env COMPILER_GYM_CACHE=cache {variables} ./compiler-gym-{verb} {how} {line}"
        return tree.run(words)[0].splitlines()

    return call


FAT = "-Oz -flto -ffat-lto-objects -fno-addrsig"
ADDED = {
    "-c x.c": FAT,
    "-O2 -I 'in clude' '-DA=b c' -MD -MF x.d -c -o x.o x.c": FAT,
    "-c x.s": FAT,
    "x.o -o conftest": "-Oz -fno-lto -fuse-ld=lld",
    "-c conftest.c": "-Oz -fno-lto -fuse-ld=lld",
    "-o cmTC_1f2e x.o": "-Oz -fno-lto -fuse-ld=lld",
    "x.o -o meson-private/sanitycheckc.exe": "-Oz -fno-lto -fuse-ld=lld",
    "x.o -fuse-ld=gold -o conftest": "-Oz -fno-lto",
    "-c x.c -fno-integrated-as": "-Oz -fno-lto -fuse-ld=lld",
    "x.o -o x": f"{FAT} -fuse-ld=lld --ld-path=HERE/compiler-gym-ld",
    "--version": "", "-E x.c": "", "-S x.c": "", "-v": "", "x.o -o": "",
    "-Wl,--version": "-fuse-ld=lld", "-Xlinker --version": "-fuse-ld=lld",
}  # fmt: skip
"""The flags that a call gets behind those of the user."""


@pytest.mark.parametrize("line", ADDED)
def test_added_options_depend_on_the_output_of_the_call(
    called: Callable[..., list[str]], tmp_path: Path, line: str
) -> None:
    alone = called(line, how="", COMPILER_GYM_CC="./printer")
    added = ADDED[line].replace("HERE", str(tmp_path)).split()
    behind = ["--start-no-unused-arguments", *added, "--end-no-unused-arguments"] if added else []
    assert called(line) == [*alone, *behind]
    assert called(line, "cxx") == ["--driver-mode=g++", *alone, *behind]


def test_after_two_hyphens_there_are_only_files(called: Callable[..., list[str]]) -> None:
    assert called("-c -- -x.c")[-3:] == ["--end-no-unused-arguments", "--", "-x.c"]


def test_the_builds_linker_options_follow_the_recipe(
    called: Callable[..., list[str]], tmp_path: Path
) -> None:
    called("-c x.c")
    tree = Tree(tmp_path)
    tree.write({"x.c": "int x;\n"})
    tree.run("clang-22 -flto -c x.c")
    own = ["-m", "elf_x86_64", "--icf=none", "-O0", "-mllvm", "-enable-pre=true", "x.o"]
    words = tree.run(
        f"./compiler-gym-ld {' '.join(own)}",
        COMPILER_GYM_CACHE="cache", COMPILER_GYM_LINK="cc\nrecipe\nsmall",
    )[0].splitlines()  # fmt: skip
    at = words.index("-m")
    assert words[:2] == ["-z", "nostart-stop-gc"]
    assert words[at : at + len(own)] == own
    assert words.index("--icf=safe") < at
    assert "-disable-lsr=true" in words
    assert "-enable-pre=false" not in words


APART = [
    *(flag.removesuffix("$") for flag in SET_APART),
    "-fsanitize=undefined", "-fsanitize-coverage=trace-pc-guard", "-fprofile-generate=dir",
    "-fprofile-use", "-fprofile-sample-use=x", "-fcs-profile-generate", "-fcoverage-mapping",
    "-finstrument-functions", "-fxray-instrument", "-Xclang=-fprofile-instrument=clang",
]  # fmt: skip


def test_flags_that_need_the_compilers_own_passes_are_set_apart(
    called: Callable[..., list[str]],
) -> None:
    for flag in APART:
        assert called(f"{flag} -c x.c") == [flag, "-c", "x.c"]
    for flag in ("-pipe", "-pthread", "-pedantic", "-fno-sanitize=all", "-m64"):
        assert "-Oz" in called(f"{flag} -c x.c")


def test_recorded_calls_are_passed_to_the_library(called: Callable[..., list[str]]) -> None:
    assert called("-c x.c", COMPILER_GYM_CC_OUTPUT="kept")[-1].endswith("printer -c x.c")
    assert called("-c x.c", how="", COMPILER_GYM_CC="./printer") == ["-c", "x.c"]
    for line, more in (("--help", {}), ("-c x.c", {"COMPILER_GYM_CC": "missing"}), ("-c x.c", {
            "COMPILER_GYM_CC_OUTPUT": "kept"})):  # fmt: skip
        assert called(line, how="", **more) == [f"library cc {line}"]


@pytest.mark.parametrize("how", [RECIPE, pytest.param(POLICY, marks=pytest.mark.slow)])
def test_units_that_need_the_compilers_own_passes_are_compiled_without_the_plan(
    tmp_path: Path, how: str
) -> None:
    tree = Tree(tmp_path)
    over = "int main(int n, char **words) { int a[4] = {n}; return a[n + 3] * 0; }\n"
    tree.write({"over.c": over, **SOURCES["parts"]})
    tree.cc("-c part.c", how)  # has IR; the other object has none
    coverage = ("--coverage", "-coverage", "-fprofile-arcs -ftest-coverage")
    for flags in ("-fsanitize=address", "-fprofile-instr-generate", *coverage):
        for file in tmp_path.glob("*.gcda"):
            file.unlink()
        tree.cc(f"-g {flags} over.c part.o -o over", how)
        is_asan = flags == "-fsanitize=address"
        errors = tree.run("./over", status=1 if is_asan else 0)[1]
        assert ("stack-buffer-overflow" in errors) == is_asan
        assert bool(list(tmp_path.glob("*.gcda"))) == (flags in coverage), flags
    assert (tmp_path / "default.profraw").stat().st_size
