# SPDX-License-Identifier: MIT
import os
import shutil
import time
from collections.abc import Sequence
from typing import Any

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnv
from compiler_gym.errors import BenchmarkInitError, InvalidParameterError, UnknownNameError
from compiler_gym.search import (
    ALGORITHMS,
    Budget,
    Improvement,
    SearchResult,
    Silent,
    entrance,
    run_search,
)
from compiler_gym.search.strategy import RandomSearch
from compiler_gym.search.tree import Walk
from compiler_gym.service.kept_programs import KeptPrograms
from compiler_gym.testing import descendants, wait_until
from search.puzzle import (
    AFTER_WHOLE,
    CRASH,
    GROW,
    HANG,
    INITIAL,
    LEAST,
    NOTHING,
    OPEN,
    SAVE,
    TRIM,
    WHOLE,
    make_puzzle,
    make_trapped_puzzle,
    make_uneven_puzzle,
)


def search_puzzle(algorithm: str, **options: object) -> SearchResult:
    options = {"budget": Budget(steps=300), "jobs": 2, "step_seconds": 60.0, **options}
    make_env = options.pop("make_env", make_puzzle)
    return run_search(make_env, algorithm=algorithm, **options)[0]  # type: ignore[arg-type]


def make_llvm() -> CompilerEnv:
    return compiler_gym.make(
        "llvm-v0", reward_space="IrInstructionCount", action_space="PassesAndPipelines"
    )


@pytest.mark.parametrize("algorithm", ["local", "portfolio"])
def test_an_algorithm_that_looks_past_the_next_action_finds_the_best_of_a_small_problem(
    algorithm: str,
) -> None:
    result = search_puzzle(algorithm, budget=Budget(steps=600), seed=3)
    assert INITIAL - result.reward == LEAST
    assert sorted(result.actions) == sorted((OPEN, SAVE, TRIM, TRIM, TRIM))
    assert result.actions.index(OPEN) < result.actions.index(SAVE)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_crashes_and_hangs_cost_a_sequence_and_nothing_else(algorithm: str) -> None:
    result = search_puzzle(
        algorithm,
        make_env=make_trapped_puzzle,
        starts=[[CRASH], [HANG], [TRIM]],
        budget=Budget(steps=40),
        step_seconds=0.5,
    )
    assert result.failures >= 2
    assert result.reward >= 1
    assert CRASH not in result.actions
    assert HANG not in result.actions


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_result_is_never_worse_than_a_start(algorithm: str) -> None:
    result = search_puzzle(algorithm, starts=[[NOTHING, GROW, WHOLE]], budget=Budget(steps=3))
    assert result.reward >= INITIAL - AFTER_WHOLE


def test_a_measured_reward_need_not_come_out_twice() -> None:
    result = search_puzzle("local", budget=Budget(steps=600), seed=3, make_env=make_uneven_puzzle)
    assert sorted(result.actions) == sorted((OPEN, SAVE, TRIM, TRIM, TRIM))
    assert INITIAL - LEAST - 1 < result.reward < INITIAL - LEAST
    best = max(one.reward for one in result.improvements)
    assert result.reward < best  # what the replay measured, not the luckiest of the search


def test_actions_that_do_not_matter_are_dropped() -> None:
    start = [NOTHING, TRIM, GROW, WHOLE, NOTHING, TRIM, TRIM]
    result = search_puzzle("random", starts=[start], budget=Budget(steps=7))
    assert result.reward == INITIAL - AFTER_WHOLE + 2
    assert result.actions == (WHOLE, TRIM, TRIM)
    assert NOTHING not in result.actions


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_same_seed_and_steps_give_the_same_result_on_any_number_of_threads(
    algorithm: str,
) -> None:
    def facts(jobs: int) -> tuple[object, ...]:
        (result,) = run_search(
            make_llvm,
            ["cbench-v1/crc32"],
            algorithm=algorithm,
            budget=Budget(steps=30),
            jobs=jobs,
            seed=7,
        )
        course = [(i.steps, i.reward, i.actions) for i in result.improvements]
        return result.actions, result.reward, result.steps, result.sequences, course

    assert facts(1) == facts(3)


def test_another_seed_takes_another_way() -> None:
    budget = Budget(steps=3)
    ways = {search_puzzle("random", seed=s, budget=budget).improvements for s in range(3)}
    assert len(ways) > 1


def test_oz_is_beaten_on_a_real_program_and_the_result_can_be_repeated() -> None:
    with make_llvm() as env:
        oz = env.action_space["-Oz"]  # type: ignore[index]
        (result,) = run_search(
            make_llvm, ["cbench-v1/crc32"], budget=Budget(steps=400), starts=[[oz]], seed=1
        )
        env.reset(benchmark=result.benchmark)
        env.step(oz)
        after_oz = env.observation["IrInstructionCount"]
        env.reset(benchmark=result.benchmark)
        _, reward, *_ = env.multistep(result.actions)
        assert reward == result.reward
        assert env.observation["IrInstructionCount"] < after_oz
        assert env.commandline() == result.commandline


