# SPDX-License-Identifier: MIT
"""``compiler-gym-cc`` is called as build systems call clang, and answers or compiles as clang does.

Every call runs twice, in two equal folders: what is printed, the exit status and the names of the
files left behind are compared, and programs by what they print.
"""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.effort import in_turns

pytestmark = pytest.mark.skipif(
    shutil.which("clang-22") is None or shutil.which("ld.lld-22") is None,
    reason="needs clang-22 and lld-22",
)

OURS = str(Path(sys.executable).with_name("compiler-gym-cc"))
OURS_CXX = str(Path(sys.executable).with_name("compiler-gym-cxx"))
MODES = ["--recipe small", "--policy size"]
NOTE = re.compile(r"compiler-gym c(c|xx): .*\n")
FILES = {
    "main.c": '#include <stdio.h>\n#include "part.h"\n'
    'int main(int n, char **v) { printf("%d\\n", part(n)); return 0; }\n',
    "part.c": '#include "part.h"\nint part(int n) { return n * 7 + LEVEL; }\n',
    "part.h": "#ifndef LEVEL\n#define LEVEL 1\n#endif\nint part(int n);\n",
    "conftest.c": "int main(void) { return 0; }\n",
    "bad.c": "int main( {}\n",
    "warn.c": "int main(void) { int unused; return 0; }\n",
    "undefined.c": "int missing(void);\nint main(void) { return missing(); }\n",
    "empty.c": "",
    "a.S": ".globl from_asm\nfrom_asm: mov $5, %eax\n ret\n",
    "plus.cc": '#include <iostream>\nint main() { std::cout << "plus\\n"; }\n',
    "lib.c": "int lib(void) { return 3; }\n",
    "alone.c": "void _start(void) { __asm__ volatile("
    '"mov $60, %eax; mov $3, %edi; syscall"); for (;;); }\n',
    "args.rsp": '-DLEVEL=2 -O2 "-DTEXT=a b"',
    "pch.h": "#include <stdio.h>\n#define ANSWER 42\n",
    "pch.c": 'int main(void) { printf("%d\\n", ANSWER); return 0; }\n',
}
BOTH = "main.c part.c"
CALLS = [
    # What configure, CMake and Meson ask first.
    "-v", "-V", "--version", "-version", "-qversion", "-dumpversion", "-dumpmachine",
    "-print-search-dirs", "-print-prog-name=ld", "-print-prog-name=ar", "-print-file-name=libc.so",
    "-print-libgcc-file-name", "-print-multi-os-directory", "-print-multiarch",
    "--print-target-triple", "--print-resource-dir", "-print-effective-triple", "--help", "",
    "-c", "-o", "--no-such-flag", "-no-such-flag -c main.c", "-x", "no-such-file.c",
    "-c no-such-file.c", "no-such-file.o -o run",
    # Preprocessing and dependencies.
    "-E main.c", "-E -dM -x c /dev/null", "-E -P conftest.c", "-E -o out.i main.c", "-M main.c",
    "-MM main.c", "-MM -MT target main.c", "-MD -c main.c", "-MMD -MF x.d -MQ q -MP -c main.c",
    "-Wp,-MD,x.d -c main.c", "-Wp,-MMD,x.d -Wp,-DLEVEL=3 -c part.c", "-H -fsyntax-only main.c",
    "-fsyntax-only main.c", "-fsyntax-only bad.c", "-E -x c -v /dev/null",
    "-E -include part.h main.c",
    # Compiling.
    "-S part.c", "-S -o - part.c", "-c part.c", "-c part.c -o part.obj", "-opart.o -c part.c",
    "-c main.c part.c", "-c -x c part.h -o header.o", "-c empty.c", "-c bad.c", "-c warn.c -Wall",
    "-c warn.c -Wall -Werror", "-c a.S", "-c -x assembler-with-cpp a.S -o b.o",
    "-pipe -c part.c", "-save-temps -c part.c", "-c part.c -o /dev/null", "-c @args.rsp part.c",
    "-emit-llvm -c part.c", "-emit-llvm -S part.c", "-ffunction-sections -fdata-sections -c part.c",
    "-g -gsplit-dwarf -c part.c", "-fPIC -fvisibility=hidden -c lib.c", "-c -- part.c",
    "-std=c99 -pedantic -c part.c", "-fno-integrated-as -c part.c", "-MJ part.json -c part.c",
    "-march=native -c part.c", "-ftime-trace -c part.c", "-fstack-usage -c part.c",
    # Linking.
    f"{BOTH} -o run", f"-O2 {BOTH}", f"@args.rsp {BOTH} -o run", f"-static {BOTH} -o run",
    f"-static-pie {BOTH} -o run", f"-no-pie {BOTH} -o run", f"-flto {BOTH} -o run",
    f"-s {BOTH} -o run", f"-g {BOTH} -o run", f"-pthread {BOTH} -lm -o run",
    f"-Wl,--as-needed -Wl,-rpath,/x {BOTH} -o run", f"-Wl,-Map=run.map {BOTH} -o run",
    f"-Wl,--build-id=none -rdynamic {BOTH} -o run", f"-save-temps {BOTH} -o run",
    f"-fuse-ld=lld {BOTH} -o run", f"-fuse-ld=bfd {BOTH} -o run", f"-fuse-ld=gold {BOTH} -o run",
    f"--ld-path=/usr/bin/ld.bfd {BOTH} -o run", f"-fuse-ld=no-such {BOTH} -o run",
    "-shared -fPIC lib.c -o lib.so", "-shared -fPIC -Wl,-soname,lib.so.1 lib.c -o lib.so",
    "-nostdlib -static alone.c -o alone", "-ffreestanding -nostdlib -static alone.c -o alone",
    "-r main.c -o whole.o", "-nostdlib -r main.c part.c -o whole.o", "undefined.c -o run",
    "conftest.c -o conftest", "-o conftest -Wall -Werror conftest.c", "-Wl,--no-such conftest.c",
    "conftest.c -lno-such-library", "warn.c -Wall -o run",
]  # fmt: skip
SEQUENCES = [
    "-c main.c; -c part.c; main.o part.o -o run",
    "-g -O2 -c main.c; -c part.c; main.o -O2 -g part.o -o run",
    "-c main.c; -c part.c; -r main.o part.o -o all.o; all.o -o run",
    "-c main.c; -c part.c; -no-pie -nostdlib -Wl,-r main.o part.o -o all.o; all.o -o run",
    "-E main.c -o main.i; -c main.i; -c part.c; main.o part.o -o run",
    "-S main.c; -c main.s; -c part.c; main.o part.o -o run",
    "-fPIC -c lib.c; -shared lib.o -o lib.so",
    "-x c-header pch.h -o pch.h.pch; -include pch.h pch.c -o run",
    "-O2 -x c-header pch.h -o pch.pch; -include-pch pch.pch -O2 -c pch.c; pch.o -o run",
    "-O2 -x c-header pch.h -o x.pch; -O2 -include-pch x.pch -E pch.c -o y.i; y.i -o run",
    "-O3 pch.h -o pch.h.pch; -O3 -Winvalid-pch -include pch.h -S pch.c; pch.s -o run",
    "-O3 -Xclang -emit-pch -x c-header -c pch.h -o x.pch;"
    " -O3 -Xclang -include-pch -Xclang x.pch -c pch.c; pch.o -o run",
    "-coverage -c main.c; -c part.c; --coverage main.o part.o -o run",
]
ASKING_LINKERS = [
    "-Wl,--version", "-Wl,-v conftest.c", "-Wl,-v main.c part.c", "-### main.c part.c",
    "-v conftest.c -o conftest", "-Xlinker --version",
]  # fmt: skip


