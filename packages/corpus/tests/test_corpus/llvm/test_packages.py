"""The modules of a package are what clang would optimise for size, and name no machine."""

import subprocess
from pathlib import Path

import pytest

from compiler_gym.envs.llvm.toolchain.tools import tool_name
from compiler_gym_corpus.llvm.packages import unit_compiler
from compiler_gym_corpus.packages import (
    LockedPackage,
    OwnTests,
    PackageResult,
    build_package,
)
from test_corpus.packages.sources import LIMITS, FolderSupplier, make_source, needs_tools

pytestmark = needs_tools

SOURCES = {
    "main.c": "#include <assert.h>\nint f(int);\n"
    "int main(int n, char **w) { assert(n); return f(n) - 2; }\n",
    "f.c": "int f(int n) { return helper(n); }\nint helper(int n) { return n + 1; }\n",
    "unused.c": "static __attribute__((always_inline)) int mix(int n) { return n ^ n >> 3; }\n"
    "int unused(int n) { return mix(n); }\n",
    "Makefile": "CFLAGS = -O2 -g -fno-tree-sra -ffile-prefix-map=/run/build=x\n"
    "run: main.o lib.a\n\tgcc main.o lib.a -o run\n"
    "lib.a: f.o unused.o\n\tar rc lib.a f.o unused.o\n"
    "check:\n\t./run\n",
}


def built(folder: Path) -> tuple[PackageResult, Path]:
    output = folder / "output"
    output.mkdir(parents=True)
    make_source(folder, "tiny", SOURCES, "$(MAKE)")
    result = build_package(
        LockedPackage("tiny", "1"),
        output,
        supplier=FolderSupplier(folder),
        compiler=unit_compiler,
        limits=LIMITS,
    )
    return result, output


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> tuple[PackageResult, Path]:
    return built(tmp_path_factory.mktemp("package"))


def text_of(path: Path) -> str:
    done = subprocess.run(
        [tool_name("llvm-dis"), "-o", "-", path], check=True, capture_output=True, text=True
    )
    return done.stdout.partition("\n")[2]  # the first line names the file


def test_each_source_is_a_module_that_is_to_be_small(result: tuple[PackageResult, Path]) -> None:
    found, output = result
    assert [module.file for module in found.modules] == ["main.c", "f.c", "unused.c"], found
    for module in found.modules:
        text = text_of(output / "modules" / f"{module.sha256}.bc")
        assert " minsize " in text
        assert "noinline" not in text
        assert "alwaysinline" not in text
        assert "@mix" not in text
        assert "alloca" in text
        assert "!DICompileUnit" not in text
        assert "/run/" not in text
        assert str(output.parent) not in text


def test_numbers_are_those_of_the_text(result: tuple[PackageResult, Path]) -> None:
    found, output = result
    for part in (*found.modules, *found.programs):
        folder = "modules" if part in found.modules else "programs"
        text = text_of(output / folder / f"{part.sha256}.bc")
        assert part.functions == text.count("\ndefine ")
        assert part.instructions >= part.functions


def test_a_program_is_linked_from_its_dependencies(result: tuple[PackageResult, Path]) -> None:
    found, output = result
    (program,) = found.programs
    text = text_of(output / "programs" / f"{program.sha256}.bc")
    assert "define dso_local i32 @main" in text
    assert "@helper" in text
    assert "@unused" not in text
    assert (program.tests, found.test_command[-1]) == (OwnTests.PASSED, "check")


@pytest.mark.slow
def test_the_same_source_gives_the_same_bytes_in_any_folder(
    result: tuple[PackageResult, Path], tmp_path: Path
) -> None:
    again, _ = built(tmp_path / "somewhere" / "else")

    assert again.modules == result[0].modules
    assert [one.sha256 for one in again.programs] == [one.sha256 for one in result[0].programs]
    assert again.compiler == result[0].compiler
    assert again.compiler
