# SPDX-License-Identifier: MIT
import json
import pickle
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import Benchmark, ExpectedOutput, RunSpec
from compiler_gym.envs import llvm
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm._command_line import CompilerCommand, Mode
from compiler_gym.envs.llvm._own import record
from compiler_gym.errors import BenchmarkInitError, CompilerDiagnosticError

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
        ("cc -c x.s", "no such file|is assembly"),
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


@pytest.mark.parametrize("text", ["", "{}x", "[1]", '[{"directory": "."}]', '{"a": 1}'])
def test_what_is_no_compilation_database_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "compile_commands.json"
    path.write_text(text)
    with pytest.raises(BenchmarkInitError, match="no compilation database"):
        llvm.make_benchmarks_from_compile_commands(path)
    with pytest.raises(BenchmarkInitError, match="cannot read"):
        llvm.make_benchmarks_from_compile_commands(tmp_path / "nothing.json")


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
