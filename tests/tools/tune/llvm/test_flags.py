# SPDX-License-Identifier: MIT
"""What a plan adds to a build changes nothing that a program may rely on.

Each program here prints something else where a flag does more than it should. The page of the
recipes has a row for each flag.
"""

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from compiler_gym.builds import CompilerCommand
from compiler_gym.tools.tune import BinaryPlan, Request, TuningJob
from compiler_gym.tools.tune.builds import Binary, find_binaries
from compiler_gym.tools.tune.llvm.flags import (
    FOLDING,
    FRAMES,
    FRONT_END_FLAGS,
    LAYOUT,
    LEAVES,
    LLD_LAYOUT,
    NO_UNWINDING,
    PACKED,
    PROGRAM,
    TAILS,
    can_pack,
    choose_front_end_flags,
    choose_layout,
    choose_unwinding,
)
from compiler_gym.tools.tune.llvm.linker import Linker
from compiler_gym.tools.tune.llvm.llvm_tuner import FAIR, LlvmTuner
from compiler_gym.tools.tune.llvm.program import SECTIONS, LlvmMaker, make_whole
from tests.native.driver.trees import POLICY, Tree
from tests.tools.tune.builds.projects import record
from tests.tools.tune.llvm.conftest import needs_lld

pytestmark = needs_lld
PAGE = Path(__file__).parents[4] / "docs" / "guide" / "recipes.md"
KEPT = "-Wl,-z,nostart-stop-gc"
ADDED = {*FOLDING, *LLD_LAYOUT, *FRONT_END_FLAGS, *LAYOUT, NO_UNWINDING, *SECTIONS, KEPT}
"""Every flag of a tuning, a recipe or a policy."""

FOUND_BY_NAME = """
#include <dlfcn.h>
#include <stdio.h>
int twice(int n) { return 2 * n; }
int table[3] = {4, 5, 6};
int main(void) {
  int (*f)(int) = (int (*)(int))dlsym(NULL, "twice");
  int *numbers = dlsym(NULL, "table");
  printf("%d %d\\n", f ? f(21) : -1, numbers ? numbers[2] : -1);
}
"""
LISTED = """
#include <stdio.h>
#define LISTED __attribute__((section("numbers"), used))
LISTED static const int one = 1;
LISTED static const int two = 2;
extern const int __start_numbers[], __stop_numbers[];
int main(void) {
  for (const int *at = __start_numbers; at < __stop_numbers; at++) printf("%d\\n", *at);
}
"""
COMPARED = """
#include <stdio.h>
int read_it(int n) { return n * 7 + 1; }
int write_it(int n) { return n * 7 + 1; }
static const int first[2] = {1, 2}, other[2] = {1, 2};
int (*volatile f)(int) = write_it;
const int *volatile p = other;
int main(void) { printf("%d %d %d\\n", f == read_it, f == write_it, p == first); }
"""
STRINGS = """
#include <stdio.h>
#include <string.h>
static char mine[] = "a long end", also[] = "end";
int main(int count, char **words) {
  const char *volatile one = "with a long end", *volatile two = "long end", *volatile three = "end";
  also[0] = 'E';
  printf("%s|%s|%s|%s|%s|%zu\\n", one, two, three, mine, also, strlen(two));
}
"""
INTERPOSED = """
#include <stdio.h>
#include <stdlib.h>
int puts(const char *text) { return printf("mine: %s\\n", text); }
__attribute__((weak)) int nowhere(int);
static int late(int n) { return n + 1; }
static int (*choose(void))(int) { return late; }
int chosen(int) __attribute__((ifunc("choose")));
int main(void) { puts("text"); printf("%d %d\\n", nowhere ? nowhere(1) : 0, chosen(1)); }
"""
FRAMED = """
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
static jmp_buf place;
static int clobber(int n) {
  int saved = n * 3;
  __asm__ volatile("xor %%ebp, %%ebp" ::: "rbp");
  return saved + n;
}
static void leave(int n) {
  char *text = alloca(n);
  memset(text, 'x', n);
  longjmp(place, text[n - 1]);
}
int main(int count, char **words) {
  int status = setjmp(place);
  if (!status) leave(count * 100);
  printf("%d %d %d\\n", status, clobber(count), __builtin_frame_address(0) != 0);
}
"""
POINTERS = """
#include <stdio.h>
static const char *const names[] = {"a", "b", "c"};
static int add(int n) { return n + 1; }
static int take(int n) { return n - 1; }
static int (*const all[])(int) = {add, take, add};
const void *volatile odd[] = {(const char *)names + 1, all, &odd};
int main(void) {
  for (int i = 0; i < 3; i++) printf("%s %d\\n", names[i], all[i](i));
  printf("%d %d\\n", (const char *)odd[0] - (const char *)names == 1, odd[2] == &odd);
}
"""
PROGRAMS = {
    "-Wl,--icf=safe": (COMPARED, ""),
    TAILS: (STRINGS, ""),
    KEPT: (LISTED, ""),
    FRAMES: (FRAMED, ""),
    LEAVES: (FRAMED, FRAMES),
    "-fno-plt": (INTERPOSED, ""),
    PACKED: (POINTERS, "-pie"),
    "-Wl,--build-id=none": (POINTERS, ""),
    "-Wl,--hash-style=gnu": (FOUND_BY_NAME, "-rdynamic"),
    "-Wl,--bp-compression-sort=function": (COMPARED, ""),
    "-Wl,--bp-compression-sort=data": (LISTED, ""),
    "-Wl,--bp-compression-sort=both": (LISTED, ""),
    NO_UNWINDING: (FRAMED, ""),
    "-ffunction-sections": (LISTED, ""),
    "-fdata-sections": (LISTED, ""),
}
"""For each flag a program that would see it do too much, and what its build says."""
CLANG = ("clang-22",)
LIBC = Path("/lib/x86_64-linux-gnu/libc.so.6")
READS_PACKED = b"GLIBC_ABI_DT_RELR"

