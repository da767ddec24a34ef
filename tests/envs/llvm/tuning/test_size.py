# SPDX-License-Identifier: MIT
"""The search for size: what it counts, what it keeps, and when it stops."""

import math
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.tuning.size import PassesAndOptions, split
from compiler_gym.tuning import Allowance, Journal, SizeSearch


def search(folder: Path, compilations: int, **options: object) -> SizeSearch:
    with compiler_gym.make("llvm-v0") as env:
        env.reset(benchmark="cbench-v1/crc32")
        benchmark = env.benchmark
    assert benchmark is not None
    journal = Journal(folder / "tried.jsonl", "key")
    allowance = Allowance(compilations=compilations)
    is_pic = bool(options.pop("is_pic", False))
    decisions = PassesAndOptions(benchmark, is_pic, jobs=2, seed=0)
    return SizeSearch(decisions, allowance, journal, **options)  # type: ignore[arg-type]


def test_the_cost_is_the_code_that_the_environment_makes(tmp_path: Path) -> None:
    best = search(tmp_path, 25).run()
    passes, options = split(best.actions)
    with LlvmEnv(action_space="PassesAndCodegen") as env:
        env.reset(benchmark="cbench-v1/crc32")
        env.multistep([env.action_space[name] for name in passes])
        env.codegen = options
        assert env.observation["ObjectTextSizeBytes"] == best.cost


def test_more_compilations_are_never_worse(tmp_path: Path) -> None:
    costs: list[float] = []
    for count in (1, 12, 30):
        (tmp_path / str(count)).mkdir()
        costs.append(search(tmp_path / str(count), count).run().cost)
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < math.inf


def test_it_tells_the_stages_and_the_best(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    best = search(tmp_path, 30, watch=lambda stage, best: told.append((stage, best.cost))).run()
    assert [cost for _, cost in told] == sorted((cost for _, cost in told), reverse=True)
    assert told[-1][1] == best.cost
    assert {"known sequences", "options"} <= {stage for stage, _ in told}


def test_link_time_optimisation_is_among_the_first(tmp_path: Path) -> None:
    search(tmp_path, 40).run()
    tried = [t.actions for t in Journal(tmp_path / "tried.jsonl", "key").tried()]
    assert tried[:2] == [("-Oz",), ("lto-pre-link<Oz>", "lto<Oz>")]


def test_it_goes_on_from_what_was_tried(tmp_path: Path) -> None:
    first = search(tmp_path, 20).run()
    again = search(tmp_path, 0)
    assert again.run() == first


def test_an_interrupt_keeps_the_best(tmp_path: Path) -> None:
    found = search(tmp_path, 1000)
    found.allowance = Allowance(compilations=1000, is_stopped=lambda: found.count >= 5)
    best = found.run()
    assert 5 <= found.count < 40
    assert best.cost < math.inf


@pytest.mark.parametrize("actions", [(), ("sroa<modify-cfg>",), ("-Oz", "regalloc=basic")])
def test_actions_are_split(actions: tuple[str, ...]) -> None:
    passes, options = split(actions)
    assert (*passes, *(f"{k}={v}" for k, v in options.items())) == actions


def test_what_is_written_down_is_what_a_new_environment_measures(tmp_path: Path) -> None:
    search(tmp_path, 60).run()
    tried = list(Journal(tmp_path / "tried.jsonl", "key").tried())
    with compiler_gym.make("llvm-v0", action_space="PassesAndCodegen") as env:
        env.reset(benchmark="cbench-v1/crc32")
        for one in [*tried[:3], *tried[-6:]]:
            env.reset()
            env.multistep([env.action_space[name] for name in one.actions])
            assert env.observation["ObjectTextSizeBytes"] == one.cost


@pytest.mark.parametrize("is_pic", [False, True])
def test_position_independence_is_not_chosen(tmp_path: Path, *, is_pic: bool) -> None:
    found = search(tmp_path, 80, is_pic=is_pic)
    best = found.run()
    expected = {"relocation-model": "pic"} if is_pic else {}
    for tried in [best, *Journal(tmp_path / "tried.jsonl", "key").tried()]:
        _, options = split(tried.actions)
        assert {k: v for k, v in options.items() if k == "relocation-model"} == expected
    assert isinstance(found.decisions, PassesAndOptions)
    found.decisions.keep(found, "passes", ["-Oz", "relocation-model=pic"])
    found.decisions.keep(found, "passes", ["-Oz", "relocation-model=default"])
    _, options = split(found.best.actions)
    assert options.get("relocation-model") == expected.get("relocation-model")
