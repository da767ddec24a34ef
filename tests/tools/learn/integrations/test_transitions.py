# SPDX-License-Identifier: MIT
"""The rows of a transition file are true, and each is there once."""

import json
from pathlib import Path
from typing import Any

import pytest

import compiler_gym
from compiler_gym.errors import InvalidParameterError, RecordingError
from compiler_gym.testing import FakeEnv
from compiler_gym.tools.learn.integrations.transitions import (
    random_transitions,
    read_transitions,
    write_transitions,
)

REWARDS = ["IrInstructionCount", "IrInstructionCountOz"]


def test_rows_come_back_as_they_were_and_repeat_in_the_environment(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")
    path = tmp_path / "new" / "transitions.parquet"
    with compiler_gym.make("llvm-v0") as env:
        found = list(
            random_transitions(
                env,
                ["cbench-v1/crc32"],
                episodes=3,
                length=6,
                rewards=REWARDS,
                features="Autophase",
                seed=2,
            )
        )
        assert len(found) == 18
        count = write_transitions(path, [*found, *found], rewards=REWARDS)
        rows = list(read_transitions(path))
        assert len(rows) == count == len({(t.state, t.action) for t in found})
        assert json.loads(parquet.read_schema(path).metadata[b"rewards"]) == REWARDS
        env.reset(benchmark=rows[0].benchmark)
        for row in rows[:6]:
            if env.observation["IrHash"] != row.state:
                break
            assert env.observation["Autophase"].tolist() == list(row.features)
            _, rewards, *_, info = env.step(row.action_number, None, REWARDS)
            assert env.observation["IrHash"] == row.next_state
            assert tuple(rewards) == row.rewards
            assert info["action_had_no_effect"] == row.no_effect


def test_a_failure_ends_its_episode_unrecorded() -> None:
    with FakeEnv(action_space="Behaviours") as env:
        env.action_space = "Safe"
        found = list(random_transitions(env, ["benchmark://fake-v0/7"], episodes=2, length=3))
        assert len(found) == 6
        multistep, calls = env.multistep, iter(range(9))

        def failing(*arguments: Any, **given: Any) -> Any:
            result = multistep(*arguments, **given)
            if next(calls) != 1:
                return result
            env.episode.require().running = False
            lost = {"error": RuntimeError("lost"), "error_type": "WorkerDied"}
            return (*result[:3], True, {**result[4], **lost})

        env.multistep = failing  # type: ignore[method-assign]  # one step fails
        found = list(random_transitions(env, ["benchmark://fake-v0/7"], episodes=2, length=3))
        assert len(found) == 1 + 3


def test_a_seed_repeats_the_actions_and_the_spaces_of_the_environment_are_restored() -> None:
    with FakeEnv(action_space="Safe", observation_space="half") as env:
        programs = ["fake-v0/7", "fake-v0/3"]
        first, second = (
            list(
                random_transitions(env, programs, episodes=2, length=4, rewards=["number"], seed=5)
            )
            for _ in range(2)
        )
        assert len(first) == 16
        assert first == second
        assert env.observation_space == env.observation.spec("half").space
        assert env.reward_space is None


def test_values_without_names_or_files_are_refused() -> None:
    with (
        FakeEnv(action_space="Menu") as env,
        pytest.raises(InvalidParameterError, match="named actions"),
    ):
        next(random_transitions(env, ["benchmark://fake-v0/7"]))


def test_a_full_disk_is_reported_and_the_file_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is missing")

    def refuse(table: object, where: object) -> None:
        assert not isinstance(where, (str, Path)), "given a path, the library would delete it"
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet, "write_table", refuse)
    path = tmp_path / "transitions.parquet"
    with pytest.raises(RecordingError, match="No space left"):
        write_transitions(path, [])
    assert path.exists()
