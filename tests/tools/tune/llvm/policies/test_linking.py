# SPDX-License-Identifier: MIT
"""What is linked by a policy is never larger than plainly, and no build fails because of one."""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.builds import CompilerCommand, measure_sizes
from compiler_gym.tools.tune import BinaryPlan, recipe_named
from compiler_gym.tools.tune.llvm.policies import FEATURES, Policy, link, write_policy

pytestmark = pytest.mark.skipif(
    shutil.which("clang-22") is None or shutil.which("ld.lld-22") is None,
    reason="needs clang-22 and lld-22",
)

RAW = ("clang-22", "-Oz", "-flto", "-Xclang", "-disable-llvm-passes", "-c")
PLAIN = ("clang-22", "-Oz", "-flto", "-fuse-ld=lld", "-Wl,--gc-sections", "-Wl,--icf=safe")
PART = """
int part(int n) {
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i % 7 ? i * n : i - n;
    return sum;
}
int unused(int n) { return part(n) * part(n + 1); }
"""
MAIN = """
#include <stdio.h>
int part(int);
int main(int count, char **words) { printf("%d\\n", part(count + 4)); return 0; }
"""
SMALL = recipe_named("small").plan
LARGE = replace(SMALL, name="large", linker=("-Wl,-z,max-page-size=65536", "-Wl,--export-dynamic"))
IMPOSSIBLE = BinaryPlan("impossible", "link-time", passes="no-such-pass")


def by(folder: Path, plan: BinaryPlan) -> Path:
    """Return the file of a policy that always chooses `plan`."""
    zeros = (0.0,) * len(FEATURES)
    policy = Policy(
        "llvm 22", "x86_64", "small", (plan,), zeros, (1.0,) * len(FEATURES), ((*zeros, 0.0),)
    )
    write_policy(policy, folder / "policy.json")
    return folder / "policy.json"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "part.c").write_text(PART)
    (tmp_path / "main.c").write_text(MAIN)
    for name in ("part", "main"):
        words = [*RAW, f"{name}.c", "-o", f"{name}.o"]
        subprocess.run(words, cwd=tmp_path, check=True)
    subprocess.run(["ar", "rcs", "libpart.a", "part.o"], cwd=tmp_path, check=True)
    return tmp_path


def linked(
    folder: Path,
    plan: BinaryPlan,
    *words: str,
    is_checked: bool = True,
    is_packed: bool = False,
    compiler: str = "cc",
) -> tuple[int | None, list[str]]:
    said: list[str] = []
    command = CompilerCommand.parse([compiler, *words], folder)
    status = link(
        by(folder, plan), command, is_checked=is_checked, is_packed=is_packed, say=said.append
    )
    return status, said


def printed(program: Path) -> str:
    return subprocess.run([program], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "words",
    [
        ("main.o", "part.o"), ("main.o", "libpart.a"), ("main.o", "-L.", "-lpart"),
        ("main.c", "part.c"), ("main.c", "part.o", "-DUNUSED"),
        ("main.o", "-Wl,--whole-archive", "libpart.a", "-Wl,--no-whole-archive"),
    ],
)  # fmt: skip
def test_a_larger_plan_is_not_kept(project: Path, words: tuple[str, ...]) -> None:
    status, said = linked(project, LARGE, *words, "-o", "run")
    assert status == 0
    assert "loaded bytes with -Oz -flto; plan 'large' was discarded" in said[0]
    assert printed(project / "run") == "45\n"
    subprocess.run([*PLAIN, "main.c", "part.c", "-o", "plain"], cwd=project, check=True)
    if "-Wl,--whole-archive" not in words:
        assert (project / "run").read_bytes() == (project / "plain").read_bytes()
    assert not list(project.glob(".run*"))


def test_what_is_chosen_is_linked_and_said(project: Path) -> None:
    status, said = linked(project, SMALL, "main.o", "libpart.a", "-o", "run")
    assert status == 0
    assert "loaded bytes with plan 'program', " in said[0]
    assert printed(project / "run") == "45\n"


@pytest.mark.parametrize("flags", [("-fno-omit-frame-pointer", "-momit-leaf-frame-pointer"), ()])
def test_functions_get_frame_pointers_at_the_link(project: Path, flags: tuple[str, ...]) -> None:
    framed = replace(SMALL, name="framed", flags=flags)
    command = ("main.o", "libpart.a", "-o", "run", "-rdynamic")
    assert linked(project, framed, *command, is_checked=False)[0] == 0
    assert printed(project / "run") == "45\n"

    def has_frame(function: str) -> bool:
        shown = ["llvm-objdump-22", "-d", f"--disassemble-symbols={function}", project / "run"]
        code = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
        return "movq\t%rsp, %rbp" in code

    assert has_frame("main") == bool(flags)
    assert not has_frame("part")  # it calls no function


def test_without_a_comparison_the_plan_stays(project: Path) -> None:
    status, said = linked(project, LARGE, "main.o", "part.o", "-o", "run", is_checked=False)
    assert status == 0
    assert said == [
        f"run: {measure_sizes(project / 'run').loaded:,} loaded bytes with plan 'large'"
    ]


@pytest.mark.parametrize("is_checked", [True, False])
def test_a_plan_that_fails_is_replaced_by_the_plain_link(project: Path, is_checked: bool) -> None:
    status, said = linked(project, IMPOSSIBLE, "main.o", "part.o", is_checked=is_checked)
    assert status == 0
    assert said == ["a.out: plan 'impossible' failed; linked without it"]
    assert printed(project / "a.out") == "45\n"


def test_a_link_that_fails_and_a_source_that_does_not_compile_fail(project: Path) -> None:
    assert linked(project, SMALL, "main.o", "-o", "run")[0] == 1
    (project / "bad.c").write_text("int main( {}\n")
    assert linked(project, SMALL, "bad.c", "-o", "run")[0] == 1


