# SPDX-License-Identifier: MIT
# Gymnasium types its spaces partially:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
"""A vector does what Gymnasium's own does, step by step, and keeps failures in their row."""

import os
import pickle
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

import compiler_gym
from compiler_gym.core import Episode
from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidActionError,
    InvalidParameterError,
    ServiceIsClosed,
    SessionError,
    SessionNotFound,
    WorkerCrashedError,
)
from compiler_gym.service import Limits
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.spaces import Reward
from compiler_gym.testing import FakeEnv, is_running, same, wait_until, worker_pid
from compiler_gym.testing.fakes import BEHAVIOURS
from compiler_gym.vector import CompilerVectorEnv
from compiler_gym.wrappers import Counter, RewardWrapper, TimeLimit
from tests.stand_ins import stand_in

MODES = list(AutoresetMode)
ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}
MakeVector = Callable[..., CompilerVectorEnv]


def fake(number: int = 7, **arguments: Any) -> FakeEnv:
    chosen: dict[str, Any] = {
        "observation_space": "packed",
        "reward_space": "number",
        "action_space": "Behaviours",
        "benchmark": f"benchmark://fake-v0/{number}",
    }
    return FakeEnv(**{**chosen, **arguments})


def makers(count: int, **arguments: Any) -> list[Callable[[], FakeEnv]]:
    return [lambda number=number: fake(number, **arguments) for number in range(2, 2 + count)]


@pytest.fixture(autouse=True, params=[1, 64], ids=["in turn", "at once"])
def cores(request: pytest.FixtureRequest, set_cores: Callable[[int], None]) -> None:
    """Have fewer cores than rows, or more: all else is the same."""
    set_cores(request.param)


@pytest.fixture
def make_vector() -> Iterator[MakeVector]:
    made: list[CompilerVectorEnv] = []

    def make(count: int = 3, *, of: dict[str, Any] | None = None, **arguments: Any) -> Any:
        made.append(CompilerVectorEnv(makers(count, **(of or {})), **arguments))
        return made[-1]

    yield make
    for vector in made:
        vector.close()


def comparable(value: Any) -> Any:
    """Return infos without what no two runs share: errors are equal if their text is."""
    if hasattr(value, "items"):
        return {key: comparable(item) for key, item in value.items()}
    if getattr(value, "dtype", None) == np.dtype(object):
        return [comparable(item) for item in value]
    if hasattr(value, "tolist"):
        return (str(value.dtype), value.tolist())
    return str(value) if isinstance(value, Exception) else value


def assert_same_step(ours: Any, theirs: Any) -> None:
    assert same(ours[0], theirs[0])
    for mine, other in zip(ours[1:-1], theirs[1:-1], strict=True):
        assert mine.dtype == other.dtype
        assert mine.tolist() == other.tolist()
    assert comparable(ours[-1]) == comparable(theirs[-1])


