# SPDX-License-Identifier: MIT
"""A program for another machine: its address says so, all that makes code sees it, nothing runs."""

import pickle
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym import _llvm
from compiler_gym.datasets import Benchmark, RunSpec
from compiler_gym.envs.llvm import LlvmEnv, make_benchmark_from_source
from compiler_gym.envs.llvm.toolchain.target import Target
from compiler_gym.errors import BenchmarkInitError, ObservationError
from compiler_gym.session import BenchmarkSpec
from compiler_gym.validation import Verdict

MakeEnv = Callable[..., LlvmEnv]
Tool = Callable[..., bytes]
MACHINES = ("aarch64", "riscv64")
every_machine = pytest.mark.parametrize("machine", MACHINES)
COSTS = ("ObjectTextSizeBytes", "ObjectInstructionCount", "McaCycles")
RUN = ("Runtime", "Buildtime", "RuntimeComparison", "RuntimeInstructions", "TextSizeBytes")


def spec(**parameters: str) -> BenchmarkSpec:
    return BenchmarkSpec("benchmark://demo/1", b"", parameters)


def test_a_target_is_what_an_address_says() -> None:
    assert Target.of(spec()).key == ""
    assert Target.of(spec(target="arm64")).key == Target.of(spec(target="aarch64")).key
    asked = ("aarch64", "riscv64", "riscv64-unknown-elf", "riscv64-linux-../..")
    keys = {"", *(Target.of(spec(target=one)).key for one in asked)}
    assert len(keys) == 5
    assert not any("/" in key for key in keys)


@pytest.mark.parametrize("target", ["", "arm", "AArch64", "aarch64-apple-macosx", "\udcff", "x86"])
def test_an_address_that_asks_for_no_machine_is_refused(target: str) -> None:
    expected = r"no target .* in benchmark://demo/1; use x86_64, aarch64, riscv64, or a triple"
    with pytest.raises(BenchmarkInitError, match=expected):
        Target.of(spec(target=target))


@every_machine
def test_costs_and_baselines_are_of_the_machine(
    make_env: MakeEnv, machine: str, tool: Tool, tmp_path: Path
) -> None:
    env = make_env(benchmark=f"cbench-v1/sha?target={machine}", reward_space="ObjectTextSizeOz")
    env.reset()
    assert f'target triple = "{machine}-' in env.ir
    fresh = _llvm.Module(env.observation["Bitcode"].tobytes())
    for level in ("O3", "Oz", "OptOz"):
        module = _llvm.Module(fresh.bitcode())
        module.apply_level(level)
        assert env.observation[f"ObjectTextSize{level}"] == module.object_text_size()
        assert env.observation[f"IrInstructionCount{level}"] == module.instruction_count()
    there = {name: env.observation[name] for name in COSTS}
    env.reset(benchmark="cbench-v1/sha")
    assert all(env.observation[name] != cost for name, cost in there.items())
    env.reset(benchmark=f"cbench-v1/sha?target={machine}")
    _, reward, *_ = env.multistep([env.action_space["sroa"], env.action_space["simplifycfg"]])
    assert reward
    (tmp_path / "now.bc").write_bytes(env.observation["Bitcode"].tobytes())
    tool("llc-22", "-filetype=obj", tmp_path / "now.bc", "-o", tmp_path / "now.o")
    code = (tmp_path / "now.o").read_bytes()
    assert env.observation["ObjectTextSizeBytes"] == _llvm.code_size(code)


