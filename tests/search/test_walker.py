# SPDX-License-Identifier: MIT
from collections.abc import Iterator

import pytest

from compiler_gym.core import CompilerEnv
from compiler_gym.search.moves import Moves
from compiler_gym.search.snapshots import Snapshots
from compiler_gym.search.walker import Program, Walker
from search.puzzle import CRASH, HANG, NOTHING, OPEN, SAVE, TRIM, make_trapped_puzzle


class Clock:
    left = 60.0


@pytest.fixture
def env() -> Iterator[CompilerEnv]:
    with make_trapped_puzzle() as made:
        made.observation_space = "IrHash"
        made.reset()
        yield made


@pytest.fixture
def program(env: CompilerEnv) -> Program:
    return Program(env.benchmark)


@pytest.fixture
def walker(env: CompilerEnv) -> Iterator[Walker]:
    snapshots = Snapshots(4)
    yield make_walker(env, snapshots)
    snapshots.close()


def make_walker(env: CompilerEnv, snapshots: Snapshots, clock: type[Clock] = Clock) -> Walker:
    moves = Moves(env.action_space, seed=0)
    return Walker(env, moves, snapshots, step_seconds=0.3, seconds_left=lambda: clock.left)


def test_rewards_add_up_and_actions_without_effect_leave_no_trace(
    walker: Walker, program: Program
) -> None:
    walk = walker.walk(program, [TRIM, NOTHING, OPEN, SAVE])
    assert [node.reward for node in walk.nodes] == [0, 1, 1, 41]
    assert walk.best.actions() == (TRIM, OPEN, SAVE)
    assert walk.new_steps == 4


def test_nothing_is_tried_twice(walker: Walker, program: Program) -> None:
    first = walker.walk(program, [TRIM, OPEN, CRASH])
    again = walker.walk(program, [TRIM, NOTHING, OPEN, CRASH])
    assert again.new_steps == 1
    assert again.nodes == first.nodes
    assert again.failure is not None
    assert again.failure == first.failure
    assert again.failure.type == "WorkerCrashedError"


def test_a_walk_goes_on_after_a_crash_and_after_a_hang(walker: Walker, program: Program) -> None:
    hung = walker.walk(program, [TRIM, HANG]).failure
    assert hung is not None
    assert hung.type == "WorkerTimeoutError"
    assert walker.walk(program, [TRIM, OPEN, SAVE]).last.reward == 41


def test_a_kept_environment_gives_the_same_as_a_replay(env: CompilerEnv, program: Program) -> None:
    snapshots = Snapshots(4)
    walker = make_walker(env, snapshots)
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
    assert base.known in snapshots
    walker.walk(program, [SAVE, TRIM])
    forked = walker.walk(program, [TRIM, OPEN, TRIM, SAVE, TRIM]).last
    assert forked.reward == walker.replay(program, forked.actions()) == 43
    snapshots.close()
    walker.close()


def test_a_walk_stops_when_the_time_is_up(env: CompilerEnv, program: Program) -> None:
    class Late(Clock):
        left = 0.0

    walk = make_walker(env, Snapshots(0), Late).walk(program, [TRIM])
    assert walk.nodes == (program.root,)
    assert program.root.children == {}


def test_a_replay_that_fails_has_no_reward(walker: Walker, program: Program) -> None:
    assert walker.replay(program, [TRIM, CRASH]) is None
    assert walker.replay(program, []) == 0.0
