# SPDX-License-Identifier: MIT
"""Programs that are linked, measured and run; and programs that misbehave when they run."""

import re
from pathlib import Path

import numpy as np
import pytest

from compiler_gym.datasets import ExpectedOutput, RunSpec
from compiler_gym.errors import ObservationError
from compiler_gym.service import Limits
from tests.envs.llvm.running_programs import HELLO, MakeEnv, program, started


@pytest.mark.parametrize("name", ["crc32", "bitcount", "stringsearch2"])
def test_a_bundled_program_runs(make_env: MakeEnv, name: str) -> None:
    env = started(make_env, f"cbench-v1/{name}")
    assert env.observation["IsBuildable"]
    assert env.observation["IsRunnable"]
    (seconds,) = env.observation["Buildtime"]
    assert seconds > 0


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
    env = started(make_env, program(source), limits=Limits(sandbox="limits"))
    with pytest.raises(ObservationError, match="exit status 1") as failure:
        _ = env.observation["Runtime"]
    (directory,) = re.findall(r"/\S+run-\S+", str(failure.value))
    assert not Path(directory).exists()


def test_a_program_without_a_run_spec_is_refused(make_env: MakeEnv) -> None:
    env = started(make_env, program(HELLO, None))
    assert env.observation["IsBuildable"] is True
    assert env.observation["IsRunnable"] is False
    with pytest.raises(ObservationError, match="has no RunSpec"):
        _ = env.observation["RuntimeInstructions"]
    runtime = env.observation["Runtime"]
    assert (runtime.shape, runtime.dtype) == ((0,), np.float64)
    assert runtime in env.observation.spaces["Runtime"].space
    assert env.observation["Buildtime"].shape == (1,)


def test_a_program_that_does_not_link_earns_nothing_for_its_build_time(make_env: MakeEnv) -> None:
    env = make_env(reward_space="Buildtime")
    with pytest.raises(ObservationError, match="cannot be built or run"):
        env.reset(benchmark=program("int f(int x) { return x; }"))
