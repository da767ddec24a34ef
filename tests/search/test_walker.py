# SPDX-License-Identifier: MIT
import os
import signal
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from compiler_gym.core import CompilerEnv, KeptForks, Weight
from compiler_gym.options import SearchOptions
from compiler_gym.search.moves import Moves
from compiler_gym.search.tree import State
from compiler_gym.search.walker import SearchedProgram, Walker
from compiler_gym.spaces import CostReward
from compiler_gym.testing import worker_pid
from search.puzzle import CRASH, GROW, HANG, NOTHING, OPEN, SAVE, TRIM, make_trapped_puzzle


class Clock:
    left = 60.0


@pytest.fixture
def env() -> Iterator[CompilerEnv]:
    with make_trapped_puzzle() as made:
        made.observation_space = "IrHash"
        made.reset()
        yield made


@pytest.fixture
def program(env: CompilerEnv) -> SearchedProgram:
    return SearchedProgram(env.benchmark)


@pytest.fixture
def walker(env: CompilerEnv) -> Iterator[Walker]:
    kept_forks = KeptForks[State](4)
    yield make_walker(env, kept_forks)
    kept_forks.close()


def make_walker(
    env: CompilerEnv,
    kept_forks: KeptForks[State],
    clock: type[Clock] = Clock,
    *,
    step_seconds: float = 60.0,
) -> Walker:
    moves = Moves(env.action_space, seed=0)
    options = SearchOptions(step_seconds=step_seconds)
    return Walker(env, moves, kept_forks, options, lambda: clock.left)


def test_rewards_add_up_and_actions_without_effect_leave_no_trace(
    walker: Walker, program: SearchedProgram
) -> None:
    walk = walker.walk(program, [TRIM, NOTHING, OPEN, SAVE])
    assert [node.reward for node in walk.nodes] == [0, 1, 1, 41]
    assert walk.best.actions() == (TRIM, OPEN, SAVE)
    assert walk.new_steps == 4


def test_nothing_is_tried_twice(walker: Walker, program: SearchedProgram) -> None:
    first = walker.walk(program, [TRIM, OPEN, CRASH])
    again = walker.walk(program, [TRIM, NOTHING, OPEN, CRASH])
    assert again.new_steps == 1
    assert again.nodes == first.nodes
    assert again.failure is not None
    assert again.failure == first.failure
    assert again.failure.type == "WorkerCrashedError"


def test_a_walk_goes_on_after_a_crash_and_after_a_hang(
    env: CompilerEnv, walker: Walker, program: SearchedProgram
) -> None:
    kept_forks = KeptForks[State](4)
    hung = make_walker(env, kept_forks, step_seconds=0.5).walk(program, [HANG]).failure
    kept_forks.close()
    assert hung is not None
    assert hung.type == "WorkerTimeoutError"
    assert walker.walk(program, [TRIM, OPEN, SAVE]).last.reward == 41


def test_a_kept_environment_gives_the_same_as_a_replay(
    env: CompilerEnv, program: SearchedProgram
) -> None:
    kept_forks = KeptForks[State](4)
    walker = make_walker(env, kept_forks)
    base = walker.walk(program, [TRIM, OPEN]).last
    walker.walk(program, [TRIM])
    with env.fork() as _:
        pass
    walker.walk(program, [TRIM, OPEN, TRIM])
    base.seconds = 100.0  # as if it had been slow to get here: a fork is cheaper
    walker.walk(program, [SAVE])
    walker.walk(program, [TRIM, OPEN, NOTHING])
    walker.walk(program, [SAVE, SAVE])
    walker.walk(program, [TRIM, OPEN, SAVE, TRIM])
    assert base.known in kept_forks
    walker.walk(program, [SAVE, TRIM])
    forked = walker.walk(program, [TRIM, OPEN, TRIM, SAVE, TRIM]).last
    assert forked.reward == walker.replay(program, forked.actions()) == 43
    kept_forks.close()
    walker.close()


def test_a_walk_stops_when_the_time_is_up(env: CompilerEnv, program: SearchedProgram) -> None:
    class Late(Clock):
        left = 0.0

    walk = make_walker(env, KeptForks(0), Late).walk(program, [TRIM])
    assert walk.nodes == (program.root,)
    assert program.root.children == {}


def test_a_replay_that_fails_has_no_reward(walker: Walker, program: SearchedProgram) -> None:
    assert walker.replay(program, [TRIM, CRASH]) is None
    assert walker.replay(program, []) == 0.0


def test_equal_programs_are_known_whichever_way_led_there(
    walker: Walker, program: SearchedProgram
) -> None:
    first = walker.walk(program, [TRIM, OPEN, SAVE, GROW])
    other = walker.walk(program, [OPEN, TRIM, SAVE, GROW, TRIM])
    assert other.new_steps == 3  # the first two, and the last
    assert other.nodes[2].known is first.nodes[2].known
    assert other.nodes[4].actions() == (OPEN, TRIM, SAVE, GROW)
    assert (
        other.nodes[4].reward
        == first.last.reward
        == walker.replay(program, [OPEN, TRIM, SAVE, GROW])
    )
    assert walker.walk(program, [OPEN, TRIM, CRASH]).failure is not None
    again = walker.walk(program, [TRIM, OPEN, CRASH])
    assert (again.new_steps, again.failure is not None) == (0, True)


