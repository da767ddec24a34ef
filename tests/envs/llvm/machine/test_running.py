# SPDX-License-Identifier: MIT
"""Programs that are linked, measured and run; and programs that misbehave when they run."""

import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler_gym import _llvm
from compiler_gym.datasets import Benchmark, ExpectedOutput, RunSpec
from compiler_gym.envs.llvm import LlvmEnv, make_benchmark_from_source
from compiler_gym.envs.llvm.machine.timing import compare, without_outliers
from compiler_gym.envs.llvm.observations.compute import mca_cycles
from compiler_gym.envs.llvm.rewards import SpeedupReward
from compiler_gym.errors import InvalidParameterError, ObservationError
from compiler_gym.spaces import RuntimeReward

MakeEnv = Callable[..., LlvmEnv]
Tool = Callable[..., bytes]
PROGRAMS = Path(__file__).parents[4] / "programs"
HELLO = '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
HELLO_RUN = RunSpec.single(expected=ExpectedOutput.of(stdout=b"hello\n"))


def program(source: str, run: RunSpec | None = HELLO_RUN) -> Benchmark:
    return make_benchmark_from_source(source, lang="c", run=run)


def started(make_env: MakeEnv, benchmark: Benchmark | str, **kwargs) -> LlvmEnv:
    env = make_env(**kwargs)
    env.reset(benchmark=benchmark)
    return env


def test_the_text_size_is_what_llvm_size_says_of_the_linked_program(
    make_env: MakeEnv, tool: Tool, tmp_path: Path
) -> None:
    env = started(make_env, "cbench-v1/crc32")
    for action in ("sroa", "instcombine"):
        path = env.write_bitcode(tmp_path / "module.bc")
        tool("llc-22", "-filetype=obj", path, "-o", tmp_path / "module.o")
        tool("clang-22", "-no-pie", tmp_path / "module.o", "-o", tmp_path / "program")
        flags = tool("llvm-readelf-22", "-SW", tmp_path / "program").decode()
        sections = re.findall(
            r"\] (\S+) +\w+ +[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+) [0-9a-f]+ +\w*X\w* ", flags
        )
        assert sections
        assert env.observation["TextSizeBytes"] == sum(int(size, 16) for _, size in sections)
        env.step(env.action_space[action])


def test_machine_instructions_are_those_that_objdump_lists(
    make_env: MakeEnv, tool: Tool, tmp_path: Path
) -> None:
    env = started(make_env, "cbench-v1/sha")
    path = env.write_bitcode(tmp_path / "module.bc")
    tool("llc-22", "-filetype=obj", path, "-o", tmp_path / "module.o")
    listing = tool("llvm-objdump-22", "-d", "--no-show-raw-insn", tmp_path / "module.o").decode()
    listed = [line for line in listing.splitlines() if re.match(r"\s+[0-9a-f]+:\s", line)]
    assert env.observation["ObjectInstructionCount"] == len(listed)


def test_the_map_of_blocks_changes_no_code() -> None:
    module = _llvm.Module((PROGRAMS / "sha/sha.bc").read_bytes())
    assert _llvm.code_size(_llvm.object_code_with_blocks(module)) == module.object_text_size()


def test_cycles_of_a_block_are_those_of_llvm_mca(tool: Tool, tmp_path: Path) -> None:
    module = _llvm.Module((PROGRAMS / "sha/sha.bc").read_bytes())
    module.apply_level("O2")
    (tmp_path / "module.o").write_bytes(_llvm.object_code_with_blocks(module))
    tool("llvm-objcopy-22", "-O", "binary", "-j", ".text", tmp_path / "module.o", tmp_path / "code")
    code = (tmp_path / "code").read_bytes()
    compared = 0
    for _, _, address, size, _, cycles in _llvm.machine_blocks(module)[:12]:
        digits = " ".join(f"0x{byte:02x}" for byte in code[address : address + size])
        decode = ("--disassemble", "-triple=x86_64")
        text = tool("llvm-mc-22", *decode, input=digits.encode())
        if re.search(rb"\t(call|ret)", text):
            continue
        simulate = ("-mtriple=x86_64", "-mcpu=skylake", "-iterations=100")
        report = tool("llvm-mca-22", *simulate, input=text)
        total = re.search(rb"Total Cycles:\s+(\d+)", report)
        assert total
        assert cycles == pytest.approx(int(total[1]) / 100), text
        compared += 1
    assert compared >= 3


def test_call_frequencies_multiply_along_calls() -> None:
    source = (
        "define void @leaf() {\n  ret void\n}\n"
        "define void @twice() {\n  call void @leaf()\n  call void @leaf()\n  ret void\n}\n"
        "define void @main() {\n  call void @twice()\n  call void @twice()\n  ret void\n}\n"
    )
    module = _llvm.Module(source.encode())
    assert dict(_llvm.call_frequencies(module)) == {b"leaf": 4.0, b"twice": 2.0, b"main": 1.0}


