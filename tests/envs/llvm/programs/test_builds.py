# SPDX-License-Identifier: MIT
import json
import pickle
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from compiler_gym.datasets import Benchmark, ExpectedOutput, RunSpec
from compiler_gym.envs import llvm
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.machine.engine import run_engine
from compiler_gym.envs.llvm.programs.builds import record
from compiler_gym.envs.llvm.programs.command_line import CompilerCommand, Mode
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerDiagnosticError,
    InvalidParameterError,
)

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")
Env = Callable[..., LlvmEnv]

MAIN = '#include <math.h>\n#include "part.h"\nint main() { return part(N) + (int)sqrt(16); }\n'
PART = '#include "part.h"\nint part(int n) { return n * 2; }\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory of two sources and a header; it is the current one."""
    (tmp_path / "include").mkdir()
    (tmp_path / "include/part.h").write_text("int part(int);\n")
    (tmp_path / "main.c").write_text(MAIN)
    (tmp_path / "part.c").write_text(PART)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def status_of(program: Path) -> int:
    return subprocess.run([program], check=False, timeout=10).returncode


def functions_of(benchmark: Benchmark, make_env: Env) -> set[str]:
    env = make_env(observation_space="Ir")
    ir, _ = env.reset(benchmark=benchmark)
    lines = [line for line in ir.splitlines() if line.startswith("define")]
    return {line.partition("@")[2].partition("(")[0] for line in lines}


def test_a_whole_command_gives_the_linked_program_and_finishes_it(
    project: Path, make_env: Env
) -> None:
    env = make_env()
    program = env.make_benchmark_from_command_line(
        "gcc -std=gnu11 -Wall -O2 -g -Iinclude -DN=19 -MD -MF deps main.c part.c -o run -lm"
    )
    assert sorted(path.name for path in project.iterdir()) == ["include", "main.c", "part.c"]
    assert {source.filename for source in program.sources} == {"main.c", "part.c"}
    assert functions_of(program, make_env) == {"main", "part"}
    env.reset(benchmark=program)
    env.step(env.action_space["sroa"])
    program.compile(env)
    assert status_of(project / "run") == 42


def test_what_is_compiled_is_the_program_as_it_is_now(project: Path, make_env: Env) -> None:
    (project / "loop.c").write_text("int f(int n) { int a = n; int b = a; return b + 1; }\n")
    env = make_env()
    program = env.make_benchmark_from_command_line(["cc", "-O1", "-c", "loop.c"])
    sizes = []
    for actions in ([], ["sroa", "instcombine"]):
        env.reset(benchmark=program)
        for action in actions:
            env.step(env.action_space[action])
        program.compile(env)
        sizes.append((project / "loop.o").stat().st_size)
        shown = subprocess.check_output(["objdump", "-d", project / "loop.o"], text=True)
        sizes[-1] = len(shown.splitlines())
    assert sizes[1] < sizes[0]


def test_objects_of_earlier_commands_are_linked(project: Path, make_env: Env) -> None:
    env = make_env()
    for command in ("cc -Iinclude -DN=5 -c main.c -o out-main.o", "cc -Iinclude -c part.c"):
        program = env.make_benchmark_from_command_line(command)
    # Neither command was run: their objects are known by the names they would have.
    program = env.make_benchmark_from_command_line("cc out-main.o part.o -o run -lm")
    assert functions_of(program, make_env) == {"main", "part"}
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 14


def test_objects_that_were_compiled_are_known_by_their_bytes(project: Path, make_env: Env) -> None:
    env = make_env()
    for name, flags in (("main", "-DN=5"), ("part", "")):
        program = env.make_benchmark_from_command_line(f"cc -Iinclude {flags} -c {name}.c")
        env.reset(benchmark=program)
        program.compile(env)
    (project / "part.o").rename(project / "moved.o")
    subprocess.run(["ar", "rcs", "libpart.a", "moved.o"], check=True)
    program = env.make_benchmark_from_command_line("cc main.o libpart.a -lm -o run")
    assert functions_of(program, make_env) == {"main", "part"}
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 14