needs_clang = pytest.mark.skipif(
    shutil.which("clang-22") is None or not LIBC.exists() or READS_PACKED not in LIBC.read_bytes(),
    reason="needs clang-22 and glibc 2.36",
)
pytestmark = needs_lld

SOURCE = """
#include <stdio.h>
typedef int (*callback)(int);
__attribute__((noinline)) int on_read(int x) { return x * 7 + 1; }
__attribute__((noinline)) int on_write(int x) { return x * 7 + 1; }
static const char *name(callback f) { return f == on_read ? "read" : "write"; }
int main(int count, char **words) {
  volatile callback f = count > 1 ? on_write : on_read;
  printf("%s %d\\n", name(f), f(count));
}
"""
OWN_WORDS = {
    "": "write 15\n",
    "-Wl,--icf=none": "write 15\n",
    "-Wl,--icf=safe": "write 15\n",
    "-Wl,--icf=all": "read 15\n",
    "-Xlinker --icf=all": "read 15\n",
}
"""What the program prints by what its build tells the linker."""


def printed(folder: Path, *words: str) -> str:
    (folder / "main.c").write_text((folder / "source.c").read_text())
    command = ["clang-22", *words, "main.c", "-w", "-o", "run"]
    subprocess.run(command, cwd=folder, check=True)
    return subprocess.run([folder / "run"], capture_output=True, text=True, check=True).stdout


def test_every_flag_has_a_program_and_a_row() -> None:
    assert set(PROGRAMS) == ADDED
    _, _, rest = PAGE.read_text().partition("### Side effects of each flag")
    table, _, _ = rest.partition("\n##")
    rows = re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)
    assert sorted(rows) == sorted(ADDED)


@pytest.mark.parametrize("flag", PROGRAMS)
def test_a_flag_changes_nothing_that_a_program_may_rely_on(tmp_path: Path, flag: str) -> None:
    program, own = PROGRAMS[flag]
    (tmp_path / "source.c").write_text(program)
    expected = printed(tmp_path, "-O1", *own.split())
    plain = ("-Oz", "-fuse-ld=lld", KEPT, *SECTIONS, *FOLDING, *own.split())
    assert printed(tmp_path, *plain, flag) == expected
    assert printed(tmp_path, *plain, "-flto", flag) == expected