def test_inlining_does_not_change_the_guess_of_what_runs() -> None:
    before = _llvm.Module((PROGRAMS / "crc32/crc32.bc").read_bytes())
    before.run("function(sroa)")
    cycles = mca_cycles(before)
    before.run("cgscc(inline)")
    assert cycles / 4 < mca_cycles(before) < cycles * 4


@pytest.mark.parametrize("name", ["crc32", "bitcount", "stringsearch2"])
def test_a_bundled_program_runs(make_env: MakeEnv, name: str) -> None:
    env = started(make_env, f"cbench-v1/{name}")
    assert env.observation["IsBuildable"]
    assert env.observation["IsRunnable"]
    (seconds,) = env.observation["Buildtime"]
    assert seconds > 0


def test_times_are_as_many_as_asked_for_and_the_setting_lasts(make_env: MakeEnv) -> None:
    env = make_env()
    env.runtime_observation_count = 3
    env.runtime_warmup_runs_count = 1
    env.reset(benchmark=program(HELLO))
    assert len(env.observation["Runtime"]) == 3
    env.runtime_observation_count = 2
    assert len(env.observation["Runtime"]) == 2
    env.reset()
    assert len(env.observation["Runtime"]) == 2
    fork = env.fork()
    assert (fork.runtime_observation_count, fork.runtime_warmup_runs_count) == (2, 1)
    assert len(fork.observation["Runtime"]) == 2
    fork.close()
    assert all(seconds > 0 for seconds in env.observation["Runtime"])


@pytest.mark.parametrize("value", [0, -1, 1.5, "many", None])
def test_a_wrong_number_of_runs_is_refused(make_env: MakeEnv, value) -> None:
    env = make_env()
    with pytest.raises(InvalidParameterError, match="expected a whole number of at least 1"):
        env.runtime_observation_count = value


def test_the_parameters_of_compiler_gym_0_2_5_work(make_env: MakeEnv) -> None:
    env = started(make_env, program(HELLO))
    env.send_param("llvm.set_runtimes_per_observation_count", "4")
    env.send_param("llvm.set_warmup_runs_count_per_runtime_observation", "0")
    assert len(env.observation["Runtime"]) == 4
    env.send_param("llvm.set_buildtimes_per_observation_count", "2")
    assert len(env.observation["Buildtime"]) == 2
    counts = ("runtimes_per", "buildtimes_per", "warmup_runs_count_per_runtime")
    names = [f"llvm.get_{name}_observation" + "_count" * ("warm" not in name) for name in counts]
    assert [env.send_param(name, "") for name in names] == ["4", "2", "0"]
    with pytest.raises(InvalidParameterError, match="runtime_observation_count is 'x'"):
        env.send_param("llvm.set_runtimes_per_observation_count", "x")


def test_the_runtime_reward_works_on_real_runs(make_env: MakeEnv) -> None:
    env = make_env()
    env.runtime_observation_count = 2
    env.reward.add_space(RuntimeReward(2, 0, estimator=min))
    env.reset(benchmark=program(HELLO), reward_space="runtime")
    _, reward, _, truncated, info = env.step(env.action_space["sroa"])
    assert not truncated, info
    assert abs(reward) < 5


def test_a_faster_program_is_certainly_faster(make_env: MakeEnv) -> None:
    source = (
        "#include <stdio.h>\nint main(void) { volatile unsigned a[64]; unsigned s = 0;"
        "for (int r = 0; r < 50000; r++) for (int i = 0; i < 64; i++)"
        "s += (unsigned)(r * r) % 977u % 31u + i;"
        'a[0] = s; printf("%u\\n", a[0] != 1); return 0; }'
    )
    env = make_env(reward_space="RuntimeSpeedup")
    env.reset(benchmark=program(source, RunSpec.single()))
    names = ("sroa", "instcombine", "loop-rotate", "licm", "simplifycfg")
    env.multistep([env.action_space[name] for name in names])
    found = env.observation["RuntimeComparison"]
    assert found["low"] <= found["speedup"] <= found["high"]
    assert found["low"] > 2, found
    assert env.episode_reward is not None
    assert env.episode_reward > 0


def test_a_program_compared_with_itself_is_about_as_fast(make_env: MakeEnv) -> None:
    env = started(make_env, program(HELLO))
    found = env.observation["RuntimeComparison"]
    assert len(found["baseline"]) == len(found["candidate"]) >= 7
    assert found["low"] <= found["high"]