def test_of_an_archive_come_the_members_that_the_linker_would_take(
    project: Path, make_env: Env
) -> None:
    texts = {
        "top": "int used(int); int main(void) { char b[99] = {0}; return used(b[7]); }",
        "one": "int shared_value = 41; int used(int n) { return shared_value + 1 + n; }",
        "two": "int absent(void); int unneeded(void) { return absent(); }",
        "three": "int main(void) { return 1; }",
    }
    env = make_env()
    for name, text in texts.items():
        (project / f"{name}.c").write_text(text)
        program = env.make_benchmark_from_command_line(f"cc -c {name}.c")
        env.reset(benchmark=program)
        program.compile(env)
    subprocess.run(["ar", "rcs", "l.a", "two.o", "three.o", "one.o"], check=True)
    for command in ("cc top.c l.a -o run", "cc top.o l.a -o run"):
        program = env.make_benchmark_from_command_line(command)
        assert functions_of(program, make_env) == {"main", "used"}
        env.reset(benchmark=program)
        program.compile(env)
        assert status_of(project / "run") == 42
    (project / "strange.c").write_text("int part(void); int absent(void) { return part(); }")
    subprocess.run(["cc", "-c", "strange.c"], check=True)
    (project / "part.c").write_text("int part(void) { return 42; }")
    (project / "root.c").write_text("int absent(void); int main(void) { return absent(); }")
    program = env.make_benchmark_from_command_line("cc -c part.c")
    env.reset(benchmark=program)
    program.compile(env)
    subprocess.run(["ar", "rcs", "p.a", "part.o"], check=True)
    program = env.make_benchmark_from_command_line("cc root.c strange.o p.a -o run")
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 42
    (kept,) = record("cc top.o l.a -o run".split(), project, project / "kept")
    assert functions_of(llvm.make_benchmark(kept), make_env) == {"main", "used"}
    program = env.make_benchmark_from_command_line("cc l.a -o run")
    assert functions_of(program, make_env) == {"main"}


def test_symbols_are_told_apart_as_nm_does(project: Path) -> None:
    text = """
        extern int imported; extern int weak_one __attribute__((weak)); int common_one;
        static int local_one; int defined_one = 3; void outside(void);
        __attribute__((weak)) int weak_defined(void) { return 1; }
        static int helper(int *p) { return *p + local_one++; }
        int exported(void) { outside(); return helper(&imported) + (&weak_one != 0) + common_one; }
        int other(void) __attribute__((alias("exported"))); int renamed(void) __asm__("odd$name");
        int renamed(void) { struct { char b[900]; } a = {{0}}, c = a; outside(); return c.b[9]; }
    """
    program = llvm.make_benchmark_from_source(text, lang="c")
    (project / "x.bc").write_bytes(program.contents)
    shown = subprocess.check_output(["llvm-nm-22", "x.bc"], text=True)
    lines = [line.split() for line in shown.splitlines()]
    undefined = {line[-1] for line in lines if line[-2] == "U"} - {"weak_one"}
    defined = {line[-1] for line in lines if line[-2] in "TWDBCV"}
    (symbols,) = run_engine("symbols", [program.contents])
    found = [set(part.split("\n")) for part in symbols.decode().split("\0")]
    assert found[0] == defined
    assert found[1] - {"memset", "memcpy"} == undefined - {"memset", "memcpy"}


def test_objects_of_unknown_origin_stay_for_the_linker(project: Path, make_env: Env) -> None:
    subprocess.run(["cc", "-Iinclude", "-c", "part.c"], check=True)
    env = make_env()
    program = env.make_benchmark_from_command_line("cc -Iinclude -DN=1 main.c part.o -lm -o run")
    assert functions_of(program, make_env) == {"main"}
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 6
    with pytest.raises(BenchmarkInitError, match="no object of known origin"):
        env.make_benchmark_from_command_line("cc part.o -o run")


@pytest.mark.parametrize("size", [b"-100", b"x", b"99999999", b""])
def test_a_damaged_archive_is_one_of_unknown_origin(size: bytes, project: Path) -> None:
    header = b"a.o/".ljust(48) + size.ljust(10) + b"`\n"
    (project / "bad.a").write_bytes(b"!<arch>\n" + header + b"data" * 50)
    with pytest.raises(BenchmarkInitError, match="no object of known origin"):
        llvm.make_benchmark_from_command_line("cc bad.a -o run")


def test_a_damaged_response_file_is_a_typed_error(project: Path) -> None:
    (project / "flags").write_text("-DX='a")
    with pytest.raises(BenchmarkInitError, match="cannot read the response file @flags"):
        llvm.make_benchmark_from_command_line("cc @flags -c main.c")


