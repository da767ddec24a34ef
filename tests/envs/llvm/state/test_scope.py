# SPDX-License-Identifier: MIT
"""A module that is a whole program: what stays visible, and what it is compared with."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm import LlvmEnv, make_benchmark
from compiler_gym.envs.llvm.state.scope import Scope
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.session import BenchmarkSpec

MakeEnv = Callable[..., LlvmEnv]
Tool = Callable[..., bytes]
PROGRAM = """
#include <stdlib.h>
int table[4] = {1, 2, 3, 4};
__attribute__((section("hooks"), used, retain)) int (*hook)(void);
__attribute__((section("marks"))) int mark = 5;
extern int __start_marks[], __stop_marks[];
int unused(int n) { return n * 3; }
int helper(int n) { return n + table[n & 3]; }
void *memset(void *to, int byte, unsigned long size) {
  for (unsigned long at = 0; at < size; at++) ((volatile char *)to)[at] = byte;
  return to;
}
int shown(int n) { return helper(n) ^ 1; }
int main(int count, char **words) { return helper(count) - helper(count) + (&__start_marks == 0); }
"""


def spec(**parameters: str) -> BenchmarkSpec:
    return BenchmarkSpec("benchmark://demo/1", b"", parameters)


def visible(ir: str) -> set[str]:
    """Return the definitions of printed IR that others may name."""
    functions = re.findall(r"^define (?!internal|private)[^@]*@([\w.]+)\(", ir, re.MULTILINE)
    variables = re.findall(
        r"^@([\w.]+) = (?!internal|private|external|extern_weak|appending)", ir, re.MULTILINE
    )
    return {*functions, *variables}


@pytest.fixture
def own(tmp_path: Path) -> Benchmark:
    (tmp_path / "own.c").write_text(PROGRAM)
    return make_benchmark(tmp_path / "own.c", copt=["-O1", "-fno-builtin"])


def asked(benchmark: Benchmark, query: str) -> Benchmark:
    return Benchmark(f"{benchmark.uri}?{query}", benchmark.contents)


def test_a_scope_is_what_an_address_says() -> None:
    assert Scope.of(spec()) == Scope.of(spec(scope="module"))
    assert Scope.of(spec()).key == ""
    assert Scope.of(spec(scope="program", keep="b,a,b")).keep == ("a", "b")
    keys = [Scope.of(spec(scope="program", **keep)).key
            for keep in ({}, {"keep": "a"}, {"keep": "a,b"}, {"keep": "b,a"})]  # fmt: skip
    assert keys[2] == keys[3]
    assert len({"", *keys}) == 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"scope": "all"}, "no scope 'all' in benchmark://demo/1; use module or program"),
        ({"keep": "a"}, "add scope=program"),
        ({"scope": "program", "keep": "a,,b"}, "empty name"),
        ({"scope": "program", "keep": ""}, "empty name"),
    ],
)
def test_an_address_that_asks_for_nonsense_is_refused(
    parameters: dict[str, str], message: str
) -> None:
    with pytest.raises(BenchmarkInitError, match=message):
        Scope.of(spec(**parameters))


def test_a_program_keeps_what_others_may_name(make_env: MakeEnv, own: Benchmark) -> None:
    env = make_env(benchmark=own)
    env.reset()
    everything = {"table", "hook", "mark", "unused", "helper", "memset", "shown", "main"}
    assert visible(env.ir) == everything
    count = env.observation["IrInstructionCount"]
    # A used variable stays, a library's function, and what lies between named bounds.
    env.reset(benchmark=asked(own, "scope=program"))
    assert visible(env.ir) == {"hook", "mark", "memset", "main"}
    assert env.observation["IrInstructionCount"] == count
    env.reset(benchmark=asked(own, "scope=program&keep=shown,table"))
    assert visible(env.ir) == {"hook", "mark", "memset", "main", "shown", "table"}
    env.reset(benchmark=asked(own, "scope=module"))
    assert visible(env.ir) == everything


def test_names_in_module_level_assembly_stay_visible() -> None:
    module = _llvm.Module(
        b'target triple = "x86_64-pc-linux-gnu"\nmodule asm ".globl alias_of"\n'
        b'module asm ".set alias_of, behind"\n'
        b"define void @behind() {\n  ret void\n}\ndefine void @other() {\n  ret void\n}\n"
        b"define i32 @main() {\n  ret i32 0\n}\n"
    )
    assert module.internalize([]) == ["behind", "main"]
    assert visible(module.text()) == {"behind", "main"}


def test_nothing_is_changed_by_a_scope_that_is_refused(make_env: MakeEnv, own: Benchmark) -> None:
    module = _llvm.Module(own.contents)
    before = module.ir_hash()
    with pytest.raises(BenchmarkInitError, match="'nowhere' is in keep"):
        module.internalize(["main", "nowhere"])
    with pytest.raises(BenchmarkInitError, match="'puts' is in keep"):
        module.apply_linked_level("Oz", ["puts"])
    assert module.ir_hash() == before
    env = make_env(benchmark=own)
    env.reset()
    with pytest.raises(BenchmarkInitError, match=r"user-v0.*'nowhere' is in keep.*use names"):
        env.reset(benchmark=asked(own, "scope=program&keep=nowhere"))


def test_a_module_without_main_says_what_it_needs(make_env: MakeEnv, tmp_path: Path) -> None:
    (tmp_path / "lib.c").write_text("int f(int n) { return n; } int g(int n) { return f(n); }")
    library = make_benchmark(tmp_path / "lib.c")
    env = make_env(benchmark=library)
    with pytest.raises(BenchmarkInitError, match=r"no 'main'.*keep=name,name"):
        env.reset(benchmark=asked(library, "scope=program"))
    env.reset(benchmark=asked(library, "scope=program&keep=g"))
    assert visible(env.ir) == {"g"}


def test_an_address_has_no_other_keys(make_env: MakeEnv) -> None:
    env = make_env()
    with pytest.raises(BenchmarkInitError, match="unknown key"):
        env.reset(benchmark="cbench-v1/crc32?scop=program")


def test_baselines_of_a_program_are_not_those_of_a_module(make_env: MakeEnv) -> None:
    env = make_env(benchmark="cbench-v1/crc32")
    names = [f"{cost}{level}" for cost in ("IrInstructionCount", "ObjectTextSize")
             for level in ("O3", "Oz", "OptOz")]  # fmt: skip
    found: list[list[int]] = []
    for query in ("", "?scope=program", "", "?scope=program"):
        env.reset(benchmark=f"cbench-v1/crc32{query}")
        found.append([env.observation[name] for name in names])
    assert found[0] == found[2]
    assert found[1] == found[3]
    assert all(a != b for a, b in zip(found[0], found[1], strict=True))


@pytest.mark.parametrize("program", ["crc32", pytest.param("gsm", marks=pytest.mark.slow)])
@pytest.mark.parametrize("level", ["O1", "O2", "O3", "Oz"])
def test_a_baseline_is_what_clang_and_lld_make(
    make_env: MakeEnv, tool: Tool, tmp_path: Path, program: str, level: str
) -> None:
    goal = "size" if level == "Oz" else "speed"
    env = make_env()
    env.reset(benchmark=f"cbench-v1/{program}?goal={goal}")
    path = env.write_bitcode(tmp_path / "module.bc")
    env.reset(benchmark=f"cbench-v1/{program}?scope=program")
    command = ("clang-22", f"-{level}", "-flto")
    tool(*command, "-fPIE", "-c", "-x", "ir", path, "-o", tmp_path / "module.o")
    tool("ld.lld-22", "--version")
    tool(*command, "-pie", "-fuse-ld=lld-22", "-Wl,--save-temps", tmp_path / "module.o", "-lm",
         "-o", tmp_path / "program")  # fmt: skip
    (linked,) = tmp_path.glob("program*precodegen.bc")
    theirs = _llvm.Module(linked.read_bytes())
    assert env.observation[f"IrInstructionCount{level}"] == theirs.instruction_count()
    assert env.benchmark is not None
    ours = _llvm.Module(env.benchmark.contents)
    ours.apply_linked_level(level, [])
    (tmp_path / "ours.bc").write_bytes(ours.bitcode())
    # Theirs was read from a file that does not hold the order of uses; so is ours. Their linker
    # also puts functions in another order, which pads them otherwise.
    again = tool("opt-22", "-passes=verify", "-preserve-bc-uselistorder=false",
                 tmp_path / "ours.bc", "-o", "-")  # fmt: skip
    size = _llvm.Module(again).object_text_size()
    assert size == pytest.approx(theirs.object_text_size(), rel=1e-3)


def test_opt_makes_the_same_program(make_env: MakeEnv, own: Benchmark, tmp_path: Path) -> None:
    env = make_env()
    env.reset(benchmark=own)
    assert env.send_param("llvm.get_scope_pipeline", "") == ""
    plain = env.write_bitcode(tmp_path / "plain.bc")
    env.reset(benchmark=asked(own, "scope=program&keep=shown"))
    pipeline = env.send_param("llvm.get_scope_pipeline", "")
    assert pipeline.startswith("internalize<preserve-gv=")
    command = ["opt-22", "-discard-value-names", f"-passes={pipeline}", str(plain), "-o",
               str(tmp_path / "program.bc")]  # fmt: skip
    subprocess.run(command, check=True)
    theirs = _llvm.Module((tmp_path / "program.bc").read_bytes())
    assert theirs.ir_hash().hex() == env.observation["IrHash"]


@pytest.mark.parametrize("program", ["crc32", "qsort"])
def test_an_episode_is_replayed_forked_and_validated_as_any_other(
    make_env: MakeEnv, program: str
) -> None:
    uri = f"benchmark://cbench-v1/{program}?scope=program"
    env = make_env(reward_space="IrInstructionCountOz", action_space="PassesAndPipelines")
    env.reset(benchmark=uri)
    assert env.state.benchmark == uri
    for name in ("sroa", "globaldce", "inline", "-Oz"):
        env.step(env.action_space[name])
    state = env.state
    with env.fork() as twin:
        assert twin.observation["IrHash"] == env.observation["IrHash"]
        assert str(twin.benchmark) == uri
    result = env.validate(state)
    assert result.okay(), result
    env.reset(benchmark=f"cbench-v1/{program}")
    env.apply(state)
    assert str(env.benchmark) == uri
    assert env.observation["IrHash"] == state.state_hash


def test_its_command_line_starts_from_the_written_file(
    make_env: MakeEnv, tool: Tool, tmp_path: Path
) -> None:
    env = make_env()
    env.reset(benchmark="cbench-v1/crc32?scope=program")
    path = env.write_bitcode(tmp_path / "input.bc")
    for name in ("globaldce", "sroa", "inline"):
        env.step(env.action_space[name])
    words = env.commandline().replace("'", "").split()
    output = tmp_path / "output.bc"
    tool("opt-22", *words[1:-3], path, "-o", output)
    assert _llvm.Module(output.read_bytes()).ir_hash().hex() == env.observation["IrHash"]