@pytest.mark.slow
def test_retired_instructions_repeat_to_a_tenth_of_a_percent(make_env: MakeEnv) -> None:
    env = started(make_env, "cbench-v1/crc32")
    first = env.observation["RuntimeInstructions"]
    env.reset()
    assert env.observation["RuntimeInstructions"] == pytest.approx(first, rel=0.001)
    assert env.observation["RuntimeInstructionsO2"] < first


def test_retired_instructions_follow_the_work_done(make_env: MakeEnv) -> None:
    def instructions(rounds: int) -> int:
        loop = f"for (volatile int i = 0; i < {rounds}; i++);"
        source = f'#include <stdio.h>\nint main(void) {{ {loop} puts("hello"); }}'
        return started(make_env, program(source)).observation["RuntimeInstructions"]

    few, many = instructions(1000), instructions(101_000)
    assert 300_000 < many - few < 1_200_000


MISBEHAVIOUR = {
    "runs for ever": ("for (;;);", "limit of time"),
    "crashes": ("*(volatile int *)0 = 1;", "signal 11"),
    "aborts": ("abort();", "signal 6"),
    "prints without end": (
        "static char b[1 << 16]; for (;;) fwrite(b, 1, sizeof b, stdout);",
        "limit of output|standard output|signal",
    ),
    "forks": ("for (;;) if (fork() == 0) for (;;) pause();", "limit of (processes|time)|signal"),
    "says something else": ('puts("other");', "standard output"),
    "fails": ("return 3;", "exit status 3 instead of 0"),
    "takes all memory": (
        "for (;;) { volatile char *p = malloc(1 << 24); if (!p) abort(); p[0] = 1; }",
        "signal 6|limit of time",
    ),
}


@pytest.mark.parametrize("name", MISBEHAVIOUR)
def test_a_program_that_misbehaves_is_contained_and_reported(make_env: MakeEnv, name: str) -> None:
    body, message = MISBEHAVIOUR[name]
    headers = "".join(f"#include <{h}.h>\n" for h in ("stdio", "stdlib", "unistd"))
    spec = RunSpec.single(expected=ExpectedOutput.of(stdout=b"hello\n"), time_limit=0.5)
    env = started(make_env, program(f"{headers}int main(void) {{ {body} return 0; }}", spec))
    with pytest.raises(ObservationError, match=message):
        _ = env.observation["Runtime"]
    assert env.observation["IsRunnable"] is False
    assert env.observation["IsBuildable"] is True
    assert env.observation["IrInstructionCount"] > 0
    _, _, _, truncated, info = env.step(env.action_space["sroa"], observation_spaces="Runtime")
    assert truncated
    assert info["error_type"] == "ObservationError"


def test_files_that_a_program_writes_are_gone_with_its_scratch_directory(
    make_env: MakeEnv,
) -> None:
    source = (
        "#include <stdio.h>\n#include <unistd.h>\nint main(void) { char d[4096];"
        'fclose(fopen("litter", "w")); fprintf(stderr, "%s", getcwd(d, sizeof d)); return 1; }'
    )
    env = started(make_env, program(source))
    with pytest.raises(ObservationError, match="exit status 1") as failure:
        _ = env.observation["Runtime"]
    (directory,) = re.findall(r"/\S+run-\S+", str(failure.value))
    assert not Path(directory).exists()


def test_a_program_without_main_is_no_program(make_env: MakeEnv) -> None:
    env = started(make_env, program("int f(int x) { return x; }"))
    assert env.observation["IsBuildable"] is False
    assert env.observation["IsRunnable"] is False
    for name in ("Buildtime", "Runtime"):
        assert env.observation[name].tolist() == []
    for name in ("TextSizeBytes", "RuntimeInstructions"):
        with pytest.raises(ObservationError, match="does not link"):
            _ = env.observation[name]


def test_a_program_that_nobody_said_how_to_run_is_not_run(make_env: MakeEnv) -> None:
    env = started(make_env, program(HELLO, None))
    assert env.observation["IsBuildable"] is True
    assert env.observation["IsRunnable"] is False
    with pytest.raises(ObservationError, match="does not say how to run it"):
        _ = env.observation["RuntimeInstructions"]
    runtime = env.observation["Runtime"]
    assert (runtime.shape, runtime.dtype) == ((0,), np.float64)
    assert runtime in env.observation.spaces["Runtime"].space
    assert env.observation["Buildtime"].shape == (1,)


def test_the_baselines_of_compiler_gym_0_2_5_are_applied(make_env: MakeEnv) -> None:
    env = started(make_env, program(HELLO))
    assert env.send_param("llvm.apply_baseline_optimizations", "-Oz") == "changed"
    assert env.observation["IrInstructionCount"] == env.observation["IrInstructionCountOz"]
    with pytest.raises(InvalidParameterError, match="the level is '-O9': expected one of -O0"):
        env.send_param("llvm.apply_baseline_optimizations", "-O9")


