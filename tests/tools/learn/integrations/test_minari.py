# SPDX-License-Identifier: MIT
"""Recorded episodes are a dataset, and a policy cloned from it does what was recorded."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete

from compiler_gym.errors import InvalidParameterError, UnknownNameError
from compiler_gym.registration import make
from compiler_gym.testing import FakeEnv
from compiler_gym.tools.learn.collection import Collection, collect
from compiler_gym.tools.learn.integrations.learning import Recipe, learning_env
from compiler_gym.tools.learn.integrations.minari import (
    clone_behaviour,
    export_collection,
    record_episodes,
)

FEW = ("sroa", "simplifycfg", "instcombine", "dce")
PLAN = (0, 2, 1, 3)


@pytest.mark.filterwarnings("ignore")
def test_a_clone_of_a_recorded_plan_follows_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("minari", reason="minari is missing")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    recipe = Recipe(actions=FEW, episode_length=len(PLAN), history=2)
    with learning_env(recipe, benchmark="cbench-v1/crc32") as env:
        places = iter(PLAN * 4)
        dataset = record_episodes(
            env, lambda env, seen: next(places), "compiler/plan-v0", episodes=4, author="us"
        )
        assert dataset.total_episodes == 4
        assert dataset.total_steps == 16
        policy: Any = clone_behaviour(dataset)
        seen, _ = env.reset()
        taken: list[Any] = []
        for _ in PLAN:
            taken.append(policy(env, seen))
            seen, *_ = env.step(taken[-1])
        assert tuple(taken) == PLAN


@pytest.mark.filterwarnings("ignore")
def test_a_collection_is_exported_up_to_each_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    minari: Any = pytest.importorskip("minari", reason="minari is missing")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))
    collect(
        tmp_path / "store", env="llvm-v0", benchmarks=["cbench-v1/crc32"], steps=20, length=5,
        observe=["Autophase", "Ir"], jobs=1,
    )  # fmt: skip
    collection = Collection(tmp_path / "store")
    dataset = export_collection(collection, "compiler/store-v0", "Autophase", author="us")
    assert (dataset.total_episodes, dataset.total_steps) == (4, 20)
    exported = next(iter(dataset.iterate_episodes()))
    _, kept = next(iter(collection.episodes()))
    assert exported.actions.tolist() == [step.actions[0] for step in kept.steps]
    assert exported.rewards.tolist() == [step.reward for step in kept.steps]
    assert exported.observations[1].tolist() == kept.steps[0].observation[2].tolist()
    loaded: Any = minari.load_dataset("compiler/store-v0")
    with make("llvm-v0") as env:
        assert loaded.action_space == Discrete(int(env.action_space.n))
        box: Any = env.observation.spec("Autophase").space
    assert loaded.observation_space == Box(box.low, box.high, dtype=np.int64)
    again = next(iter(loaded.iterate_episodes()))
    assert (again.observations.dtype, again.actions.dtype) == (np.int64, np.int64)
    for name, match in (("Ir", "must be arrays"), ("None", "no column")):
        with pytest.raises((InvalidParameterError, UnknownNameError), match=match):
            export_collection(collection, "compiler/none-v0", name)


def test_an_invalid_array_is_refused() -> None:
    pytest.importorskip("minari", reason="minari is missing")
    with (
        FakeEnv(observation_space="digits") as env,
        pytest.raises(InvalidParameterError, match="must be arrays"),
    ):
        record_episodes(env, lambda env, seen: 0, "compiler/none-v0", episodes=1)