def test_a_cxx_command_finds_its_library(project: Path, make_env: Env) -> None:
    text = "#include <string>\nint main() { return std::string(41, 'x').size() + 1; }\n"
    (project / "main.cc").write_text(text)
    env = make_env()
    program = env.make_benchmark_from_command_line("g++ -std=c++17 main.cc -o run")
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 42


@pytest.mark.parametrize(
    ("command", "mode", "sources", "objects", "output"),
    [
        ("cc a.c", Mode.PROGRAM, ["a.c"], [], "a.out"),
        ("cc -c d/a.c", Mode.OBJECT, ["d/a.c"], [], "a.o"),
        ("ccache gcc-12 -c -ofile.o a.c", Mode.OBJECT, ["a.c"], [], "file.o"),
        ("clang -S a.cpp -o x.s", Mode.ASSEMBLY, ["a.cpp"], [], "x.s"),
        ("cc -E a.c", Mode.NOTHING, ["a.c"], [], "a.s"),
        ("cc -x c a.txt -x none b.o", Mode.PROGRAM, ["a.txt"], ["b.o"], "a.out"),
        ("cc -MF a.d -MT a.o -c -- -odd.c", Mode.OBJECT, ["-odd.c"], [], "-odd.o"),
        ("cc -Xlinker x.c -L lib -shared a.o -o l.so", Mode.PROGRAM, [], ["a.o"], "l.so"),
        ("cc --version", Mode.NOTHING, [], [], "a.out"),
        ("cc -E -c a.c", Mode.NOTHING, ["a.c"], [], "a.s"),
        ("cc -c -S a.c", Mode.ASSEMBLY, ["a.c"], [], "a.s"),
        ("cc '-###' -c a.c", Mode.NOTHING, ["a.c"], [], "a.s"),
        ("cc -print-file-name=x a.c", Mode.NOTHING, ["a.c"], [], "a.s"),
        ("cc -c -emit-llvm a.c", Mode.OBJECT, ["a.c"], [], "a.bc"),
        ("cc -S -emit-llvm a.c", Mode.ASSEMBLY, ["a.c"], [], "a.ll"),
        ("cc a.S a.c -x assembler b", Mode.PROGRAM, ["a.c"], ["a.S", "b"], "a.out"),
        ("cc -x c-header a.h -o a.h.gch", Mode.NOTHING, [], [], "a.out"),
        ("cc a.h", Mode.NOTHING, [], [], "a.out"),
        ("cc -include-pch a.pch -c a.c", Mode.OBJECT, ["a.c"], [], "a.o"),
        ("CCACHE_DISABLE=1 env A=b cc -c a.c", Mode.OBJECT, ["a.c"], [], "a.o"),
    ],
)
def test_commands_are_taken_apart(
    command: str, mode: Mode, sources: list[str], objects: list[str], output: str, tmp_path: Path
) -> None:
    found = CompilerCommand.from_text(command, tmp_path)
    assert found.mode is mode
    assert [source.name for source in found.sources] == sources
    assert list(found.objects) == objects
    if found.sources:
        assert found.output_of(found.sources[0]) == tmp_path / output


def test_flags_that_change_the_code_are_kept_and_others_go() -> None:
    text = "cc -O3 -g3 -MMD -MP -Wp,-MD,x.d -Iinc -I inc2 -DX='a b' -fPIC -mavx2 -Werror -c a.c"
    found = CompilerCommand.from_text(text)
    assert found.flags == ("-Iinc", "-I", "inc2", "-DX=a b", "-fPIC", "-mavx2")
    assert found.level == "-O3"


def test_flags_in_response_files_and_of_gcc_alone_are_understood(project: Path) -> None:
    (project / "flags").write_text('-Iinclude "-DN=4" -fno-guess-branch-probability\n')
    words = ["gcc", "@flags", "-fno-tree-loop-im", "-fconserve-stack", "-c", "main.c"]
    assert llvm.make_benchmark_from_command_line(words).contents[:4] == b"BC\xc0\xde"


