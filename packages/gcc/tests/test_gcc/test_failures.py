# SPDX-License-Identifier: MIT
"""A refusal, a crash, a hang and a hunger for memory end an episode and nothing else."""

import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler_gym.errors import (
    BenchmarkInitError,
    CacheWarning,
    CompilerDiagnosticError,
    CompilerFatalError,
    InvalidActionError,
    InvalidParameterError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)
from compiler_gym.service import Limits
from compiler_gym.testing import descendants, wait_until, worker_pid
from compiler_gym_gcc import GccEnv, make_benchmark, make_benchmark_from_source

Make = Callable[..., GccEnv]
REFUSED = ("-flive-patching=inline-clone", "-fipa-pta")
"""Two settings that this compiler does not take together."""


def trap(path: Path, marker: str, text: str) -> str:
    """Return a compiler that runs `text` when it sees `marker` among its arguments."""
    path.write_text(
        "#!/bin/sh\n"
        f'case "$*" in *-\\#\\#\\#*) ;; *" {marker}"*|"{marker}"*) {text};; esac\n'
        'exec gcc-12 "$@"\n'
    )
    path.chmod(0o755)
    return str(path)


def test_settings_that_gcc_refuses_end_the_episode_with_its_words(make_env: Make) -> None:
    env = make_env(observation_space="obj_size", reward_space="obj_size")
    first, _ = env.reset()
    _, earned, *_ = env.step(env.action_space["-Os"])
    env.step(env.action_space[REFUSED[0]])
    observation, reward, terminated, truncated, info = env.step(env.action_space[REFUSED[1]])
    assert (terminated, truncated) == (False, True)
    assert isinstance(info["error"], CompilerDiagnosticError)
    assert "incompatible" in str(info["error"])
    assert (observation, reward) == (0, pytest.approx(-earned, abs=200))
    assert not env.in_episode
    assert info["reproducer"].startswith("gcc-12 -Os ")
    assert env.reset()[0] == first


def test_a_refusal_is_remembered_and_said_again(make_env: Make) -> None:
    words: list[str] = []
    for _ in range(2):
        env = make_env()
        env.reset()
        env.multistep([env.action_space[name] for name in REFUSED])
        with pytest.raises(CompilerDiagnosticError, match="incompatible") as caught:
            env.observation["asm_size"]
        words.append(str(caught.value))
    assert words[0] == words[1]


def test_steps_that_are_not_looked_at_never_fail(make_env: Make) -> None:
    env = make_env()
    env.reset()
    for name in (*REFUSED, "-fno-ipa-pta"):
        *_, truncated, info = env.step(env.action_space[name])
        assert not truncated, info
    assert env.obj_size > 0


def test_a_crash_of_gcc_ends_the_episode(make_env: Make, tmp_path: Path) -> None:
    bad = trap(tmp_path / "gcc", "-fgcse", "echo 'internal compiler error: oh' >&2; kill -SEGV $$")
    env = make_env(gcc_bin=bad, observation_space="asm_size")
    before, _ = env.reset()
    *_, truncated, info = env.step(env.action_space["-fgcse"])
    assert truncated
    assert isinstance(info["error"], CompilerFatalError)
    assert "internal compiler error: oh" in info["error_details"]
    assert env.reset()[0] == before


def test_a_hang_of_gcc_ends_at_the_session_s_own_deadline(make_env: Make, tmp_path: Path) -> None:
    env = make_env(gcc_bin=trap(tmp_path / "gcc", "-fgcse", "sleep 600 & sleep 600"))
    env.reset()
    env.timeout = 0.3
    assert env.timeout == 0.3
    worker = worker_pid(env)
    assert worker is not None
    _, _, _, truncated, info = env.step(env.action_space["-fgcse"], observation_spaces=["obj_size"])
    assert truncated
    assert isinstance(info["error"], WorkerTimeoutError)
    assert wait_until(lambda: not descendants(worker))