def test_a_way_back_to_the_start_is_the_start(walker: Walker, program: SearchedProgram) -> None:
    walker.walk(program, [TRIM])
    known = walker.walk(program, [NOTHING]).last
    assert known is program.root
    assert program.states[program.root.state] is program.root.known


class Toll(CostReward):
    """A reward that depends on the way: each action costs something."""

    def update(
        self, actions: Sequence[Any], observations: Sequence[Any], observation_view: Any
    ) -> float:
        return super().update(actions, observations, observation_view) - 0.25


def test_path_dependent_rewards_are_earned_on_every_path(
    env: CompilerEnv, program: SearchedProgram
) -> None:
    env.episode.selection.reward.add_space(
        Toll("Toll", cost="Cost", initial="Cost", platform_dependent=False)
    )
    env.reward_space = "Toll"
    walker = make_walker(env, KeptForks(0))
    assert walker.walk(program, [TRIM, OPEN, SAVE]).last.reward == 41 - 0.75
    other = walker.walk(program, [OPEN, TRIM, SAVE])
    assert (other.new_steps, other.last.reward) == (3, 41 - 0.75)


def test_a_dear_reward_is_requested_once_for_each_program(
    env: CompilerEnv, program: SearchedProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    reward = CostReward("Dear", cost="Cost", initial="Cost", platform_dependent=True)
    env.episode.selection.reward.add_space(reward)
    env.reward_space = "Dear"
    costs: list[float] = []
    update = CostReward.update

    def counted(self: CostReward, actions: Any, observations: Any, view: Any) -> float:
        costs.append(observations[0])
        return update(self, actions, observations, view)

    monkeypatch.setattr(CostReward, "update", counted)
    walker = make_walker(env, KeptForks(0))
    walker.walk(program, [TRIM, NOTHING, OPEN, SAVE])
    assert costs == [99, 99, 59]
    walk = walker.walk(program, [OPEN, TRIM, GROW, SAVE])
    assert costs == [99, 99, 59, 100, 104, 64]
    assert walk.last.reward == walker.replay(program, [OPEN, TRIM, GROW, SAVE]) == 36


def test_a_state_that_several_wait_for_is_kept(env: CompilerEnv, program: SearchedProgram) -> None:
    kept_forks = KeptForks[State](4)
    walker = make_walker(env, kept_forks)
    base = walker.walk(program, [TRIM, OPEN]).last
    base.seconds = 100.0  # as if it had been slow to get here: a fork is cheaper
    base.known.expected = 2
    walker.walk(program, [TRIM, OPEN, SAVE])
    assert base.known in kept_forks
    assert len(kept_forks) == 1
    assert walker.walk(program, [TRIM, OPEN, TRIM]).last.reward == 2
    kept_forks.close()
    walker.close()


def test_a_kept_process_that_is_lost_costs_only_time(
    env: CompilerEnv, program: SearchedProgram
) -> None:
    kept_forks = KeptForks[State](4)
    walker = make_walker(env, kept_forks)
    base = walker.walk(program, [TRIM, OPEN]).last
    base.seconds = 100.0
    base.known.expected = 2
    walker.walk(program, [TRIM, OPEN, SAVE])
    kept = kept_forks.get(base.known)
    assert kept is not None
    pid = worker_pid(kept)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    walk = walker.walk(program, [TRIM, OPEN, TRIM, SAVE])
    assert (walk.failure, walk.last.reward) == (None, 42)
    kept_forks.close()
    walker.close()


def test_a_reset_that_is_quicker_than_a_fork_is_preferred(
    env: CompilerEnv, program: SearchedProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept_forks = KeptForks[State](4)
    walker = make_walker(env, kept_forks)
    walker.walk(program, [TRIM])
    kept_forks.keep(program.root.known, env.fork(), Weight())
    forks: list[State] = []
    fork = kept_forks.fork

    def noted(state: State) -> Any:
        forks.append(state)
        return fork(state)

    monkeypatch.setattr(kept_forks, "fork", noted)
    program.reset_seconds, program.fork_seconds = 0.001, 1.0
    assert walker.walk(program, [SAVE, OPEN]).failure is None
    assert forks == []
    program.reset_seconds, program.fork_seconds = 1.0, 0.001
    walker.walk(program, [GROW, OPEN])
    assert forks == [program.root.known]
    kept_forks.close()
    walker.close()


def test_masked_actions_are_not_tried(
    env: CompilerEnv, program: SearchedProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def action_masks(one: CompilerEnv) -> list[bool]:
        asked.append(len(one.actions))
        return [move not in (CRASH, HANG, GROW) for move in range(HANG + 1)]

    monkeypatch.setattr(CompilerEnv, "action_masks", action_masks, raising=False)
    walker = make_walker(env, KeptForks(0))
    walk = walker.walk(program, [CRASH, TRIM, HANG, GROW, CRASH, TRIM])
    assert walk.failure is None
    assert [node.reward for node in walk.nodes] == [0, 1, 2]
    assert walk.new_steps == 2
    assert asked == [0, 1]  # once for each program, however many moves are looked up
    assert walker.walk(program, [GROW, TRIM, CRASH]).new_steps == 0