def test_the_program_does_not_depend_on_where_its_tree_is(tmp_path: Path) -> None:
    contents = []
    for name in ("here", "there"):
        root = tmp_path / name
        root.mkdir()
        (root / "a.c").write_text("#include <assert.h>\nvoid f(int x) { assert(x); }\n")
        (root / "build").mkdir()
        command = f"cc -c {root}/a.c -o a.o"
        program = llvm.make_benchmark_from_command_line(command, cwd=root / "build")
        contents.append(program.contents)
        assert [source.filename for source in program.sources] == ["a.c"]
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "found nothing"),
        ("cc 'a.c", "no command"),
        ("cc -E main.c", "makes no code"),
        ("cc missing.c", "no such file"),
        ("cc -c main.c", "cannot compile"),
        ("cc -c main.c part.c -o x.o", "one output for 2 sources"),
        ("cc -c main.c part.c", "makes one of each of 2 sources"),
        ("cc main.c -o", "expected a value after -o"),
        ("cc main.c -o run && ./run", "expected one command, found '&&'"),
        ("cc -x c-header include/part.h", "makes no code"),
        ("cc -c x.s", "is assembly"),
        ("cc -xc -", "reads standard input"),
    ],
)
def test_a_command_without_a_program_says_why(command: str, message: str, project: Path) -> None:
    with pytest.raises(BenchmarkInitError, match=message):
        llvm.make_benchmark_from_command_line(command)


def test_a_command_that_cannot_be_finished_says_what_clang_said(
    project: Path, make_env: Env
) -> None:
    env = make_env()
    program = env.make_benchmark_from_command_line("cc -Iinclude -DN=1 main.c -o run")
    env.reset(benchmark=program)
    with pytest.raises(CompilerDiagnosticError, match="undefined reference to `part'"):
        program.compile(env)


def test_assembly_and_shared_libraries_are_linked_in_their_places(
    project: Path, make_env: Env
) -> None:
    (project / "one.S").write_text(".globl one\none: movl $ONE, %eax\nret\n")
    (project / "lib.c").write_text("int more(void) { return 40; }\n")
    (project / "top.c").write_text(
        "int one(void), more(void);\nint main(void) { return one() + more(); }\n"
    )
    subprocess.run(["cc", "-shared", "-fPIC", "lib.c", "-o", "libmore.so"], check=True)
    env = make_env()
    program = env.make_benchmark_from_command_line(
        "cc -DONE=2 top.c one.S -Wl,-rpath,. ./libmore.so -o run", run=RunSpec.single()
    )
    assert functions_of(program, make_env) == {"main"}
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 42
    assert program.run is not None
    assert program.run.link == ("-Wl,-rpath,.", str(project / "libmore.so"))


def test_libraries_are_linked_in_the_order_of_the_command(project: Path, make_env: Env) -> None:
    subprocess.run(["cc", "-Iinclude", "-c", "part.c"], check=True)
    subprocess.run(["ar", "rcs", "libpart.a", "part.o"], check=True)
    (project / "host.c").write_text("#include <dlfcn.h>\nint main(void) {\n"
        'return ((int (*)(int))dlsym(dlopen(0, 1), "part"))(21); }\n')  # fmt: skip
    env = make_env()
    program = env.make_benchmark_from_command_line(
        "cc host.c -rdynamic -L . -Wl,--whole-archive -lpart -Wl,--no-whole-archive -ldl -o run",
        run=RunSpec.single(expected=ExpectedOutput.of(42, stdout=b"")),
    )
    env.reset(benchmark=program)
    program.compile(env)
    assert status_of(project / "run") == 42
    assert program.run is not None
    assert f"-L{project}" in program.run.link


def test_a_command_that_makes_bitcode_is_finished_with_bitcode(
    project: Path, make_env: Env
) -> None:
    env = make_env()
    for command, first in (("-c", b"BC\xc0\xde"), ("-S", b"; Mo")):
        program = env.make_benchmark_from_command_line(
            f"clang {command} -emit-llvm -Iinclude part.c -o part.out"
        )
        env.reset(benchmark=program)
        env.step(env.action_space["sroa"])
        program.compile(env)
        assert (project / "part.out").read_bytes()[:4] == first


def test_precompiled_headers_of_another_level_are_used(project: Path) -> None:
    header = ["clang-22", "-O0", "-x", "c-header", "include/part.h", "-o"]
    for name, flag in (("include/part.h.pch", "-include"), ("other.pch", "-include-pch")):
        subprocess.run([*header, name], check=True)
        named = "include/part.h" if flag == "-include" else name
        program = llvm.make_benchmark_from_command_line(f"cc {flag} {named} -Iinclude -c part.c")
        assert program.contents[:4] == b"BC\xc0\xde"