def test_a_program_that_does_not_link_earns_nothing_for_its_build_time(make_env: MakeEnv) -> None:
    env = make_env(reward_space="Buildtime")
    with pytest.raises(ObservationError, match="cannot be built or run"):
        env.reset(benchmark=program("int f(int x) { return x; }"))


def test_a_fork_builds_in_a_directory_of_its_own(make_env: MakeEnv) -> None:
    env = started(make_env, program(HELLO))
    size = env.observation["TextSizeBytes"]
    fork = env.fork()
    env.close()
    assert fork.observation["TextSizeBytes"] == size
    assert len(fork.observation["Runtime"]) == 1
    fork.close()


@pytest.mark.parametrize("name", ["TextSizeBytes", "TextSizeNorm", "TextSizeO3", "TextSizeOz"])
def test_smaller_programs_are_rewarded(make_env: MakeEnv, name: str) -> None:
    env = make_env(benchmark="cbench-v1/crc32", reward_space=name)
    env.reset()
    before = env.observation["TextSizeBytes"]
    actions = [env.action_space[n] for n in ("sroa", "instcombine", "simplifycfg")]
    _, reward, _, _, _ = env.multistep(actions)
    saved = before - env.observation["TextSizeBytes"]
    initial = env.observation["TextSizeO0"]
    scale = {
        "TextSizeBytes": 1,
        "TextSizeNorm": initial,
        "TextSizeO3": max(initial - env.observation["TextSizeO3"], 1),
        "TextSizeOz": max(initial - env.observation["TextSizeOz"], 1),
    }[name]
    assert saved != 0
    assert reward == pytest.approx(saved / scale)


def test_an_interval_is_that_of_students_distribution() -> None:
    # Of log ratios 0.1, 0.2, 0.3: mean 0.2, deviation 0.1, reach 4.303 * 0.1 / sqrt(3).
    found = compare([math.exp(x) for x in (0.1, 0.2, 0.3)], [1.0, 1.0, 1.0])
    reach = 4.303 * 0.1 / math.sqrt(3)
    assert math.log(found.speedup) == pytest.approx(0.2)
    assert math.log(found.low) == pytest.approx(0.2 - reach)
    assert math.log(found.high) == pytest.approx(0.2 + reach)
    assert not found.is_significant


def test_one_disturbed_run_does_not_count() -> None:
    assert without_outliers([1.0, 1.01, 0.99, 1.0, 7.0]) == [1.0, 1.01, 0.99, 1.0]
    assert compare([2.0, 2.01, 1.99, 2.0, 20.0], [1.0] * 5).high < 2.1


def test_an_uncertain_speedup_earns_nothing_unless_asked_to() -> None:
    unsure = {"speedup": 1.2, "low": 0.8, "high": 1.8}
    rewards = [SpeedupReward(significant_only=only) for only in (True, False)]
    for reward in rewards:
        reward.reset("benchmark://demo/1", {})
    first, second = (reward.update([0], [unsure], {}) for reward in rewards)
    assert (first, second) == (0.0, pytest.approx(math.log(1.2)))


def test_the_worker_loads_no_linker_before_it_is_asked_to() -> None:
    program = (
        "import sys; import compiler_gym.envs.llvm.session; "
        "late = ('machine.running', 'machine.build', 'machine.program'); "
        "print(any(name.endswith(late) for name in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_cycles_are_rewarded_against_the_program_at_reset_and_a_level(make_env: MakeEnv) -> None:
    env = make_env(benchmark="cbench-v1/sha", reward_space="McaCyclesO3")
    env.reset()
    start, best = env.observation["McaCyclesO0"], env.observation["McaCyclesO3"]
    assert start == env.observation["McaCycles"] > best
    earned = sum(float(env.step(env.action_space[name])[1]) for name in ("sroa", "early-cse"))
    saved = start - env.observation["McaCycles"]
    assert earned == pytest.approx(saved / (start - best))


@pytest.mark.parametrize("triple", ["x86_64-pc-windows-msvc", "i386-unknown-linux-gnu"])
def test_cycles_of_what_holds_no_blocks_are_refused(
    make_env: MakeEnv, tmp_path: Path, triple: str
) -> None:
    file = tmp_path / "program.ll"
    file.write_text(f'target triple = "{triple}"\ndefine i32 @f(i32 %a) {{\n  ret i32 %a\n}}\n')
    env = make_env()
    env.reset(benchmark=f"file://{file}")
    with pytest.raises(ObservationError, match=f"64-bit ELF objects only.*{triple}"):
        env.observation["McaCycles"]
    assert env.in_episode