def test_shared_libraries_and_objects_of_others_are_linked(project: Path) -> None:
    words = ["clang-22", "-O1", "-fPIC", "-c", "part.c", "-o", "code.o"]
    subprocess.run(words, cwd=project, check=True)
    assert linked(project, SMALL, "main.o", "code.o", "-o", "run")[0] == 0
    assert printed(project / "run") == "45\n"
    subprocess.run([*RAW, "-fPIC", "part.c", "-o", "part.o"], cwd=project, check=True)
    assert linked(project, SMALL, "-shared", "part.o", "-o", "libpart.so")[0] == 0
    assert linked(project, SMALL, "code.o", "-shared", "-o", "run") == (None, [])


def test_a_link_that_writes_more_files_is_made_once(project: Path) -> None:
    words = ("main.o", "part.o", "-Wl,-Map=run.map", "-o", "run")
    _, said = linked(project, LARGE, *words)
    assert said[0].endswith(" loaded bytes with plan 'large'")
    assert ".strtab" in (project / "run.map").read_text()


def test_an_error_of_the_build_is_shown_once_and_blamed_on_no_plan(
    project: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    status, said = linked(project, LARGE, "main.o", "-o", "run")  # without part.o
    assert status != 0
    assert said == []
    assert capfd.readouterr().err.count("undefined symbol: ") == 1


POINTERS = """
extern "C" int puts(const char *);
static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
struct Shape { virtual const char *name() const { return names[0]; } };
struct Square : Shape { const char *name() const override { return names[4]; } };
const Shape *volatile shape = new Square;
extern "C" int show(int n) { puts(names[n]); return puts(shape->name()) < 0; }
#ifndef LIBRARY
int main(int count, char **) { return show(count); }
#endif
"""
PACKED_LIBC = b"GLIBC_ABI_DT_RELR" in Path("/lib/x86_64-linux-gnu/libc.so.6").read_bytes()


def is_packed(file: Path) -> bool:
    shown = ["llvm-readelf-22", "--sections", "--version-info", file]
    text = subprocess.run(shown, capture_output=True, text=True, check=True).stdout
    assert (".relr.dyn" in text) == ("GLIBC_ABI_DT_RELR" in text)
    return ".relr.dyn" in text


@pytest.mark.skipif(not PACKED_LIBC, reason="needs glibc 2.36")
@pytest.mark.parametrize(
    ("words", "is_expected"),
    [
        ((), True), (("-shared", "-fPIC", "-DLIBRARY"), True), (("-static",), False),
        (("-static-pie",), False), (("-no-pie",), False), (("--sysroot={old}",), False),
        (("-Wl,-z,nopack-relative-relocs",), False),
    ],
)  # fmt: skip
def test_relocations_are_packed_if_the_c_library_supports_it(
    tmp_path: Path, words: tuple[str, ...], is_expected: bool
) -> None:
    old = tmp_path / "old"
    libraries = old / "lib" / "x86_64-linux-gnu"
    libraries.mkdir(parents=True)
    (old / "usr").symlink_to("/usr")
    (old / "lib64").symlink_to("/lib64")
    for library in Path("/lib/x86_64-linux-gnu").glob("*.so.*"):
        (libraries / library.name).symlink_to(library)
    (libraries / "libc.so.6").unlink()
    libc = Path("/lib/x86_64-linux-gnu/libc.so.6").read_bytes()
    (libraries / "libc.so.6").write_bytes(libc.replace(b"GLIBC_ABI_DT_RELR", b"GLIBC_ABI_DT_NONE"))
    (tmp_path / "main.cc").write_text(POINTERS)
    words = (*(word.format(old=old) for word in words), "main.cc", "-o", "run")
    for is_checked in (True, False):
        status, said = linked(
            tmp_path, SMALL, *words, is_checked=is_checked, is_packed=True, compiler="c++"
        )
        assert status == 0
        assert is_packed(tmp_path / "run") == is_expected
        assert ("and packed relocations" in said[0]) == is_expected
        if "-shared" not in words:
            assert printed(tmp_path / "run") == "b\ne\n"
    assert linked(tmp_path, SMALL, *words, is_packed=False, compiler="c++")[0] == 0
    assert not is_packed(tmp_path / "run")


@pytest.mark.skipif(not PACKED_LIBC, reason="needs glibc 2.36")
def test_the_savings_of_the_plan_and_of_packing_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "main.cc").write_text(POINTERS)
    sizes: dict[bool, int] = {}
    for packed in (False, True):
        _, (line,) = linked(
            tmp_path, SMALL, "main.cc", "-o", "run", is_packed=packed, compiler="c++"
        )
        sizes[packed] = measure_sizes(tmp_path / "run").loaded
    found = re.search(r"([\d.]+) % smaller .* \(([-\d.]+) % from the plan, ([\d.]+) % ", line)
    assert found is not None
    whole, plan, packing = map(float, found.groups())
    assert whole == pytest.approx(plan + packing, abs=0.11)
    assert 0 < packing == pytest.approx(100 * (1 - sizes[True] / sizes[False]), abs=0.5)


@pytest.mark.skipif(not PACKED_LIBC, reason="needs glibc 2.36")
@pytest.mark.parametrize("is_checked", [True, False])
def test_a_program_that_packing_would_enlarge_is_not_packed(
    project: Path, is_checked: bool
) -> None:
    command = ("main.o", "part.o", "-o", "run")
    _, said = linked(project, SMALL, *command, is_checked=is_checked, is_packed=True)
    assert not is_packed(project / "run")
    assert len(said) == 1
    assert "packed" not in said[0]