def test_several_programs_are_searched_at_once_and_reported_in_order() -> None:
    programs = ["benchmark://cbench-v1/sha", "benchmark://cbench-v1/crc32"]
    results = run_search(make_llvm, programs, budget=Budget(steps=30))
    assert [result.benchmark for result in results] == programs
    assert all(result.reward > 0 for result in results)


def test_a_search_bounded_by_time_ends_in_time() -> None:
    started = time.monotonic()
    run_search(make_llvm, ["cbench-v1/crc32"], algorithm="local", budget=Budget(seconds=1.5))
    assert time.monotonic() - started < 120  # without the bound it would go on for ever


class _Impatient(Silent):
    def improved(self, improvement: Improvement) -> None:
        raise KeyboardInterrupt


def test_an_interrupt_returns_what_was_found_so_far() -> None:
    result = search_puzzle("random", budget=Budget(seconds=600), watcher=_Impatient())
    assert result.is_interrupted
    assert result.reward > 0


def test_an_exception_of_the_watcher_ends_the_search_and_is_passed_on() -> None:
    class Broken(Silent):
        def improved(self, improvement: Improvement) -> None:
            raise ZeroDivisionError("watcher")

    with pytest.raises(ZeroDivisionError, match="watcher"):
        search_puzzle("random", watcher=Broken())


def test_no_process_is_left_behind() -> None:
    before = descendants(os.getpid())
    run_search(make_llvm, ["cbench-v1/sha"], budget=Budget(steps=200), jobs=2)
    # One zygote serves the whole process.
    assert wait_until(lambda: len(descendants(os.getpid())) <= len(before) + 1)


def test_an_unknown_algorithm_is_refused_by_name() -> None:
    with pytest.raises(UnknownNameError, match=r"no algorithm 'magic'; there are random, greedy"):
        search_puzzle("magic")


def test_an_environment_without_a_reward_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="without a reward to maximise"):
        run_search(lambda: compiler_gym.make("llvm-v0"), budget=Budget(steps=1))


@pytest.mark.parametrize("options", [{"jobs": 0}, {"starts": [[10_000]]}])
def test_options_out_of_range_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"a start has action|jobs must be a whole number of at least 1"
    ):
        search_puzzle("random", **options)


def test_a_program_that_does_not_exist_is_refused_before_anything_starts() -> None:
    with pytest.raises((UnknownNameError, BenchmarkInitError), match="nowhere"):
        run_search(make_llvm, ["cbench-v1/nowhere"], budget=Budget(steps=1))


def test_equal_programs_are_recognised_with_each_compiler(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if shutil.which("gcc-12") is None:
        pytest.skip("needs gcc-12: apt install gcc-12")
    seen: list[Walk] = []

    class Recorded(RandomSearch):
        def tell(self, walks: Sequence[Walk]) -> None:
            seen.extend(walks)

    monkeypatch.setattr(entrance, "ALGORITHMS", {"recorded": Recorded})

    def make_gcc() -> CompilerEnv:
        return compiler_gym.make(
            "gcc-v0", gcc_bin="gcc-12", benchmark="cbench-v1/crc32", reward_space="asm_size"
        )

    with make_gcc() as env:
        names = env.action_space.names  # type: ignore[attr-defined]  # its actions have names
    first, second, other = map(names.index, ("-fgcse", "-fno-inline", "-O2"))
    starts = [[first, second], [second, first], [first, other]]
    run_search(make_gcc, algorithm="recorded", budget=Budget(steps=6), jobs=1, starts=starts)
    states = [walk.last.state for walk in seen[:3]]
    assert states[0] is not None
    assert states[0] == states[1] != states[2]


def test_kept_processes_change_the_time_and_not_the_result() -> None:
    def found(jobs: int, **kept: Any) -> SearchResult:
        (result,) = run_search(
            make_llvm,
            ["cbench-v1/bitcount"],
            algorithm="local",
            budget=Budget(steps=60),
            starts=[[]],
            jobs=jobs,
            **kept,
        )
        return result

    one = found(1)
    for other in (found(1, kept_processes=0), found(2, kept_bytes=0), found(2)):
        assert other.actions == one.actions
        assert other.reward == one.reward
        assert (other.steps, other.sequences, other.recognised) == (
            one.steps, one.sequences, one.recognised,
        )  # fmt: skip
    assert 0 < one.recognised < one.sequences


def test_a_search_opens_no_program_in_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted: list[object] = []

    def take(programs: object, key: object, worked: float) -> None:
        wanted.append(key)

    monkeypatch.setattr(KeptPrograms, "take", take)
    run_search(make_llvm, ["cbench-v1/crc32"], budget=Budget(steps=5), jobs=1, starts=[[]])
    assert wanted == []


def test_bounds_of_kept_processes_are_checked() -> None:
    with pytest.raises(
        InvalidParameterError,
        match="kept_processes must be a finite number of at least 0 \\(got -1",
    ):
        search_puzzle("random", kept_processes=-1)