def test_cxx_programs_are_linked_with_their_library(project: Path, make_env: Env) -> None:
    text = (
        "#include <cmath>\n#include <string>\nint main(int n, char **) {\n"
        "return (int)std::pow(n + 5.5, n + 1) - std::string(n, 'x').size() + 1; }\n"
    )
    (project / "main.cc").write_text(text)
    run = RunSpec.single(expected=ExpectedOutput.of(42, stdout=b""))
    env = make_env()
    made = [
        env.make_benchmark("main.cc", run=run),
        llvm.make_benchmark_from_source(text, run=run),
        env.make_benchmark_from_command_line("g++ main.cc -o run", run=run),
    ]
    for program in made:
        env.reset(benchmark=program)
        assert env.observation["IsRunnable"]
        assert env.validate().okay()
    made[2].compile(env)
    assert status_of(project / "run") == 42


def test_a_merged_program_keeps_the_one_way_to_run_it(project: Path, make_env: Env) -> None:
    env = make_env()
    run = RunSpec.single(expected=ExpectedOutput.of(42, stdout=b""), link=("-lm",))
    main = env.make_benchmark("main.c", ["-Iinclude", "-DN=19"], run=run)
    part = env.make_benchmark("part.c", ["-Iinclude"])
    program = llvm.merge_benchmarks([main, part])
    assert program.run == run
    env.reset(benchmark=program)
    assert env.validate().okay()
    other = RunSpec.single(("7",))
    assert llvm.merge_benchmarks([main, part], run=other).run == other


def test_splitting_into_fewer_than_no_functions_is_refused(project: Path) -> None:
    program = llvm.make_benchmark("part.c", ["-Iinclude"])
    with pytest.raises(InvalidParameterError, match="expected 0 for all"):
        llvm.split_benchmark_by_function(program, -1)


def test_a_program_that_was_split_can_be_merged_again() -> None:
    with compiler_gym.make("llvm-v0", observation_space="IrInstructionCount") as env:
        program = env.datasets.benchmark("cbench-v1/sha")
        parts = llvm.split_benchmark_by_function(program)
        whole, _ = env.reset(benchmark=program)
        of_parts = sum(env.reset(benchmark=part)[0] for part in parts)
        merged, _ = env.reset(benchmark=llvm.merge_benchmarks(parts))
        assert len(parts) == 22
        assert whole == of_parts == merged


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("file://part.c", "with its whole path, such as file://.*/part.c"),
        ("file://sub/part.c", "with its whole path, such as file://.*/sub/part.c"),
        ("file://", "with its whole path"),
        ("file:///a%00b.c", "null byte"),
        ("file:///dev/null", "found a pipe or a device"),
    ],
)
def test_an_address_of_no_file_says_what_is_expected(
    address: str, message: str, project: Path, make_env: Env
) -> None:
    with pytest.raises(BenchmarkInitError, match=message):
        make_env().reset(benchmark=address)


def test_files_with_odd_names_are_found(project: Path, make_env: Env) -> None:
    env = make_env()
    for name in ("sp ace.c", "per%20cent.c", "hash#mark?.c", "\udcff.c"):
        path = project / name
        path.write_text("int f(void) { return 1; }\n")
        _, info = env.reset(benchmark=path.as_uri())
        assert info["benchmark"] == path.as_uri()
    env.reset(benchmark=f"file://{project}/sp ace.c")
    assert str(env.benchmark).endswith("/sp%20ace.c")


@pytest.fixture
def database(project: Path) -> Path:
    """Return a compile_commands.json as CMake writes it."""
    build = project / "build"
    build.mkdir()
    entries: list[dict[str, Any]] = [
        {
            "directory": str(build),
            "command": f"/usr/bin/cc -I{project}/include -DN=3 -o CMakeFiles/app.dir/{name}.c.o "
            f"-c {project}/{name}.c",
            "file": f"{project}/{name}.c",
            "output": f"CMakeFiles/app.dir/{name}.c.o",
        }
        for name in ("main", "part")
    ]
    arguments = ["cc", "-c", "../broken.c", "-o", "broken.o"]
    entries.append({"directory": str(build), "arguments": arguments, "file": "../broken.c"})
    path = build / "compile_commands.json"
    path.write_text(json.dumps(entries))
    return path


