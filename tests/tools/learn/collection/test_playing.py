# SPDX-License-Identifier: MIT
"""What a run leads to depends on its number alone."""

import random
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import InvalidParameterError, PolicyError, UnknownNameError
from compiler_gym.testing import FakeEnv
from compiler_gym.tools.learn.collection.playing import (
    Player,
    make_seed,
    policy_digest,
    settle_options,
)
from compiler_gym.tools.learn.collection.shards import Layout, arrow, describe

from .conftest import fake_options


def test_a_shard_does_not_depend_on_earlier_episodes(tmp_path: Path) -> None:
    options = fake_options()
    with Player(options) as player:
        told: list[int] = []
        for name, shard in (("a", 0), ("b", 2), ("c", 1), ("d", 2)):
            player.write(shard, tmp_path / name, told.append)
        assert told[:4] == [5, 10, 15, 20]
    assert (tmp_path / "b").read_bytes() == (tmp_path / "d").read_bytes()
    assert (tmp_path / "a").read_bytes() != (tmp_path / "c").read_bytes()
    table = arrow(".parquet").read_table(tmp_path / "b")
    assert sorted(set(table["run"].to_pylist())) == [8, 9, 10, 11]
    assert set(table["seed"].to_pylist()) == {make_seed(options, run) for run in range(8, 12)}


def test_programs_take_turns_in_an_order_that_the_seed_decides(tmp_path: Path) -> None:
    def programs(seed: int) -> list[str]:
        with Player(fake_options(seed=seed, steps=100, shard_steps=100)) as player:
            player.write(0, tmp_path / "shard")
        table = arrow(".parquet").read_table(tmp_path / "shard").to_pylist()
        return [row["benchmark"] for row in table if row["step"] == 0]

    first = programs(0)
    assert len(set(first[:10])) == 10
    assert first[:10] == first[10:]
    assert first == programs(0) != programs(1)


def test_random_numbers_of_others_are_given_back(tmp_path: Path) -> None:
    before = random.getstate()
    with Player(fake_options()) as player:
        player.write(0, tmp_path / "shard")
    assert random.getstate() == before


def test_failures_are_rows_and_programs_that_cannot_start_too(tmp_path: Path) -> None:
    file = tmp_path / "crash.py"
    file.write_text(
        "def policy(env):\n"
        "    while True:\n"  # beyond the end of an episode, as simple loops go
        "        env.step(env.action_space['segfault' if len(env.actions) == 2 else 'add'])\n"
    )
    options = fake_options(
        action_space="Behaviours", policy=str(file), steps=20,
        benchmarks=("fake-v0/5", "fake-v0/7?start=segfault"),
    )  # fmt: skip
    with Player(options) as player:
        player.write(0, tmp_path / "shard")
    found = describe(tmp_path / "shard")
    assert found.failures == {"BenchmarkInitError": 2, "WorkerCrashedError": 2}
    assert (found.transitions, found.episodes) == (4, 4)
    table = arrow(".parquet").read_table(tmp_path / "shard")
    episodes = [one for _, one in Layout.read(table.schema).episodes(table)]
    crashed = next(one for one in episodes if len(one.steps) == 3)
    assert "SIGSEGV" in (crashed.steps[2].error or "")


@pytest.mark.parametrize(
    ("body", "match"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("env.step(10**6)", "InvalidActionError"),
        ("env.apply(env.state)", "cannot apply a state"),
        ("env.unwrapped.step(0); env.step(0)", "1 steps were not recorded"),
    ],
)
def test_a_policy_that_does_wrong_is_named_with_its_run(
    body: str, match: str, tmp_path: Path
) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(f"def policy(env):\n    {body}\n")
    with (
        Player(fake_options(policy=str(file))) as player,
        pytest.raises(
            PolicyError, match=f"wrong.py failed in run 0 on benchmark://fake-v0/.*{match}"
        ),
    ):
        player.write(0, tmp_path / "shard")
    assert not (tmp_path / "shard").exists()
    assert policy_digest(str(file)) != policy_digest("random") == ""


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"benchmarks": ()}, InvalidParameterError, "no programs to collect from"),
        ({"benchmarks": ("fake-v0/none",)}, UnknownNameError, "no program 'none'"),
        ({"benchmarks": ("no-v0",)}, UnknownNameError, "no-v0"),
        ({"observe": ("none",)}, UnknownNameError, "none"),
        ({"rewards": ("none",)}, UnknownNameError, "none"),
        (
            {"costs": ("vector",)},
            InvalidParameterError,
            "the cost vector is not a single number.*--observe",
        ),
        ({"action_space": "none"}, UnknownNameError, "none"),
    ],
)
def test_missing_features_of_an_environment_are_reported_before_the_first_episode(
    given: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        settle_options(fake_options(**given))


def test_an_environment_without_a_hash_collects_without(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(FakeEnv, "state_observation", None)
    with pytest.raises(InvalidParameterError, match=r"cannot hash.*--no-hashes"):
        settle_options(fake_options())
    options, _ = settle_options(fake_options(no_hashes=True))
    with Player(options) as player:
        player.write(0, tmp_path / "shard")
        assert "state" not in player.layout.schema.names
    assert describe(tmp_path / "shard").transitions == 20


def test_open_options_are_settled() -> None:
    options, version = settle_options(fake_options(shard_steps=None, action_space=None))
    assert (options.shard_steps, version) == (1000, "fake 1")
    assert options.action_space is not None
