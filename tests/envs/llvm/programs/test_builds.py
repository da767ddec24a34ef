# SPDX-License-Identifier: MIT
import json
import pickle
import shutil
import subprocess
import time
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.builds import CompilerCommand, Mode
from compiler_gym.datasets import Benchmark, ExpectedOutput, RunSpec
from compiler_gym.envs import llvm
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.programs.builds import record
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerDiagnosticError,
    InvalidParameterError,
)
from tests.stand_ins import stand_in

from .conftest import Env, functions_of, status_of

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


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


def test_the_current_program_is_compiled(project: Path, make_env: Env) -> None:
    (project / "loop.c").write_text("int f(int n) { int a = n; int b = a; return b + 1; }\n")
    env = make_env()
    program = env.make_benchmark_from_command_line(["cc", "-O1", "-c", "loop.c"])
    sizes: list[int] = []
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
        assert found.find_output(found.sources[0]) == tmp_path / output


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
    contents: list[bytes] = []
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
        ("", "is empty"),
        ("cc 'a.c", "cannot read the command"),
        ("cc -E main.c", "does not compile or link anything"),
        ("cc missing.c", "no such file"),
        ("cc -c main.c", "cannot compile"),
        ("cc -c main.c part.c -o x.o", "one output for 2 sources"),
        ("cc -c main.c part.c", "compiles 2 sources separately"),
        ("cc main.c -o", "-o needs a value"),
        ("cc main.c -o run && ./run", "use a single command, without '&&'"),
        ("cc -x c-header include/part.h", "does not compile or link anything"),
        ("cc -c x.s", "is assembly"),
        ("cc -xc -", "reads standard input"),
    ],
)
def test_a_command_without_a_program_gives_the_reason(
    command: str, message: str, project: Path
) -> None:
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
    linked = env.make_benchmark_from_command_line("g++ main.cc -o run", run=run)
    made = [
        env.make_benchmark("main.cc", run=run),
        llvm.make_benchmark_from_source(text, run=run),
    ]
    for program in (*made, linked):
        env.reset(benchmark=program)
        assert env.observation["IsRunnable"]
        assert env.validate().okay()
    linked.compile(env)
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
    with pytest.raises(InvalidParameterError, match="0 returns all functions"):
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


def test_a_programs_run_spec_travels_with_it(project: Path, make_env: Env) -> None:
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


def test_usable_parts_of_a_command_are_kept(project: Path) -> None:
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


def test_as_many_functions_are_split_off_as_requested_and_the_globals() -> None:
    source = "int x; int A() {return x;} int B() {return A();}"
    program = llvm.make_benchmark_from_source(source, lang="c")
    assert len(llvm.split_benchmark_by_function(program)) == 3
    rest, first = llvm.split_benchmark_by_function(program, maximum_function_count=1)
    with LlvmEnv() as env:
        env.reset(benchmark=first)
        assert "define" in env.ir
        assert "@B" not in env.ir
        env.reset(benchmark=rest)
        assert "@x = " in env.ir
        assert "define" not in env.ir


@pytest.mark.parametrize(
    "name",
    [
        "qsort",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("adpcm", "blowfish", "patricia")),
    ],
)
def test_a_merged_program_does_what_the_whole_did(name: str) -> None:
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount") as env:
        program = env.datasets.benchmark(f"cbench-v1/{name}")
        parts = llvm.split_benchmark_by_function(program)
        env.reset(benchmark=llvm.merge_benchmarks(parts, run=program.run))
        env.step(env.action_space["sroa"])
        result = env.validate()
        assert result.okay(), result.error_details
        assert result.benchmark_semantics_validated


@pytest.mark.parametrize("name", ["adpcm", pytest.param("blowfish", marks=pytest.mark.slow)])
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
            stand_in(
                lambda among: llvm.make_benchmark_from_source(
                    text, lang=lang, system_includes=among
                )
            ),
            stand_in(lambda among: llvm.make_benchmark(file, system_includes=among)),
            stand_in(lambda among: env.make_benchmark([file], system_includes=among)),
            stand_in(
                lambda among: llvm.make_benchmark(
                    llvm.ClangInvocation.from_c_file(file, system_includes=among)
                )
            ),
            stand_in(
                lambda among: env.make_benchmark_from_command_line(
                    ["cc", "-c", file], system_includes=among
                )
            ),
        ):
            assert make(True).contents
            with pytest.raises(BenchmarkInitError, match=r"'stdio\.h' file not found"):
                make(False)
    own = llvm.make_benchmark_from_source("#include <stddef.h>", lang=lang, system_includes=False)
    assert own.contents


def test_the_globals_come_first() -> None:
    program = llvm.make_benchmark_from_source("int x; int A() {return x;}", lang="c")
    variables, function = llvm.split_benchmark_by_function(program)
    with LlvmEnv() as env:
        env.reset(benchmark=variables)
        assert "@x = " in env.ir
        assert "define" not in env.ir
        env.reset(benchmark=function)
        assert "define" in env.ir


def test_an_observation_that_takes_too_long_ends_in_time(tmp_path: Path) -> None:
    source = tmp_path / "large.ll"
    adds = "\n".join(f"  %x{i + 1} = add i32 %x{i}, %x{i}" for i in range(20_000))
    body = f"(i32 %x0) {{\n{adds}\n  ret i32 %x20000\n}}\n"
    source.write_text("".join(f"define i32 @f{n}{body}" for n in range(40)))
    began = time.monotonic()
    with pytest.raises(TimeoutError):
        llvm.compute_observation("ObjectTextSizeO3", source, timeout=1.0)
    assert time.monotonic() - began < 30
