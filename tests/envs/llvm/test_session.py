# SPDX-License-Identifier: MIT
"""LLVM's session passes the public suite by itself, without its environment."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.service import Limits, SessionSource, kept_programs
from compiler_gym.service.supervisor import zygote_for
from compiler_gym.testing import SessionConformance, worker_pid
from tests.effort import examples

PROGRAM = Path(__file__).parents[3] / "programs" / "crc32" / "crc32.bc"


class _Env(CompilerEnv):
    command_line_styles: ClassVar = LlvmEnv.command_line_styles


class TestLlvmSession(SessionConformance):
    source = SessionSource("compiler_gym.envs.llvm.session:LlvmSession")
    environment = _Env
    programs = (Benchmark("benchmark://conformance-v0/crc32", PROGRAM.read_bytes()),)
    bad_programs = (b"", b"no module", PROGRAM.read_bytes()[:200])
    action_spaces = ("Passes", "Pipelines")
    observations = ("IrHash", "InstCount", "Autophase", "IrInstructionCountO3", "LoopForest")
    steps = 3


SOURCE = TestLlvmSession.source
URIS = ("cbench-v1/crc32", "cbench-v1/sha?goal=speed", "cbench-v1/dijkstra")
ORDERS = st.lists(
    st.one_of(
        st.tuples(st.just("reset"), st.sampled_from(URIS)),
        st.tuples(st.just("step"), st.integers(0, 123)),
        st.tuples(st.just("fork"), st.just(None)),
        st.tuples(st.just("wait"), st.just(None)),
    ),
    min_size=5,
    max_size=30,
)


@pytest.fixture(scope="module")
def opened() -> Iterator[Any]:
    """An environment whose programs are always read."""
    with compiler_gym.make(
        "llvm-v0", action_space="CompilerGymV0", limits=Limits(kept_programs=0)
    ) as env:
        yield env


def _wait_for_copies() -> None:
    for worker in zygote_for(SOURCE).programs.workers:
        assert worker.is_forked(10.0)


@settings(max_examples=examples(12))
@given(order=ORDERS)
def test_copies_of_a_loaded_program_have_the_bytes_of_one_that_was_read(
    opened: Any, monkeypatch: pytest.MonkeyPatch, order: list[tuple[str, Any]]
) -> None:
    monkeypatch.setattr(kept_programs, "_SHORT_SECONDS", 0.0)

    def check(env: Any) -> None:
        opened.reset(benchmark=env.benchmark)
        opened.multistep(env.actions)
        assert env.observation["IrSha1"] == opened.observation["IrSha1"]

    with compiler_gym.make(
        "llvm-v0", action_space="CompilerGymV0", benchmark=URIS[0], limits=Limits(kept_programs=2)
    ) as env:
        for _ in range(2):
            env.reset()
        for what, which in order:
            if what == "reset":
                env.reset(benchmark=which)
            elif what == "step":
                env.step(which)
            elif what == "fork":
                with env.fork() as fork:
                    fork.step(which or 7)
                    check(fork)
                    fork.reset()
                    check(fork)
            else:
                _wait_for_copies()
        check(env)


def test_the_first_observation_and_the_baselines_come_with_a_copy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(kept_programs, "_SHORT_SECONDS", 0.0)
    with compiler_gym.make(
        "llvm-v0",
        benchmark="cbench-v1/crc32",
        observation_space="ObjectTextSizeBytes",
        reward_space="IrInstructionCountOz",
    ) as env:
        first, second = env.reset()[0], env.reset()[0]
        kept = zygote_for(SOURCE).programs
        for space in ("ObjectTextSizeBytes", "Autophase", "Autophase"):
            before = worker_pid(env)
            _wait_for_copies()
            seen, _ = env.reset(observation_space=space)
            assert worker_pid(env) != before
            if space == "ObjectTextSizeBytes":
                assert seen == first == second
        assert kept.workers
        assert env.multistep(range(40), reward_spaces="IrInstructionCount")[1] > 0
