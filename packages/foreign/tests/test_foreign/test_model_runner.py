# SPDX-License-Identifier: MIT
"""A compiler that asks over two pipes is an environment, with a TOML file and no code."""

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler_gym
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerDiagnosticError,
    EnvironmentNotSupported,
    InvalidActionError,
)
from compiler_gym.service import shut_down
from compiler_gym.testing import descendants, is_running, wait_until, worker_pid
from compiler_gym_foreign import ServiceEnv
from compiler_gym_foreign.model_runner import runner_source

# A compiler that asks three questions of two numbers, writes the answers, and may fail.
ASKER = r"""
import json, struct, sys
if sys.argv[1:] == ["--version"]: print("asker version 1"); sys.exit()
channel, program, output = sys.argv[1:]
text = open(program).read()
if text == "bad": sys.exit("no program")
asks, hears = open(channel + ".out", "wb"), open(channel + ".in", "rb")
def tensor(name, type): return {"name": name, "port": 0, "type": type, "shape": [1]}
features = [tensor("a", "int64_t"), tensor("b", "float")]
head = {"features": features, "advice": tensor("o", "int64_t")}
def say(line): asks.write(json.dumps(line).encode() + b"\n")
say(head)
answers = []
for number in range(3 if text else 0):
    say({"context": f"f{number}"})
    say({"observation": 0})
    asks.write(struct.pack("<qf", number, number / 2) + b"\n")
    asks.flush()
    answers.append(struct.unpack("<q", hears.read(8))[0])
    if sum(answers) > 1: sys.exit("two are too many")
asks.flush()
open(output, "w").write(" ".join(map(str, answers)))
"""
SAID = """
name = "asker"
dialect = "model-runner"
service = ["./asker", "{channel}", "{program}", "{output}"]
rewards = [{name = "Bytes", cost = "Bytes"}]
[[environments]]
id = "asker-v0"
observation_space = "Features"
reward_space = "Bytes"
"""
PROGRAM = Benchmark("benchmark://asker-v0/p", b"a program")


@pytest.fixture(scope="module")
def declared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("asker")
    (folder / "asker").write_text("#!/usr/bin/env python3\n" + ASKER)
    (folder / "asker").chmod(0o755)
    (folder / "asker.toml").write_text(SAID)
    yield str(folder / "asker.toml")
    shut_down()


def test_an_episode_is_a_run_and_a_step_an_answer(declared: str) -> None:
    with compiler_gym.make(declared) as env:
        assert env.compiler_version == "asker version 1"
        features, _ = env.reset(benchmark=PROGRAM)
        np.testing.assert_array_equal(features, [0, 0])
        assert env.observation["Context"] == "f0"
        features, reward, terminated, *_ = env.step(1)
        np.testing.assert_array_equal(features, [1, 0.5])
        assert (reward, terminated) == (0, False)
        with env.fork() as fork:  # by replay
            assert fork.observation["Context"] == "f1"
            env.step(0)
            features, reward, terminated, *_ = env.step(0)
            assert (len(features), reward, terminated) == (0, len("a program") - 5, True)
            assert env.observation["Questions"] == 3
            assert fork.observation["Questions"] == 1


def test_a_failing_compiler_ends_the_episode_with_its_message(declared: str) -> None:
    with compiler_gym.make(declared) as env:
        env.reset(benchmark=PROGRAM)
        env.step(1)
        *_, truncated, info = env.step(1)
        assert truncated
        assert isinstance(info["error"], CompilerDiagnosticError)
        assert "two are too many" in str(info["error"])


def test_a_program_that_cannot_be_read_is_refused(declared: str) -> None:
    with compiler_gym.make(declared) as env:
        with pytest.raises(BenchmarkInitError, match="ended with status 1: no program"):
            env.reset(benchmark=Benchmark("benchmark://asker-v0/bad", b"bad"))
        env.reset(benchmark=Benchmark("benchmark://asker-v0/none", b""))
        assert env.step(0)[2]  # there was no question
        env.reset(benchmark=PROGRAM)
        with pytest.raises(InvalidActionError, match=r"\w"):
            env.step("yes")


def test_a_command_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(SAID)
    with pytest.raises(EnvironmentNotSupported, match=r"cannot run .*asker: No such file"):
        compiler_gym.make(str(tmp_path / "a.toml"))
    assert dict(runner_source(["x"], 3).options)["choices"] == "3"


@pytest.mark.skipif(not shutil.which("opt-22"), reason="opt-22 is missing")
def test_the_inliner_of_a_stock_opt_is_an_environment_without_code(tmp_path: Path) -> None:
    root = Path(__file__).parents[4]
    shutil.copy(root / "examples" / "inliner_by_pipes" / "inliner.toml", tmp_path)
    source = "static int f(int x) { return x * 3; }\nint g(int x) { return f(x) + f(x + 1); }\n"
    (tmp_path / "p.c").write_text(source)
    options = ["-O1", "-Xclang", "-disable-llvm-passes", "-c", "-emit-llvm"]
    subprocess.run(["clang-22", *options, "p.c", "-o", "p.bc"], cwd=tmp_path, check=True)
    calls: list[int] = []
    for answer in (0, 1):
        with compiler_gym.make(str(tmp_path / "inliner.toml")) as env:
            env.reset(benchmark=f"file://{tmp_path}/p.bc")
            assert "callsite_height" in str(env.observation["FeatureNames"])
            terminated = False
            while not terminated:
                _, _, terminated, truncated, _ = env.step(answer)
                assert not truncated
            calls.append(env.observation["Bytes"])
    assert calls[0] != calls[1]


DAEMONS = """
import os, signal, time
def leave(how):
    if os.fork(): return
    os.setsid()
    if os.fork(): os._exit(0)
    open(sys.argv[2] + how, "w").write(str(os.getpid()))
    if how == "stopped": os.kill(os.getpid(), signal.SIGSTOP)
    time.sleep(1000)
leave("daemon"); leave("stopped")
while not all(os.path.exists(sys.argv[2] + how) for how in ("daemon", "stopped")): time.sleep(0.01)
"""


@pytest.mark.parametrize("number", [None, signal.SIGSTOP, signal.SIGKILL])
def test_daemons_of_a_compiler_end_with_its_episode(tmp_path: Path, number: int | None) -> None:
    begins = "channel, program, output = sys.argv[1:]"
    assert begins in ASKER
    asker = tmp_path / "asker"
    asker.write_text(f"#!/usr/bin/env python3\n{ASKER.replace(begins, DAEMONS + begins)}")
    asker.chmod(0o755)
    (tmp_path / "asker.toml").write_text(SAID)
    with ServiceEnv(plugin=tmp_path / "asker.toml") as env:
        env.reset(benchmark=PROGRAM)
        worker = worker_pid(env)
        assert worker is not None
        daemons = descendants(worker) - {worker}
        assert len(daemons) == 4  # the keeper, the compiler and what left it
        if number is not None:
            os.kill(worker, number)
    assert wait_until(lambda: not any(map(is_running, daemons)), seconds=10)