@pytest.mark.parametrize("isolation", ["process", "in-process"])
@pytest.mark.parametrize(
    "space",
    [
        "packed", ["number", "vector"], "digits",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("vector", "number")),
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", MODES)
def test_every_step_is_that_of_gymnasiums_own_vector(
    mode: AutoresetMode, space: Any, isolation: str
) -> None:
    names = ["add", "double", "nothing", "end", "raise", "fatal"]
    generator = random.Random(str(space))
    arguments = {"observation_space": space, "isolation": isolation}
    ours = CompilerVectorEnv(makers(3, **arguments), autoreset_mode=mode)
    theirs = SyncVectorEnv(makers(3, **arguments), autoreset_mode=mode)
    try:
        assert ours.action_space == theirs.action_space
        assert ours.observation_space == theirs.observation_space
        assert ours.metadata == theirs.metadata
        assert_same_step(ours.reset(seed=5), theirs.reset(seed=5))
        for _ in range(25):
            actions = np.array([ACTIONS[generator.choice(names)] for _ in range(3)])
            mine, other = ours.step(actions), theirs.step(actions)
            assert_same_step(mine, other)
            ended = mine[2] | mine[3]
            if mode is AutoresetMode.DISABLED and ended.any():
                masks = [{"reset_mask": ended.copy()} for _ in range(2)]
                mine, other = (
                    v.reset(options=m) for v, m in zip((ours, theirs), masks, strict=True)
                )
                assert_same_step(mine, other)
        assert ours.np_random_seed == theirs.np_random_seed
    finally:
        ours.close()
        theirs.close()


@pytest.mark.parametrize("mode", MODES)
def test_time_limits_are_those_of_gymnasium(mode: AutoresetMode) -> None:
    ours = CompilerVectorEnv(makers(2), autoreset_mode=mode, max_episode_steps=3)

    def limited(make: Callable[[], FakeEnv]) -> Callable[[], gymnasium.Env[Any, Any]]:
        return lambda: gymnasium.wrappers.TimeLimit(make(), max_episode_steps=3)

    theirs = SyncVectorEnv(list(map(limited, makers(2))), autoreset_mode=mode)
    try:
        assert_same_step(ours.reset(seed=1), theirs.reset(seed=1))
        for number in range(9):
            actions = [0, ACTIONS["end"] if number == 2 else number % 3]
            assert_same_step(ours.step(actions), theirs.step(actions))
            if mode is AutoresetMode.DISABLED and number % 3 == 2:
                assert_same_step(ours.reset(), theirs.reset())
    finally:
        ours.close()
        theirs.close()


@pytest.mark.parametrize("mode", MODES)
def test_wrapped_environments_make_a_vector_too(mode: AutoresetMode) -> None:
    def wrapping(make: Callable[[], FakeEnv]) -> Callable[[], TimeLimit]:
        return lambda: TimeLimit(Counter(make()), 2)

    wrapped = list(map(wrapping, makers(3)))
    ours = CompilerVectorEnv(wrapped, autoreset_mode=mode)
    theirs = SyncVectorEnv(wrapped, autoreset_mode=mode)
    try:
        assert_same_step(ours.reset(seed=1), theirs.reset(seed=1))
        for number in range(6):
            assert_same_step(ours.step([0, 1, 2]), theirs.step([0, 1, 2]))
            if mode is AutoresetMode.DISABLED and number % 2:
                assert_same_step(ours.reset(), theirs.reset())
        assert ours.get_attr("counters") == theirs.get_attr("counters")
    finally:
        ours.close()
        theirs.close()


def test_llvm_gives_what_gymnasiums_own_vector_gives() -> None:
    arguments: dict[str, Any] = {"benchmark": "cbench-v1/crc32", "max_episode_steps": 4}
    ours = gymnasium.make_vec(
        "llvm-autophase-ic-v0", 2, vectorization_mode="vector_entry_point", **arguments
    )
    theirs = gymnasium.make_vec("llvm-autophase-ic-v0", 2, vectorization_mode="sync", **arguments)
    try:
        assert type(ours.unwrapped) is CompilerVectorEnv
        assert same(ours.reset(seed=1)[0], theirs.reset(seed=1)[0])
        ours.action_space.seed(3)
        for _ in range(10):
            actions = ours.action_space.sample()
            mine, other = ours.step(actions), theirs.step(actions)
            assert all(map(same, mine[:4], other[:4]))
    finally:
        ours.close()
        theirs.close()


@pytest.mark.parametrize("mode", MODES)
def test_a_crash_is_seen_in_its_own_row_alone(make_vector: MakeVector, mode: Any) -> None:
    vector = make_vector(3, autoreset_mode=mode)
    vector.reset()
    worker = worker_pid(vector.envs[1])
    assert worker is not None
    os.kill(worker, signal.SIGKILL)
    observations, rewards, terminations, truncations, infos = vector.step([0, 0, 0])
    assert truncations.tolist() == [False, True, False]
    assert not terminations.any()
    assert rewards[0] == rewards[2] == -1
    infos = infos["final_info"] if mode is AutoresetMode.SAME_STEP else infos
    assert isinstance(infos["error"][1], WorkerCrashedError)
    assert infos["error"][0] is infos["error"][2] is None
    assert observations[2, 0] == 5
    if mode is AutoresetMode.DISABLED:
        vector.reset(options={"reset_mask": truncations})
    for _ in range(2):
        observations, _, _, truncations, _ = vector.step([0, 0, 0])
    assert not truncations.any()
    assert vector.envs[1].in_episode


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_a_vector_lives_through_workers_that_crash_at_random(
    make_vector: MakeVector, mode: Any
) -> None:
    vector = make_vector(4, autoreset_mode=mode, sampler=["benchmark://fake-v0"])
    generator = random.Random(3)
    observations, _ = vector.reset(seed=3)
    crashes = 0
    for _ in range(150):
        crash = [generator.random() < 0.05 for _ in range(4)]
        actions = [ACTIONS["segfault" if c else generator.choice(["add", "end"])] for c in crash]
        observations, rewards, _, truncations, _ = vector.step(actions)
        assert np.isfinite(rewards).all()
        assert observations.shape == (4, 3)
        crashes += int(truncations.sum())
    assert crashes > 10


def test_rows_that_hang_are_late_each_by_itself(make_vector: MakeVector) -> None:
    vector = make_vector(3, of={"limits": Limits(step_seconds=1.0)})
    vector.reset()
    *_, truncations, infos = vector.step([ACTIONS["hang"]] * 2 + [0])
    assert truncations.tolist() == [True, True, False]
    assert infos["error_type"][0] == "WorkerTimeoutError"
    assert "1.0" in str(infos["error"][0]) or "deadline" in str(infos["error"][0])


def test_an_action_that_is_none_is_refused_before_anything_happens(
    make_vector: MakeVector,
) -> None:
    vector = make_vector(2)
    vector.reset()
    for actions, match in (([0, 99], "row 1"), ([0], "2 actions"), ([0.5, 0.5], "row 0")):
        with pytest.raises(InvalidActionError, match=match):
            vector.step(actions)
    assert vector.get_attr("actions") == ([], [])
    assert vector.step([0, 0])[1].tolist() == [-1, -1]


def test_spaces_that_differ_are_refused_and_nothing_is_left() -> None:
    made: list[FakeEnv] = []

    def make(**arguments: Any) -> Callable[[], FakeEnv]:
        def inner() -> FakeEnv:
            made.append(fake(**arguments))
            made[-1].reset()
            return made[-1]

        return inner

    with pytest.raises(InvalidParameterError, match=r"observation_space of row 0 is .* row 1"):
        CompilerVectorEnv([make(), make(observation_space="number")])
    with pytest.raises(InvalidParameterError, match="action_space of row 0"):
        CompilerVectorEnv([make(), make(action_space="Safe")])
    assert [env.in_episode for env in made] == [False] * 4
    for space in ("observation_space", "reward_space"):
        with pytest.raises(InvalidParameterError, match=f"set {space}"):
            CompilerVectorEnv([make(**{space: None})])
    with pytest.raises(InvalidParameterError, match="at least one function"):
        CompilerVectorEnv([])
    with pytest.raises(InvalidParameterError, match="max_episode_steps must be at least 1"):
        CompilerVectorEnv([make()], max_episode_steps=0)


def test_every_row_may_have_its_own_program(make_vector: MakeVector) -> None:
    vector = make_vector(3)
    uris = [f"benchmark://fake-v0/{number}" for number in (7, 8, 9)]
    observations, infos = vector.reset(options={"benchmark": uris})
    assert observations[:, 0].tolist() == [7, 8, 9]
    assert infos["benchmark"].tolist() == uris
    observations, _ = vector.reset(options={"benchmark": uris[0]})
    assert observations[:, 0].tolist() == [7, 7, 7]
    with pytest.raises(InvalidParameterError, match="pass 1 or 3 programs"):
        vector.reset(options={"benchmark": uris[:2]})


@pytest.mark.parametrize(
    "sampler",
    [
        stand_in(lambda generator: f"benchmark://fake-v0/{generator.integers(1, 9)}"),
        ["benchmark://fake-v0"],
        [f"benchmark://fake-v0/{number}" for number in range(9)],
    ],
)
def test_programs_are_drawn_and_a_seed_repeats_them(make_vector: MakeVector, sampler: Any) -> None:
    vector = make_vector(3, sampler=sampler, max_episode_steps=1, autoreset_mode="SameStep")
    runs: list[Any] = []
    for _ in range(2):
        seen = [vector.reset(seed=11)[0]]
        seen += [vector.step([0, 0, 0])[0] for _ in range(8)]
        runs.append(np.stack(seen)[..., 0].tolist())
    assert runs[0] == runs[1]
    assert len({number for row in runs[0] for number in row}) > 3


def test_a_program_that_does_not_start_is_drawn_again(make_vector: MakeVector) -> None:
    draws = iter(["benchmark://fake-v0/1?start=raise", "benchmark://fake-v0/5"] * 20)
    vector = make_vector(2, sampler=stand_in(lambda generator: next(draws)))
    assert vector.reset()[0][:, 0].tolist() == [5, 5]
    hopeless = make_vector(2, sampler=["benchmark://fake-v0/1?start=raise"])
    with pytest.raises(BenchmarkInitError, match="cannot start"):
        hopeless.reset()


def test_a_reset_that_fails_leaves_the_other_rows_usable(make_vector: MakeVector) -> None:
    vector = make_vector(3)
    bad = ["benchmark://fake-v0/1", "benchmark://fake-v0/1?start=segfault", "benchmark://fake-v0/3"]
    with pytest.raises(BenchmarkInitError, match="cannot start"):
        vector.reset(options={"benchmark": bad})
    assert vector.reset(options={"benchmark": "benchmark://fake-v0/4"})[0][:, 0].tolist() == [4] * 3


def test_bad_masks_and_seeds_are_refused(make_vector: MakeVector) -> None:
    vector = make_vector(2)
    vector.reset(seed=[3, None])
    for mask in ([True], [False, False], [1, 0]):
        with pytest.raises(InvalidParameterError, match="reset_mask must be"):
            vector.reset(options={"reset_mask": np.array(mask)})
    with pytest.raises(InvalidParameterError, match="2 seeds"):
        vector.reset(seed=[1])


def test_an_ended_row_has_to_be_reset_where_nothing_does_it(make_vector: MakeVector) -> None:
    vector = make_vector(2, autoreset_mode="Disabled")
    vector.reset()
    vector.step([ACTIONS["end"], 0])
    with pytest.raises(InvalidParameterError, match=r"rows \[0\] have ended"):
        vector.step([0, 0])


def test_a_row_that_has_just_begun_again_takes_no_other_actions(make_vector: MakeVector) -> None:
    vector = make_vector(2, autoreset_mode="SameStep")
    vector.reset()
    vector.step([0, ACTIONS["end"]])
    with pytest.raises(InvalidActionError, match="in row 1"):
        vector.step([0, 1000])
    assert vector.envs[0].actions == [0]


@pytest.mark.parametrize("wrap", [stand_in(lambda env: env), Counter], ids=["direct", "wrapped"])
def test_an_error_in_one_row_is_raised_after_all_have_answered(wrap: Callable[..., Any]) -> None:
    broken = [False] * 3

    def make(number: int) -> Any:
        def translate(value: int) -> int:
            if broken[number]:
                raise ZeroDivisionError(f"in row {number}")
            return value

        env = fake(2 + number)
        env.observation.add_derived_space("fragile", "number", translate)
        env.observation_space = "fragile"
        return wrap(env)

    with CompilerVectorEnv([lambda number=number: make(number) for number in range(3)]) as vector:
        vector.reset()
        broken[0] = broken[2] = True
        with pytest.raises(ZeroDivisionError, match="in row 0"):
            vector.step([0, 0, 0])
        broken[0] = broken[2] = False
        observations, *_, infos = vector.step([0, 0, 0])
        assert observations.tolist() == [4, 5, 6]
        assert "error" not in infos


def test_a_row_that_cannot_begin_leaves_no_other_unread(make_vector: MakeVector) -> None:
    vector = make_vector(3)
    vector.reset()
    vector.envs[1].close()
    with pytest.raises(SessionNotFound):
        vector.step([0, 0, 0])
    assert [vector.envs[row].observation["number"] for row in (0, 2)] == [3, 5]


HANGS_AT_START = {"benchmark": "benchmark://fake-v0/7?start=hang"}


def begun(act: Callable[[], Any]) -> tuple[threading.Thread, list[BaseException]]:
    """Return a thread that does `act`, and a list of what that raises."""
    raised: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, raised


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("wrap", [stand_in(lambda env: env), Counter], ids=["direct", "wrapped"])
@pytest.mark.parametrize("doing", ["step", "reset"])
def test_closing_while_another_thread_waits_leaves_nothing(
    count: int, wrap: Callable[..., Any], doing: str
) -> None:
    vector = CompilerVectorEnv(
        [lambda number=number: wrap(fake(number)) for number in range(2, 2 + count)]
    )
    vector.reset()
    pids = [worker_pid(env.unwrapped) for env in vector.envs]

    def wait() -> None:
        if doing == "step":
            vector.step([ACTIONS["hang"]] * count)
        else:
            vector.reset(options=HANGS_AT_START)

    thread, raised = begun(wait)
    time.sleep(0.3)
    vector.close()
    thread.join(120)
    assert [type(error) for error in raised] == [ServiceIsClosed]
    assert wait_until(lambda: not any(pid and is_running(pid) for pid in pids))
    assert [worker_pid(env.unwrapped) for env in vector.envs] == [None] * count


def test_a_row_that_raises_keeps_no_other_from_its_next_episode() -> None:
    broken = [False]

    class Fragile(RewardWrapper):
        def convert_reward(self, reward: float) -> float:
            if broken[0]:
                raise ZeroDivisionError
            return reward

    makers = [lambda: Fragile(fake(2)), lambda: Counter(fake(3))]
    with CompilerVectorEnv(makers, autoreset_mode="SameStep") as vector:
        vector.reset()
        broken[0] = True
        with pytest.raises(ZeroDivisionError):
            vector.step([0, ACTIONS["end"]])
        broken[0] = False
        assert vector.step([0, 0])[0][:, 0].tolist() == [4, 4]


@pytest.mark.parametrize("wrap", [stand_in(lambda env: env), Counter], ids=["direct", "wrapped"])
def test_every_episode_draws_anew_after_a_seed(wrap: Callable[..., Any]) -> None:
    programs = [f"benchmark://fake-v0/{number}" for number in range(1000)]
    arguments: dict[str, Any] = {"max_episode_steps": 1, "autoreset_mode": "SameStep"}
    vector = CompilerVectorEnv([lambda: wrap(fake())] * 2, sampler=programs, **arguments)
    drawn: list[list[list[str]]] = []
    for _ in range(2):
        vector.reset(seed=0)
        episodes = [[str(env.benchmark) for env in vector.envs]]
        for _ in range(3):
            vector.step([0, 0])
            episodes.append([str(env.benchmark) for env in vector.envs])
        drawn.append(episodes)
    assert drawn[0] == drawn[1]
    vector.close()
    assert all(len(set(of_row)) == 4 for of_row in zip(*drawn[0], strict=True))


def test_a_deadline_that_passed_is_named_as_it_was(make_vector: MakeVector) -> None:
    vector = make_vector(2, of={"limits": Limits(step_seconds=1.0)})
    vector.reset()
    errors = vector.step([ACTIONS["hang"]] * 2)[-1]["error"]
    assert [error.seconds for error in errors] == [1.0] * 2


def test_rows_in_wrappers_of_gymnasium_can_be_forked() -> None:
    makers = [
        lambda: gymnasium.wrappers.TransformReward(fake(2), lambda reward: abs(float(reward)))
    ] * 2
    with CompilerVectorEnv(makers) as vector:
        vector.reset()
        with vector.fork() as twin:
            twin.step([0, 1])
            assert twin.get_attr("actions") == ([0], [1])
        assert vector.get_attr("actions") == ([], [])


def test_arrays_are_returned_as_copies_unless_asked_otherwise(make_vector: MakeVector) -> None:
    vector, sharing = make_vector(2), make_vector(2, copy=False)
    before, shared = vector.reset()[0], sharing.reset()[0]
    vector.step([0, 0])
    assert before[:, 0].tolist() == [2, 3]
    assert sharing.step([0, 0])[0] is shared


def test_closing_in_the_middle_of_a_step_leaves_nothing_running(make_vector: MakeVector) -> None:
    vector = make_vector(3)
    vector.reset()
    workers = [worker_pid(env) for env in vector.envs]
    for row, name in zip(vector._rows, ("hang", "add", "hang_uninterruptibly"), strict=True):  # pyright: ignore[reportPrivateUsage]  # no public name tells
        row.begin_step(ACTIONS[name])
    vector.close()
    vector.close()
    assert wait_until(lambda: not any(is_running(pid) for pid in workers if pid))
    with pytest.raises(ServiceIsClosed, match="closed"):
        vector.step([0, 0, 0])


def test_a_pickled_vector_replays_its_episodes(make_vector: MakeVector) -> None:
    vector = make_vector(2)
    vector.reset()
    vector.step([0, 1])
    with pickle.loads(pickle.dumps(vector)) as twin:
        assert_same_step(vector.step([1, 0]), twin.step([1, 0]))


def test_a_fork_goes_its_own_way(make_vector: MakeVector) -> None:
    vector = make_vector(2, sampler=["benchmark://fake-v0"], max_episode_steps=3)
    vector.reset(seed=2)
    vector.step([0, 1])
    with vector.fork() as fork:
        for actions in ([1, 1], [0, 0], [2, 2], [0, 0]):
            assert_same_step(vector.step(actions), fork.step(actions))
        fork.step([0, 0])
    assert all(vector.call("in_episode"))


def test_attributes_of_rows_are_read_set_and_called(make_vector: MakeVector) -> None:
    vector = make_vector(2)
    vector.reset()
    vector.step([0, 1])
    assert vector.call("commandline") == ("add", "double")
    assert vector.get_attr("actions") == ([0], [1])
    vector.set_attr("tag", ["a", "b"])
    assert vector.get_attr("tag") == ("a", "b")
    with pytest.raises(InvalidParameterError, match="pass 1 or 2 values"):
        vector.set_attr("tag", ["a"])
    texts = make_vector(2, of={"render_mode": "ansi"})
    texts.reset()
    assert all("after 0 actions" in text for text in texts.render())


class Doubled(Reward):
    """Twice the program, asked for under a name of one's own."""

    def __init__(self, cost: str = "number") -> None:
        super().__init__(name="doubled", observation_spaces=[cost])
        self.seen: list[Any] = []
        self.error: Exception | None = None

    def update(self, actions: Any, observations: Any, observation_view: Any) -> float:
        if self.error is not None:
            raise self.error
        self.seen.append((list(actions), list(observations)))
        return 2.0 * observations[0]


def test_a_reward_gets_the_same_values_in_a_vector(make_vector: MakeVector) -> None:
    vector, alone = make_vector(2), fake(2)
    rewards = [Doubled() for _ in range(3)]
    for env, reward in zip([*vector.envs, alone], rewards, strict=True):
        env.reward_space = reward
    vector.reset()
    with alone:
        alone.reset()
        for action in (0, 1):
            assert vector.step([action] * 2)[1][0] == alone.step(action)[1]
        assert rewards[0].seen == rewards[2].seen
        assert vector.envs[0].episode_reward == alone.episode_reward


def test_an_error_in_a_reward_is_raised_after_all_have_answered(make_vector: MakeVector) -> None:
    vector = make_vector(3)
    rewards = [Doubled() for _ in range(3)]
    for env, reward in zip(vector.envs, rewards, strict=True):
        env.reward_space = reward
    vector.reset()
    rewards[1].error, rewards[2].error = ZeroDivisionError("in row 1"), KeyError("in row 2")
    with pytest.raises(ZeroDivisionError, match="in row 1"):
        vector.step([0, 0, 0])
    rewards[1].error, rewards[2].error = SessionError("no more"), None
    _, _, _, truncations, infos = vector.step([0, 0, 0])
    assert truncations.tolist() == [False, True, False]
    assert infos["error_type"][1] == "SessionError"
    assert [len(reward.seen) for reward in rewards] == [2, 0, 1]


def test_rows_may_earn_different_rewards(make_vector: MakeVector) -> None:
    vector = make_vector(2)
    vector.envs[1].reward_space = Doubled()
    vector.reset()
    assert vector.step([0, 0])[1].tolist() == [-1, 8]
    vector.envs[0].reward_space = Doubled("clock")
    vector.reset()
    rewards = vector.step([0, 0])[1]
    assert rewards[0] > 8 == rewards[1]
    vector.envs[0].reward_space = None
    assert vector.envs[0].step(0)[1] is None


def test_a_row_may_be_used_by_itself_between_steps(make_vector: MakeVector) -> None:
    vector = make_vector(2)
    vector.reset()
    vector.step([0, 0])
    assert vector.envs[1].step(0)[0].tolist() == [5, 25, 1]
    assert vector.step([0, 0])[0][:, 0].tolist() == [4, 6]
    assert vector.get_attr("actions") == ([0, 0], [0, 0, 0])
    vector.envs[0].reset()
    assert vector.step([0, 0])[0][:, 0].tolist() == [3, 7]
    vector.envs[0].observation_space = "vector"  # the same array, but not as bytes
    assert vector.step([0, 0])[0].tolist() == [[4, 16, 1], [8, 64, 1]]
    vector.envs[0].step(ACTIONS["end"])
    with pytest.raises(SessionNotFound):
        vector.step([0, 0])


def test_actions_may_come_in_any_form(make_vector: MakeVector) -> None:
    vector = make_vector(2)
    vector.reset()
    for actions in (
        [0, 0],
        (0, 0),
        np.zeros(2, np.int32),
        [np.int64(0)] * 2,
        np.zeros((2, 1), int),
    ):
        vector.step(actions)
    assert vector.get_attr("actions") == ([0] * 5, [0] * 5)
    assert all(type(action) is int for row in vector.get_attr("actions") for action in row)


def test_warnings_of_sessions_are_given_in_vectors(make_vector: MakeVector) -> None:
    vector = make_vector(2)
    vector.reset()
    with pytest.warns(UserWarning, match="careful"):
        observations, *_ = vector.step([0, ACTIONS["warn"]])
    assert observations[:, 0].tolist() == [3, 4]


@pytest.mark.parametrize("mode", MODES)
def test_every_row_has_its_own_limit(make_vector: MakeVector, mode: AutoresetMode) -> None:
    vector = make_vector(2, autoreset_mode=mode, max_episode_steps=3)
    vector.reset()
    vector.step([0, 0])
    vector.reset(options={"reset_mask": np.array([False, True])})
    ends = [vector.step([0, 0])[3].tolist() for _ in range(2)]
    assert ends == [[False, False], [True, False]]
    if mode is AutoresetMode.DISABLED:
        vector.reset(options={"reset_mask": np.array([True, False])})
    assert vector.step([0, 0])[3].tolist() == [False, True]


def test_spaces_of_actions_that_change_are_reported_in_their_row() -> None:
    ours, theirs = (
        kind(makers(2, action_space="Menu"))  # each action is gone when it was taken
        for kind in (CompilerVectorEnv, SyncVectorEnv)
    )
    try:
        assert_same_step(ours.reset(seed=1), theirs.reset(seed=1))
        for _ in range(6):
            assert_same_step(ours.step([0, 0]), theirs.step([0, 0]))
    finally:
        ours.close()
        theirs.close()


def test_a_program_that_many_rows_share_gives_each_what_it_gives_alone() -> None:
    arguments: dict[str, Any] = {"benchmark": "cbench-v1/crc32"}
    generator = np.random.default_rng(5)
    with (
        compiler_gym.make_vec("llvm-autophase-ic-v0", 3, **arguments) as vector,
        compiler_gym.make("llvm-autophase-ic-v0", **arguments) as alone,
    ):
        actions = generator.integers(0, 123, size=(12, 3))
        vector.reset()
        together = [vector.step(row)[:2] for row in actions]
        for number in range(3):
            alone.reset()
            for step, action in enumerate(actions[:, number]):
                observation, reward, *_ = alone.step(int(action))
                assert together[step][0][number].tolist() == observation.tolist()
                assert together[step][1][number] == reward


@pytest.mark.parametrize("wrap", [stand_in(lambda env: env), Counter], ids=["direct", "wrapped"])
def test_closing_just_before_a_session_is_opened_leaves_none(
    wrap: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    vector = CompilerVectorEnv([lambda: wrap(fake(2))])
    vector.reset()
    about_to, closed = threading.Event(), threading.Event()
    connect = Episode.connect

    def late(episode: Episode) -> Any:
        about_to.set()
        closed.wait(60)
        time.sleep(0.1)
        return connect(episode)

    monkeypatch.setattr(Episode, "connect", late)
    thread, raised = begun(lambda: vector.reset(options=HANGS_AT_START))
    assert about_to.wait(60)
    threading.Timer(0.1, closed.set).start()
    began = time.monotonic()
    vector.close()
    thread.join(120)
    assert time.monotonic() - began < 60
    assert [type(error) for error in raised] == [ServiceIsClosed]
    assert worker_pid(vector.envs[0].unwrapped) is None


def test_another_array_of_as_many_bytes_is_another(make_vector: MakeVector) -> None:
    vector = make_vector(2)
    vector.reset()
    vector.step([0, 0])
    for env in vector.envs:
        env.observation_space = "floats"
    for step in range(3):
        assert vector.step([0, 0])[0].tolist() == [[4 + step] * 3, [5 + step] * 3]


@pytest.mark.slow  # it fails where others take more than half of the cores
def test_rows_with_a_cache_are_given_the_time_that_others_take() -> None:
    arguments = {"limits": Limits(step_seconds=1.0), "cache": TranspositionCache()}
    with CompilerVectorEnv(makers(12, **arguments)) as vector:
        vector.reset()
        for _ in range(2):
            assert not vector.step([ACTIONS["work"]] * 12)[3].any()