def test_a_library_that_lacks_what_it_never_calls_keeps_its_stubs(
    binary: Binary, tmp_path: Path
) -> None:
    (tmp_path / "part.c").write_text(
        "int missing(int);\nint part(int n) { return n < 0 ? missing(n) : n + 1; }\n"
    )
    (tmp_path / "source.c").write_text(
        "#include <dlfcn.h>\n#include <stdio.h>\nint main(void) {\n"
        '  void *part = dlopen("./libpart.so", RTLD_LAZY);\n'
        '  puts(part ? "loaded" : dlerror());\n}\n'
    )

    def loaded(*words: str) -> str:
        library = ["clang-22", "-Oz", "-fPIC", "-shared", "-fuse-ld=lld", *words, "part.c"]
        subprocess.run([*library, "-o", "libpart.so"], cwd=tmp_path, check=True)
        (tmp_path / "main.c").write_text((tmp_path / "source.c").read_text())
        subprocess.run(["clang-22", "main.c", "-o", "run"], cwd=tmp_path, check=True)
        done = subprocess.run(["./run"], cwd=tmp_path, capture_output=True, text=True, check=True)
        return done.stdout

    def flags(*words: str) -> list[str]:
        command = CompilerCommand.parse(["cc", "x.o", *words])
        return choose_front_end_flags(replace(binary, command=command))

    assert loaded() == "loaded\n"
    assert "undefined symbol: missing" in loaded("-fno-plt")
    for words in ((), ("-shared", "-Wl,-z,now"), ("-shared", "-z", "now")):
        assert "-fno-plt" in flags(*words)
    assert flags("-shared") == [FRAMES, LEAVES]


@pytest.mark.parametrize(
    "own", ["-rdynamic", "-Wl,-E", "-Wl,--export-dynamic-symbol=t*", "-Wl,--dynamic-list=names",
            "-Wl,--version-script=versions -rdynamic"],
)  # fmt: skip
def test_exported_names_are_found_in_a_merged_module(tmp_path: Path, own: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "main.c").write_text(FOUND_BY_NAME)
    (tree / "names").write_text("{ twice; table; };\n")
    (tree / "versions").write_text("{ global: twice; table; };\n")
    build = ("sh", "-ec", f"$CC -O1 -fuse-ld=lld {own} main.c -o run")
    recording = record(tree, tmp_path / "record", *build, compiler=("clang-22",))
    (binary,) = find_binaries(recording.events(), tree)
    whole = make_whole(binary, binary.path, jobs=1)
    plan = BinaryPlan("run", PROGRAM, linker=FOLDING)
    made = LlvmMaker(Linker(binary, tmp_path), whole, plan).make("run")
    assert subprocess.run([made], capture_output=True, check=True).stdout == b"42 6\n"


def command(*words: str) -> CompilerCommand:
    return CompilerCommand.parse(["cc", "main.o", *words, "-o", "a"], Path("/"))


def binary(*words: str) -> Binary:
    return Binary("a", Path("/a"), command(*words), (), Path("/"))


def system(folder: Path, libc: bytes) -> Path:
    """Return a folder with the files of this system, and another C library."""
    libraries = folder / "lib" / LIBC.parent.name
    libraries.mkdir(parents=True)
    (folder / "usr").symlink_to("/usr")
    (libraries / LIBC.name).write_bytes(libc)
    return folder