@every_machine
def test_the_command_of_an_episode_gives_its_bytes(
    make_env: MakeEnv, machine: str, tool: Tool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = make_env(benchmark=f"cbench-v1/crc32?target={machine}", action_space="PassesAndCodegen")
    env.reset()
    monkeypatch.chdir(tmp_path)
    Path("input.bc").write_bytes(env.observation["Bitcode"].tobytes())
    tool("llc-22", "--version")
    names = ("sroa", "instcombine", "loop-rotate", "simplifycfg", "enable-ipra=true")
    env.multistep([env.action_space[name] for name in names])
    assert env.commandline_to_actions(env.commandline()) == env.actions
    command = env.commandline().replace("opt ", "opt-22 ", 1).replace("| llc ", "| llc-22 ")
    subprocess.run(command, shell=True, check=True)
    code = Path("output.o").read_bytes()
    assert env.observation["ObjectTextSizeBytes"] == _llvm.code_size(code)


@every_machine
def test_the_machine_is_part_of_the_state(make_env: MakeEnv, machine: str) -> None:
    env = make_env(benchmark="cbench-v1/crc32", reward_space="ObjectTextSizeOz")
    env.reset()
    elsewhere = env.observation["IrHash"]
    env.reset(benchmark=f"cbench-v1/crc32?target={machine}")
    assert env.observation["IrHash"] != elsewhere
    env.multistep([env.action_space["sroa"], env.action_space["early-cse"]])
    fork = env.fork()
    assert fork.observation["IrHash"] == env.observation["IrHash"]
    fork.close()
    state = pickle.loads(pickle.dumps(env.state))
    assert state.benchmark == f"benchmark://cbench-v1/crc32?target={machine}"
    hashed = env.observation["IrHash"]
    env.reset()
    env.apply(state)
    assert env.observation["IrHash"] == hashed
    result = env.validate(state, rungs=None)
    verdicts = {rung.name: rung.verdict for rung in result.rungs}
    assert result.okay()
    assert (verdicts["replay"], verdicts["verify"]) == (Verdict.OK, Verdict.OK)
    assert verdicts["run"] is Verdict.UNKNOWN
    assert "asan" not in verdicts
    assert env.behaviour_errors() == ()


@every_machine
def test_running_code_for_another_machine_gives_the_reason(make_env: MakeEnv, machine: str) -> None:
    env = make_env(benchmark=f"cbench-v1/crc32?target={machine}")
    env.reset()
    assert not env.observation["IsBuildable"]
    assert not env.observation["IsRunnable"]
    for name in RUN:
        expected = f"for {machine}, so it can be neither linked nor run here.*ObjectTextSizeBytes"
        with pytest.raises(ObservationError, match=expected):
            env.observation[name]
    assert env.observation["IrInstructionCount"] > 0


def test_a_machine_goes_with_a_goal_and_a_scope(make_env: MakeEnv) -> None:
    env = make_env(benchmark="cbench-v1/gsm?target=riscv64&scope=program&goal=speed")
    env.reset()
    assert "minsize" not in env.ir
    assert env.ir.count("define internal") > 10
    linked = env.observation["ObjectTextSizeOz"]
    env.reset(benchmark="cbench-v1/gsm?target=riscv64")
    assert env.observation["ObjectTextSizeOz"] != linked


def test_a_program_that_means_nothing_elsewhere_is_refused(make_env: MakeEnv) -> None:
    source = (
        'int main(void) { __asm__ volatile("cpuid" ::: "eax", "ebx", "ecx", "edx"); return 0; }'
    )
    own = make_benchmark_from_source(source, lang="c")
    env = make_env(benchmark="cbench-v1/crc32")
    env.reset()
    before = env.observation["IrHash"]
    asked = Benchmark(f"{own.uri}?target=aarch64", own.contents)
    with pytest.raises(BenchmarkInitError, match=r"user-v0.*inline assembly in 'main'"):
        env.reset(benchmark=asked)
    env.reset(benchmark="cbench-v1/crc32")
    assert env.observation["IrHash"] == before
    env.reset(benchmark=Benchmark(f"{own.uri}?target=x86_64", own.contents))
    assert env.observation["IsBuildable"]


PLAIN = """
@text = private constant [5 x i8] c"%ld\\0A\\00"
declare i32 @printf(ptr, ...)
define i32 @main(i32 %n, ptr %words) {
  %wide = sext i32 %n to i64
  %square = mul i64 %wide, %wide
  %printed = call i32 (ptr, ...) @printf(ptr @text, i64 %square)
  ret i32 0
}
"""
X86_LAYOUT = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"


def text_sizes(tool: Tool, folder: Path, bitcode: bytes) -> int:
    """Return the bytes of code in the object that llc writes, as llvm-size lists them."""
    (folder / "o.o").write_bytes(tool("llc-22", "-filetype=obj", "-o", "-", input=bitcode))
    rows = tool("llvm-size-22", "-A", folder / "o.o").decode().splitlines()
    return sum(int(row.split()[1]) for row in rows if row.startswith(".text"))


@pytest.mark.parametrize("layout", ["", X86_LAYOUT, "e-p:32:32", "E-i64:32"])
def test_a_program_without_a_triple_gets_the_code_that_llc_generates(
    make_env: MakeEnv, tool: Tool, tmp_path: Path, layout: str
) -> None:
    head = f'target datalayout = "{layout}"' if layout else ""
    run = RunSpec.single(("a", "b"))
    program = Benchmark(f"benchmark://user-v0/{len(layout)}", (head + PLAIN).encode(), run=run)
    env = make_env(reward_space="ObjectTextSizeOz")
    env.reset(benchmark=program)
    bitcode, ir, hash = (env.observation[name] for name in ("Bitcode", "Ir", "IrHash"))
    assert "target triple" not in ir
    assert ("target datalayout" in ir) == bool(layout)
    size = env.observation["ObjectTextSizeBytes"]
    assert size == text_sizes(tool, tmp_path, bitcode.tobytes()) > 0
    assert "main:" in env.observation["Assembly"]
    for name in ("ObjectTextSizeOz", "ObjectInstructionCount", "McaCycles", "TextSizeBytes"):
        assert env.observation[name] > 0
    assert env.observation["LinkedTextSizeBytes"] > size
    assert env.observation["IsRunnable"]
    assert len(env.observation["Runtime"])
    env.step(env.action_space["instcombine"])
    assert env.validate().okay()
    env.reset(benchmark=program)
    assert (env.observation["Ir"], env.observation["IrHash"]) == (ir, hash)
    assert env.observation["Bitcode"].tobytes() == bitcode.tobytes()


@pytest.mark.parametrize("triple", ["unknown-unknown-unknown", "nothing", "sparc-sun-solaris"])
def test_a_triple_without_a_code_generator_is_not_replaced(make_env: MakeEnv, triple: str) -> None:
    env = make_env()
    text = f'target triple = "{triple}"\n{PLAIN}'
    env.reset(benchmark=Benchmark(f"benchmark://user-v0/{triple}", text.encode()))
    with pytest.raises(ObservationError, match=f"the module's target '{triple}'"):
        env.observation["ObjectTextSizeBytes"]


def test_llvm_stress_has_sizes(make_env: MakeEnv, tool: Tool, tmp_path: Path) -> None:
    env = make_env()
    for number in range(4):
        env.reset(benchmark=f"generator://llvm-stress-v0/{number}")
        expected = text_sizes(tool, tmp_path, env.observation["Bitcode"].tobytes())
        assert env.observation["ObjectTextSizeBytes"] == expected
