# SPDX-License-Identifier: MIT
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import CompilerGymWarning, ServiceError
from compiler_gym_agents import Decisions, Judge, find_task
from compiler_gym_agents.judging.confinement import ENVIRONMENT

CRC32 = find_task("fewer-instructions/cbench-v1/crc32")
OZ = "opt -discard-value-names -passes='default<Oz>' input.bc -o output.bc"


@pytest.fixture(scope="module")
def judge() -> Generator[Judge]:
    """Return a judge that stays warm."""
    with Judge() as made:
        yield made


def test_the_baseline_itself_gains_nothing(judge: Judge) -> None:
    verdict = judge(CRC32, Decisions(CRC32.id, OZ))
    assert verdict.valid
    assert verdict.reward == verdict.gain == 0
    assert verdict.baseline == verdict.measured == 264
    assert {"replay", *CRC32.checks} == set(verdict.checks)


def test_a_program_that_is_worse_than_the_baseline_says_so_and_earns_nothing(judge: Judge) -> None:
    verdict = judge(CRC32, Decisions(CRC32.id))
    assert verdict.valid
    assert verdict.reward == 0
    assert verdict.gain == pytest.approx(-0.797, abs=0.01)


def test_a_judge_that_was_ended_is_started_again(judge: Judge) -> None:
    judge.close()
    assert judge(CRC32, Decisions(CRC32.id, "nonsense")).reason.startswith("InvalidActionError")


def test_a_machine_without_a_tasks_needs_does_not_count_against_the_agent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    csmith = find_task("fewer-instructions/csmith-v0/1")
    variables = {**ENVIRONMENT, "PATH": "/nonexistent"}
    monkeypatch.setattr("compiler_gym_agents.judging.judge.ENVIRONMENT", variables)
    with (
        Judge() as poor,
        pytest.raises(ServiceError, match="cannot be judged here: DatasetInitError"),
    ):
        poor(csmith, Decisions(csmith.id))


def test_without_namespaces_a_judge_has_a_fresh_home_folder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("compiler_gym_agents.judging.confinement._bubblewrap", lambda: ())
    homes: list[Path] = []
    start = subprocess.Popen

    def noted(*words: Any, **named: Any) -> Any:
        if "judging" in str(words):
            homes.append(Path(named["env"]["HOME"]))
            assert list(homes[-1].iterdir()) == []
        return start(*words, **named)

    monkeypatch.setattr(subprocess, "Popen", noted)
    for _ in range(2):
        with Judge() as alone:
            verdict = alone(CRC32, Decisions(CRC32.id, "nonsense"))
            assert verdict.reason.startswith("InvalidActionError")
    assert len(set(homes)) == 2
    assert not any(home.exists() for home in homes)


def test_a_judge_that_does_not_start_gives_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    command = (["/bin/sh", "-c", "echo something >&2; echo is broken >&2"], "process")
    monkeypatch.setattr("compiler_gym_agents.judging.judge.confine_judge", lambda: command)
    with (
        Judge() as broken,
        pytest.raises(
            ServiceError, match="the judge does not start: is broken; to see why, run `/bin/sh -c"
        ),
    ):
        broken(CRC32, Decisions(CRC32.id))


def test_a_judge_that_does_not_start_in_namespaces_is_a_plain_process_and_reports_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    command = (["/bin/sh", "-c", "echo python is not there >&2"], "namespaces")
    monkeypatch.setattr("compiler_gym_agents.judging.judge.confine_judge", lambda: command)
    with Judge() as judge, pytest.warns(CompilerGymWarning, match="python is not there"):
        verdict = judge(CRC32, Decisions(CRC32.id, "nonsense"))
    assert verdict.box == "process"
    assert verdict.reason.startswith("InvalidActionError")


def test_a_question_that_was_interrupted_does_not_answer_the_next_one(
    judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*asked: object) -> bytes:
        raise KeyboardInterrupt

    judge(CRC32, Decisions(CRC32.id, "nonsense"))
    with monkeypatch.context() as patch:
        patch.setattr("compiler_gym_agents.judging.judge._next_line", interrupted)
        with pytest.raises(KeyboardInterrupt):
            judge(CRC32, Decisions(CRC32.id, OZ))
    assert judge(CRC32, Decisions(CRC32.id, "nonsense")).reason.startswith("InvalidActionError")


def test_a_slow_answer_is_worth_nothing() -> None:
    with Judge(seconds=0.0) as hasty:
        verdict = hasty(CRC32, Decisions(CRC32.id, OZ))
    assert not verdict.valid
    assert "took too long" in verdict.reason