@needs_clang
def test_packed_relocations_are_for_a_libc_that_reads_them(tmp_path: Path) -> None:
    libc = LIBC.read_bytes()
    new = system(tmp_path / "new", libc)
    old = system(tmp_path / "old", libc.replace(READS_PACKED, READS_PACKED.lower()))
    (tmp_path / "empty").mkdir()
    assert can_pack(command(), CLANG)
    assert can_pack(command("-shared", "-static-libgcc", f"--sysroot={new}"), CLANG)
    assert can_pack(command("-lc", "-nodefaultlibs"), CLANG)  # as rustc links
    assert not can_pack(command("-nodefaultlibs"), CLANG)
    for folder in (old, tmp_path / "empty", tmp_path / "none"):
        assert not can_pack(command(f"--sysroot={folder}"), CLANG)
    assert not can_pack(command(), ("no-such-compiler",))
    assert not can_pack(command(), ("echo",))
    assert PACKED not in choose_layout(
        binary(f"--sysroot={old}"), compiler=CLANG, old_loaders=False
    )


@needs_clang
@pytest.mark.parametrize(
    "words", [("-static",), ("-static-pie",), ("-no-pie",), ("-nostdlib", "-shared"), ("-nolibc",),
              ("--target=x86_64-linux-musl", "--sysroot=/no-such"), ("-Wl,--pack-dyn-relocs=none",),
              ("-z", "nopack-relative-relocs")],
)  # fmt: skip
def test_a_link_without_relative_relocations_or_this_libc_is_not_packed(
    words: tuple[str, ...],
) -> None:
    assert not can_pack(command(*words), CLANG)


@needs_clang
def test_old_loaders_get_no_packed_relocations() -> None:
    assert choose_layout(binary(), compiler=CLANG, old_loaders=False) == list(LAYOUT)
    chosen = choose_layout(binary(), compiler=CLANG, old_loaders=True)
    assert chosen == [flag for flag in LAYOUT if flag != PACKED]


@pytest.mark.parametrize(
    "words", [("-Wl,--build-id=sha1",), ("-Wl,--build-id",), ("-Wl,-z,now,--build-id=md5",)]
)
def test_options_of_the_build_stay(words: tuple[str, ...]) -> None:
    chosen = choose_layout(binary(*words), compiler=CLANG, old_loaders=True)
    assert "-Wl,--build-id=none" not in chosen
    assert "-Wl,--hash-style=gnu" in chosen


def test_nothing_that_protects_is_given_up() -> None:
    for word in ("norelro", "noseparate-code", "no-rosegment", "no-pie", "execstack"):
        assert not any(word in option for option in LAYOUT)


def test_unwind_tables_are_removed_only_on_request() -> None:
    assert choose_unwinding(binary(), is_dispensable=False) == []
    assert choose_unwinding(binary(), is_dispensable=True) == [NO_UNWINDING]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "main.c"
    path.write_text(SOURCE)
    return path


def printed_by(program: Path) -> str:
    return subprocess.run([program, "w"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("how", ["--recipe small", "--recipe small-packed", POLICY])
def test_a_recipe_and_a_policy_fold_as_the_build_says_and_safely_where_it_says_nothing(
    source: Path, how: str
) -> None:
    tree = Tree(source.parent)
    tree.cc("-c main.c", how)
    for own, expected in OWN_WORDS.items():
        for file in ("main.c", "main.o"):
            assert ("loaded bytes" in tree.cc(f"{file} {own} -o run", how)) == (how == POLICY)
            assert printed_by(source.parent / "run") == expected


@pytest.mark.parametrize("own", ["", "-Wl,--icf=all"])
def test_a_tuning_and_its_script_fold_as_the_build_says(
    source: Path, tmp_path: Path, own: str
) -> None:
    build = ("sh", "-ec", f"$CC -O2 -fuse-ld=lld {own} main.c -o run")
    output = tmp_path / "tuned"
    request = Request(build, source.parent, output, compilations=6)
    (result,) = TuningJob(request, LlvmTuner()).run()
    script = ["sh", output / "reproduce.sh", output / "work" / "tree", tmp_path / "again"]
    subprocess.run(script, check=True)
    assert printed_by(output / "bin/run") == printed_by(tmp_path / "again/run") == OWN_WORDS[own]
    assert printed_by(result.found.rivals[FAIR]) == OWN_WORDS[own]