def test_a_hang_of_gcc_ends_at_the_step_s_deadline(make_env: Make, tmp_path: Path) -> None:
    env = make_env(gcc_bin=trap(tmp_path / "gcc", "-fgcse", "sleep 600 & sleep 600"))
    env.reset()
    worker = worker_pid(env)
    assert worker is not None
    _, _, _, truncated, info = env.step(
        env.action_space["-fgcse"], observation_spaces=["obj_size"], timeout=0.5
    )
    assert truncated
    assert isinstance(info["error"], WorkerTimeoutError)
    assert wait_until(lambda: not descendants(worker))
    env.reset()
    assert env.obj_size > 0


def test_a_hunger_for_memory_ends_the_episode(make_env: Make, tmp_path: Path) -> None:
    said = "cc1: out of memory allocating 8388608 bytes after a total of 10 bytes"
    env = make_env(gcc_bin=trap(tmp_path / "gcc", "-fgcse", f"echo '{said}' >&2; exit 1"))
    env.reset()
    _, _, _, truncated, info = env.step(env.action_space["-fgcse"], observation_spaces=["asm_size"])
    assert truncated
    assert isinstance(info["error"], WorkerOutOfMemoryError)
    env.reset()
    assert env.asm_size > 0


@pytest.mark.parametrize("space", ["Choices", "OptionThenValue", "choices="])
@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("kill -SEGV $$", CompilerFatalError),
        ("echo 'x: std::bad_alloc' >&2; exit 1", WorkerOutOfMemoryError),
        ("exec sleep 600", WorkerTimeoutError),
        ("head -c 99999 /dev/urandom >&2; exit 1", CompilerDiagnosticError),
    ],
)
def test_a_failure_is_an_event_in_every_action_space(
    text: str, error: type[Exception], space: str, make_env: Make, tmp_path: Path
) -> None:
    env = make_env(
        gcc_bin=trap(tmp_path / "gcc", "-fgcse", text),
        observation_space="obj_size",
        reward_space="obj_size",
    )
    env.reset(action_space="Choices" if space == "choices=" else space)
    env.timeout = 1.0
    names = [option.name for option in env.gcc_spec.options]
    at = names.index("-fgcse")
    if space == "choices=":
        with pytest.raises(error):
            env.choices = [0 if number == at else -1 for number in range(len(names))]
    else:
        actions = [at, 1] if space == "OptionThenValue" else [np.eye(len(names), dtype=int)[at]]
        *before, last = actions
        for action in before:
            env.step(action)
        observation, reward, _, truncated, info = env.step(last)
        assert truncated
        assert isinstance(info["error"], error)
        assert (observation, reward) == (0, 0.0)
    assert not env.in_episode
    assert env.reset()[0] > 0