def test_a_compilation_database_gives_one_program_for_each_file(database: Path) -> None:
    unreadable: list[tuple[str, str]] = []
    found = llvm.make_benchmarks_from_compile_commands(database, unreadable=unreadable)
    assert [Path(name).name for name in found] == ["main.c", "part.c"]
    assert [(name, "no such file" in reason) for name, reason in unreadable] == [
        ("../broken.c", True)
    ]
    with pytest.raises(BenchmarkInitError, match="no such file"):
        llvm.make_benchmarks_from_compile_commands(database)


def test_a_compilation_database_gives_one_program_for_each_target(
    database: Path, make_env: Env
) -> None:
    unreadable: list[tuple[str, str]] = []
    found = llvm.make_benchmarks_from_compile_commands_by_target(database, unreadable=unreadable)
    assert list(found) == ["app"]
    assert functions_of(found["app"], make_env) == {"main", "part"}
    assert [name for name, _ in unreadable] == ["all"]


@pytest.mark.parametrize(
    "text", ["", "{}x", "{}", "[1]", '[{"directory": "."}]', '{"a": 1}', "[" * 100_000]
)
def test_what_is_no_compilation_database_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(text)
    with pytest.raises(BenchmarkInitError, match="no compilation database"):
        llvm.make_benchmarks_from_compile_commands(path)
    with pytest.raises(BenchmarkInitError, match="cannot read"):
        llvm.make_benchmarks_from_compile_commands(tmp_path / "nothing.json")


@pytest.mark.parametrize("broken", ["", "cc -c 'part.c", "cc -c part.c -o"])
def test_a_command_that_cannot_be_read_does_not_hide_the_others(broken: str, project: Path) -> None:
    path = project / "compile_commands.json"
    commands = {"part.c": "cc -Iinclude -c part.c", "bad.c": broken}
    path.write_text(json.dumps([{"command": c, "file": f} for f, c in commands.items()]))
    unreadable: list[tuple[str, str]] = []
    found = llvm.make_benchmarks_from_compile_commands(path, unreadable=unreadable)
    assert (list(found), [name for name, _ in unreadable]) == (["part.c"], ["bad.c"])
    with pytest.raises(BenchmarkInitError, match=r"found|no command"):
        llvm.make_benchmarks_from_compile_commands(path)


def test_how_to_run_a_program_travels_with_it(project: Path, make_env: Env) -> None:
    run = RunSpec.single(
        ("in.txt",),
        files={"in.txt": b"1 2"},
        expected=ExpectedOutput.of(3, stdout=b""),
        time_limit=2.5,
    )
    env = make_env()
    made = [
        env.make_benchmark(project / "part.c", ["-Iinclude"], run=run),
        llvm.make_benchmark_from_source("int main() { return 3; }", lang="c", run=run),
        env.make_benchmark_from_command_line("cc -Iinclude -DN=1 main.c part.c -lm", run=run),
    ]
    for program in made:
        assert program.run is not None
        assert program.run.cases == run.cases
        assert pickle.loads(pickle.dumps(program)).run == program.run
        env.reset(benchmark=program)
        assert env.benchmark is not None
        assert env.benchmark.run == program.run
    assert made[2].run is not None
    assert made[2].run.link == ("-lm",)


def test_a_build_that_is_watched_leaves_modules_and_programs(project: Path, make_env: Env) -> None:
    folder = project / "kept"
    commands = [
        "clang-22 -Iinclude -DN=2 -c main.c -o main.o",
        "clang-22 -Iinclude -c part.c -o part.o",
        "clang-22 main.o libpart.a -o run -lm",
    ]
    made: list[Path] = []
    for command in commands:
        if "lib" in command:
            subprocess.run(["ar", "rcs", "libpart.a", "part.o"], check=True)
        subprocess.run(command.split(), check=True)
        made = record(command.split(), project, folder)
    (program,) = made
    assert program.parent == folder / "programs"
    assert functions_of(llvm.make_benchmark(program), make_env) == {"main", "part"}
    index = [json.loads(line) for line in (folder / "index.jsonl").read_text().splitlines()]
    assert [entry["source"] for entry in index] == ["main.c", "part.c", "run"]
    assert index[0]["command"] == commands[0]
    assert all((folder / entry["file"]).is_file() for entry in index)
    assert record(["clang-22", "--version"], project, folder) == []