@dataclass
class Answer:
    """What a call leaves."""

    status: int
    output: str
    errors: str
    files: set[str]


def ran(folder: Path, compiler: list[str], line: str) -> Answer:
    """Run one call of a compiler as a shell would, but for blanks in words."""
    done = subprocess.run(
        [*compiler, *line.split()], cwd=folder, capture_output=True, text=True, errors="replace",
        input="int main(void) { return 4; }\n",
    )  # fmt: skip
    files = {path.name for path in folder.iterdir()}
    return Answer(done.returncode, done.stdout, NOTE.sub("", done.stderr), files)


def shape(text: str) -> str:
    """Return `text` less what differs from one run of clang to the next, and its command lines."""
    text = re.sub(r"/tmp/[^\s\"':]+", "TEMP", text)
    text = re.sub(r"^ld\S*: ", "ld: ", text, flags=re.MULTILINE)
    return re.sub(r"clang(-22)?: error: linker command.*", "linker failed", text)


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.delenv("COMPILER_GYM_CC_OUTPUT", raising=False)
    for name in ("ours", "clang"):
        (tmp_path / name).mkdir()
        for file, text in FILES.items():
            (tmp_path / name / file).write_text(text)
    return tmp_path / "ours", tmp_path / "clang"


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> object:
    """Keep what calls find out about a recipe: the next is fast."""
    before = os.environ.get("COMPILER_GYM_CACHE")
    os.environ["COMPILER_GYM_CACHE"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["COMPILER_GYM_CACHE"]
    else:
        os.environ["COMPILER_GYM_CACHE"] = before


def programs(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Return what each program in `folder` prints, and its status."""
    found: dict[str, tuple[int, bytes]] = {}
    for name in ("run", "a.out", "alone", "conftest"):
        if (folder / name).is_file():
            done = subprocess.run([folder / name, "x"], capture_output=True)
            found[name] = done.returncode, done.stdout
    return found


def compared(folders: tuple[Path, Path], mode: str, line: str) -> None:
    is_cxx = "plus" in line
    ours = ran(folders[0], [OURS_CXX if is_cxx else OURS, *mode.split()], line)
    clang = ran(folders[1], ["clang++-22" if is_cxx else "clang-22"], line)
    assert ours.status == clang.status, (line, ours.errors, clang.errors)
    asks_linker = "-Wl,--v" in line or "-Wl,-v" in line or "-###" in line
    if not asks_linker and "-S" not in line and "llvm" not in line:
        assert shape(ours.output) == shape(clang.output), line
    if ours.status == 0 and not asks_linker:
        assert shape(ours.errors) == shape(clang.errors), line
    assert bool(ours.errors) == bool(clang.errors), line
    assert ours.files == clang.files, line
    assert programs(folders[0]) == programs(folders[1]), line


@pytest.mark.parametrize(
    ("line", "mode"), in_turns([*CALLS, "plus.cc -o run", "-c plus.cc -fno-rtti"], MODES)
)
def test_a_call_is_answered_as_clang_answers(
    folders: tuple[Path, Path], line: str, mode: str
) -> None:
    compared(folders, mode, line)


@pytest.mark.parametrize(("lines", "mode"), in_turns(SEQUENCES, MODES))
def test_calls_that_follow_each_other_make_what_clang_makes(
    folders: tuple[Path, Path], lines: str, mode: str
) -> None:
    for line in lines.split(";"):
        compared(folders, mode, line)
    expected = {"run"} if "-o run" in lines else set[str]()
    assert programs(folders[0]).keys() == expected


@pytest.mark.parametrize("mode", MODES)
def test_source_on_standard_input_is_compiled(folders: tuple[Path, Path], mode: str) -> None:
    for line in ("-x c - -o run", "-xc -c - -o stdin.o", "stdin.o -o a.out"):
        compared(folders, mode, line)
    assert programs(folders[0]) == {"run": (4, b""), "a.out": (4, b"")}
    compared(folders, mode, "-x c -DAB=) -Dint=AB -c -")  # fails, and is not tried again


@pytest.mark.parametrize(("line", "mode"), in_turns(ASKING_LINKERS, MODES))
def test_the_linker_that_links_is_the_one_that_answers(
    folders: tuple[Path, Path], line: str, mode: str
) -> None:
    ours = ran(folders[0], [OURS, *mode.split()], line)
    assert "LLD" in ours.output + ours.errors or "lld" in ours.output + ours.errors
    other = ran(folders[0], [OURS, *mode.split()], f"-fuse-ld=bfd {line}")
    text = other.output + other.errors
    assert "GNU ld" in text or "ld.bfd" in text


@pytest.mark.parametrize("mode", MODES)
def test_another_linker_is_respected_and_named(folders: tuple[Path, Path], mode: str) -> None:
    words = [OURS, *mode.split(), "main.c", "part.c", "-fuse-ld=bfd", "-o", "run"]
    done = subprocess.run(words, cwd=folders[0], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [
        f"compiler-gym cc: run: linked with bfd, without {mode}, which needs lld"
    ]
    shown = ["llvm-readelf-22", "-p", ".comment", "run"]
    text = subprocess.run(shown, cwd=folders[0], capture_output=True, text=True, check=True).stdout
    assert "LLD" not in text


ASSEMBLER = {
    "labels": {
        "main.c": '__asm__("local: .long 1");\nint part(void);\n'
        "int main(void) { return part() - 3; }\n",
        "part.c": '__asm__("local: .long 2");\nint part(void) { return 3; }\n',
    },
    "includes": {
        "main.c": '__asm__(".include \\"inc.s\\"");\nextern int value;\nint part(void);\n'
        "int main(void) { return part() + value - 8; }\n",
        "part.c": '__asm__(".section .rodata\\n.globl blob\\nblob: .incbin \\"dir/blob\\"\\n"'
        '".text");\nextern const char blob[];\nint part(void) { return blob[0] - 60; }\n',
        "dir/inc.s": ".data\n.globl value\nvalue: .long 3\n.text\n",
        "dir/blob": "A",
    },
    "macros": {
        "macro.h": '__asm__(".macro two r\\n mov $2, \\\\r\\n.endm");\n',
        "main.c": '#include "macro.h"\nint part(void);\nint main(void)'
        ' { int r; __asm__("two %0" : "=r"(r)); return r - part(); }\n',
        "part.c": '#include "macro.h"\nint part(void)'
        ' { int r; __asm__("two %0" : "=r"(r)); return r; }\n',
    },
    "statics": {
        "main.c": "static int n __attribute__((used)) = 11;\nint part(void);\n"
        'int main(void) { int r; __asm__("movl n(%%rip), %0" : "=r"(r));'
        " return r == 11 && part() == 22 ? 0 : part(); }\n",
        "part.c": "static int n __attribute__((used)) = 22;\n"
        'int part(void) { int r; __asm__("movl n(%%rip), %0" : "=r"(r)); return r; }\n',
    },
    "stores": {
        "main.c": "extern int n;\nvoid part(void);\nint main(void) { part(); return n - 12; }\n",
        "part.c": 'int n = 11;\nvoid part(void) { __asm__ volatile("incl n(%%rip)"'
        ' ::: "memory"); }\n',
    },
}


@pytest.mark.parametrize("is_apart", [True, False])
@pytest.mark.parametrize(("name", "mode"), in_turns(list(ASSEMBLER), MODES))
def test_units_with_assembler_do_what_they_do_without_a_plan(
    tmp_path: Path, name: str, mode: str, is_apart: bool
) -> None:
    for file, text in ASSEMBLER[name].items():
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text(text)

    def call(line: str) -> str:
        words = [OURS, *mode.split(), "-O2", "-Idir", *line.split()]
        return subprocess.run(
            words, cwd=tmp_path, check=True, capture_output=True, text=True
        ).stderr  # fmt: skip

    if is_apart:
        said = call("-c main.c") + call("-c part.c") + call("main.o part.o -o run")
    else:
        said = call("main.c part.c -o run")
    assert subprocess.run([tmp_path / "run"], check=False).returncode == 0
    if name == "includes" and not is_apart:
        assert "run: linked without" in said
        assert "Could not find incbin file" in said or "Could not find include file" in said
        return
    assert ("part.o: " if is_apart else "run: part is ") in said
    assert "compiled without link-time optimisation: it has assembler" in said


@pytest.mark.parametrize(
    "text",
    ["rdtsc", "lock; incl %0", "rep movsb", "1: jmp 1b", "nop # foo", ".byte 0x0f, 0x0b", ""],
)
def test_assembler_that_names_nothing_is_optimised_with_the_program(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "x.c").write_text(f'void f(int x) {{ __asm__ volatile("{text}" : "+m"(x)); }}\n')
    words = [OURS, "--recipe", "small", "-c", "x.c"]
    done = subprocess.run(words, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert b".llvm.lto" in (tmp_path / "x.o").read_bytes()


def static_library(folder: Path) -> None:
    (folder / "part.c").write_text("int part(int n) { return n * 7; }\n")
    (folder / "main.c").write_text("int part(int);\nint main(void) { return part(6) - 42; }\n")
    (folder / "pre.h").write_text("#include <stdlib.h>\n#define NOTHING 0\n")
    (folder / "pre.c").write_text("int main(void) { return NOTHING; }\n")


def old_tools(folder: Path) -> dict[str, str]:
    """Return an environment whose ``llvm-ar`` and so on read no bitcode of today, as LLVM 14's."""
    tools = folder / "tools"
    tools.mkdir()
    for name in ("ar", "ranlib", "nm"):
        old = shutil.which(f"llvm-{name}-14")
        script = f'exec {old or name} "$@"\n'
        if old is None:  # refuses as the old one does
            script = f'grep -q "^BC" "$@" 2>/dev/null && exit 1\n{script}'
        for called in (f"llvm-{name}", f"llvm-{name}-22"):
            (tools / called).write_text(f"#!/bin/sh\n{script}")
            (tools / called).chmod(0o755)
    return {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize(("link", "mode"), in_turns(["gcc", "clang-22", "ours"], MODES))
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_a_makefile_may_name_another_linker_and_an_old_archiver(
    tmp_path: Path, link: str, mode: str
) -> None:
    static_library(tmp_path)
    environment = old_tools(tmp_path)
    ours = [OURS, *mode.split()]
    for words in (
        [*ours, "-c", "part.c"], [*ours, "-c", "main.c"], ["llvm-ar", "rc", "libpart.a", "part.o"],
        ["llvm-ranlib", "libpart.a"], ["llvm-nm", "libpart.a"], ["strip", "-g", "libpart.a"],
        ["ar", "s", "libpart.a"],
        [*(ours if link == "ours" else [link]), "main.o", "libpart.a", "-o", "run"],
    ):  # fmt: skip
        subprocess.run(words, cwd=tmp_path, check=True, env=environment, capture_output=True)
    assert subprocess.run([tmp_path / "run"], check=False).returncode == 0


@pytest.mark.parametrize(
    "build_type",
    [
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("Debug", "Release", "MinSizeRel")
        ),
        *("", "RelWithDebInfo"),
    ],
)
@pytest.mark.skipif(shutil.which("cmake") is None, reason="needs cmake")
def test_cmake_makes_a_static_library_and_a_precompiled_header(
    tmp_path: Path, build_type: str
) -> None:
    static_library(tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_library(part STATIC part.c)\n"
        "add_executable(run main.c)\ntarget_link_libraries(run part)\nadd_executable(pre pre.c)\n"
        "target_precompile_headers(pre PRIVATE pre.h)\n"
    )
    environment = {**old_tools(tmp_path), "CC": "compiler-gym-cc --policy size"}
    for words in (
        ["cmake", "-S", ".", "-B", "bld", f"-DCMAKE_BUILD_TYPE={build_type}"],
        ["cmake", "--build", "bld"],
    ):
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    for name in ("run", "pre"):
        assert subprocess.run([tmp_path / "bld" / name], check=False).returncode == 0
    assert "llvm-ar" in (tmp_path / "bld/CMakeCache.txt").read_text()


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("meson") is None or shutil.which("ninja") is None, reason="needs meson and ninja"
)
def test_meson_makes_a_static_library(tmp_path: Path) -> None:
    static_library(tmp_path)
    (tmp_path / "meson.build").write_text(
        "project('p', 'c')\npart = static_library('part', 'part.c')\n"
        "executable('run', 'main.c', link_with: part)\n"
    )
    environment = {**old_tools(tmp_path), "CC": "compiler-gym-cc --policy size"}
    for words in (["meson", "setup", "bld"], ["meson", "compile", "-C", "bld"]):
        done = subprocess.run(
            words, cwd=tmp_path, env=environment, capture_output=True, text=True
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    assert subprocess.run([tmp_path / "bld" / "run"], check=False).returncode == 0