def test_a_failure_of_the_machine_is_not_remembered(
    make_env: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPILER_GYM_SANDBOX", "none")  # what the trap looks at is in no box
    full = tmp_path / "full"
    full.write_text("")
    said = f"if [ -e {full} ]; then echo 'as: src.s: No space left on device' >&2; exit 1; fi"
    env = make_env(gcc_bin=trap(tmp_path / "gcc", "-fgcse", said))
    env.reset()
    *_, info = env.step(env.action_space["-fgcse"], observation_spaces=["obj_size"])
    assert isinstance(info["error"], CompilerDiagnosticError)
    full.unlink()
    env.reset()
    *_, truncated, _ = env.step(env.action_space["-fgcse"], observation_spaces=["obj_size"])
    assert not truncated
    assert env.obj_size > 0


@pytest.mark.slow
def test_the_memory_of_gcc_is_bounded_with_its_worker_s(make_env: Make) -> None:
    program = make_benchmark_from_source("int big[1 << 26] = { [0 ... (1 << 26) - 1] = 7 };\n")
    env = make_env(limits=Limits(memory_bytes=400 << 20))
    with pytest.raises(
        BenchmarkInitError, match="needed more than its memory limit of 419430400 bytes"
    ):
        env.reset(benchmark=program)
    env.reset(benchmark="cbench-v1/crc32")
    assert env.obj_size > 0


@pytest.mark.parametrize(
    "text",
    [
        "int main(",
        "#include <no/such/header.h>\n",
        '#include "missing.h"\n',
        "#error no\n",
        "int f(void) { return undeclared; }",
    ],
)
def test_a_program_that_does_not_compile_is_refused_at_reset(make_env: Make, text: str) -> None:
    env = make_env()
    with pytest.raises(BenchmarkInitError, match="does not compile"):
        env.reset(benchmark=make_benchmark_from_source(text))
    env.reset(benchmark="cbench-v1/crc32")
    assert env.obj_size > 0


def test_a_program_that_only_the_assembler_refuses_is_the_program_s_fault(make_env: Make) -> None:
    env = make_env(benchmark=make_benchmark_from_source('__asm__("no such instruction");\n'))
    env.reset()
    with pytest.raises(BenchmarkInitError, match="no such instruction"):
        env.observation["obj_size"]


def test_files_that_are_not_programs_are_refused(make_env: Make, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("int x;")
    (tmp_path / "b.c").write_bytes(b"BC\xc0\xde\0\0")
    for inputs, reason in (
        (list[str | Path](), "no input files"),
        (tmp_path, "a directory"),
        (tmp_path / "a.txt", "unknown type of file"),
        (tmp_path / "none.c", "cannot read"),
    ):
        with pytest.raises(BenchmarkInitError, match=reason):
            make_benchmark(inputs)
    with pytest.raises(BenchmarkInitError, match="binary data"):
        make_env().reset(benchmark=make_benchmark(tmp_path / "b.c"))
    with pytest.raises(BenchmarkInitError, match="no language 'pascal'"):
        make_benchmark_from_source("", lang="pascal")


@pytest.mark.parametrize("action", [-1, 10**6, 1.5, "-O2", None, [1]])
def test_an_action_that_does_not_exist_is_refused(env: GccEnv, action: object) -> None:
    with pytest.raises(InvalidActionError, match="not an action"):
        env.step(action)
    assert env.in_episode


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "nan", "inf"])
def test_a_timeout_is_a_time(env: GccEnv, seconds: str) -> None:
    with pytest.raises(InvalidParameterError, match="timeout must be above 0 seconds"):
        env.send_param("timeout", seconds)
    assert env.in_episode


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(
    make_env: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with make_env() as other:
        other.reset()
        wanted = other.obj_hash
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path / "file"))
    wrapper = tmp_path / "gcc"
    wrapper.write_text('#!/bin/sh\nexec gcc-12 "$@"\n')
    wrapper.chmod(0o755)
    env = make_env(gcc_bin=str(wrapper), benchmark=None)  # a zygote of its own, with this cache
    with pytest.warns(CacheWarning, match="cannot write"):
        env.reset(benchmark="cbench-v1/crc32")
    assert env.obj_hash == wanted


def test_a_timeout_lasts_over_resets_forks_and_pickles(env: GccEnv) -> None:
    assert env.timeout == 60
    env.timeout = 7.5
    for _ in range(2):
        env.reset()
        assert env.timeout == 7.5
        assert float(env.send_param("timeout", "")) == 7.5
    with env.fork() as fork:
        assert fork.timeout == 7.5
        fork.reset()
        assert float(fork.send_param("timeout", "")) == 7.5
        fork.timeout = 8
    assert env.timeout == 7.5
    with pickle.loads(pickle.dumps(env)) as again:
        assert again.timeout == 7.5
        again.reset()
        assert float(again.send_param("timeout", "")) == 7.5
    with pytest.raises(InvalidParameterError, match="timeout must be above 0 seconds"):
        env.timeout = float("nan")


@pytest.mark.parametrize("key", ["gaol", "goal"])
def test_gcc_reads_no_key_of_an_address(env: GccEnv, key: str) -> None:
    with pytest.raises(BenchmarkInitError, match=f"unknown key '{key}'"):
        env.reset(benchmark=f"cbench-v1/crc32?{key}=speed")


def test_a_callback_of_a_gcc_program_is_asked(env: GccEnv) -> None:
    program = env.datasets.benchmark("cbench-v1/crc32")
    program.add_validation_callback(lambda env: ["too big"] if env.obj_size > 10 else None)
    env.reset(benchmark=program)
    result = env.validate()
    assert result.benchmark_semantics_validation_failed
    assert "too big" in result.error_details