def test_what_can_be_kept_of_a_command_is_kept(project: Path) -> None:
    (project / "start.s").write_text(".globl start\nstart: ret\n")
    folder = project / "kept"
    with pytest.raises(BenchmarkInitError, match=r"start.s is assembly"):
        record("cc -Iinclude start.s -DN=1 main.c part.c -lm".split(), project, folder)
    found = sorted(path.name.partition("-")[0] for path in (folder / "modules").iterdir())
    assert found == ["main.c", "part.c"]
    assert not (folder / "programs").exists()


def test_shared_libraries_and_partial_links_do_not_hide_a_program(project: Path) -> None:
    folder = project / "kept"
    commands = [
        "clang-22 -shared -fPIC -Iinclude part.c -o libpart.so",
        "clang-22 -Iinclude -DN=2 -c main.c -o main.o",
        "clang-22 -r main.o -o whole.o",
        "clang-22 whole.o ./libpart.so -lm -o run",
    ]
    for command in commands:
        subprocess.run(command.split(), check=True)
        record(command.split(), project, folder)
    names = sorted(path.name.partition("-")[0] for path in (folder / "programs").iterdir())
    assert names == ["libpart.so", "run"]


def test_a_program_without_functions_cannot_be_split() -> None:
    program = llvm.make_benchmark_from_source("int only;", lang="c")
    with pytest.raises(ValueError, match="No functions found"):
        llvm.split_benchmark_by_function(program)


def test_as_many_functions_are_split_off_as_asked_for_and_the_globals() -> None:
    source = "int x; int A() {return x;} int B() {return A();}"
    program = llvm.make_benchmark_from_source(source, lang="c")
    assert len(llvm.split_benchmark_by_function(program)) == 3
    first, rest = llvm.split_benchmark_by_function(program, maximum_function_count=1)
    with LlvmEnv() as env:
        env.reset(benchmark=first)
        assert "define" in env.ir
        assert "@B" not in env.ir
        env.reset(benchmark=rest)
        assert "@x = " in env.ir
        assert "define" not in env.ir


@pytest.mark.parametrize("name", ["adpcm", "blowfish", "qsort", "patricia"])
def test_a_merged_program_does_what_the_whole_did(name: str) -> None:
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount") as env:
        program = env.datasets.benchmark(f"cbench-v1/{name}")
        parts = llvm.split_benchmark_by_function(program)
        env.reset(benchmark=llvm.merge_benchmarks(parts, run=program.run))
        env.step(env.action_space["sroa"])
        result = env.validate()
        assert result.okay(), result.error_details
        assert result.benchmark_semantics_validated


@pytest.mark.parametrize("name", ["adpcm", "blowfish"])
def test_a_bundled_program_is_run_under_a_name_of_its_users_own(name: str) -> None:
    with compiler_gym.make("llvm-v0", observation_space="Runtime") as env:
        bundled = env.datasets.benchmark(f"cbench-v1/{name}")
        mine = Benchmark(f"user-v0/{name}", bundled.contents, run=bundled.run)
        assert env.reset(benchmark=mine)[0][0] > 0
        assert env.validate().benchmark_semantics_validated


@pytest.mark.parametrize("lang", ["c", "c++"])
def test_without_system_includes_no_header_of_the_system_is_found(
    lang: str, tmp_path: Path
) -> None:
    text = "#include <stdio.h>\nint main() { return 0; }\n"
    suffix = {"c": ".c", "c++": ".cpp"}[lang]
    (tmp_path / f"a{suffix}").write_text(text)
    file = str(tmp_path / f"a{suffix}")
    with LlvmEnv() as env:
        for make in (
            lambda among: llvm.make_benchmark_from_source(text, lang=lang, system_includes=among),
            lambda among: llvm.make_benchmark(file, system_includes=among),
            lambda among: env.make_benchmark([file], system_includes=among),
            lambda among: llvm.make_benchmark(
                llvm.ClangInvocation.from_c_file(file, system_includes=among)
            ),
            lambda among: env.make_benchmark_from_command_line(
                ["cc", "-c", file], system_includes=among
            ),
        ):
            assert make(True).contents
            with pytest.raises(BenchmarkInitError, match=r"'stdio\.h' file not found"):
                make(False)
    own = llvm.make_benchmark_from_source("#include <stddef.h>", lang=lang, system_includes=False)
    assert own.contents
