# SPDX-License-Identifier: MIT
"""A failure of the compiler is an event of the episode, never an exception of a step."""

import copy
import gc
import os
import pickle
import signal
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.datasets import Benchmark
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerFatalError,
    InvalidActionError,
    ObservationError,
    ServiceIsClosed,
    ServiceOSError,
    SessionError,
    SessionNotFound,
    UnknownNameError,
    WorkerCrashedError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)
from compiler_gym.service import Limits
from compiler_gym.spaces import CostReward
from compiler_gym.testing import FakeEnv, FakeSession, is_running, wait_until, worker_pid
from compiler_gym.testing.fakes import BEHAVIOURS
from tests.effort import examples
from tests.stand_ins import stand_in

MakeEnv = Callable[..., FakeEnv]
ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}


def test_a_reward_counts_with_any_observations() -> None:
    with FakeEnv(
        action_space="Behaviours", observation_space="number", reward_space="number"
    ) as env:
        env.reset()
        assert env.step(ACTIONS["negate"], ["summary"])[1] == 14.0
        assert env.episode_reward == 14.0
        env.step(ACTIONS["negate"], None, ["number"])
        assert env.episode_reward == 14.0, "rewards that a step asks for are its own"


@pytest.mark.parametrize(
    ("behaviour", "error"),
    [
        ("segfault", WorkerCrashedError),
        ("abort", WorkerCrashedError),
        ("exit", WorkerCrashedError),
        ("system_exit", SessionError),
        ("hang", WorkerTimeoutError),
        ("exhaust_memory", WorkerOutOfMemoryError),
        ("raise", SessionError),
        ("fatal", CompilerFatalError),
        ("fill_disk", ServiceOSError),
        ("turn_unplain", SessionError),
        ("overflow", SessionError),
    ],
)
def test_a_failure_truncates_the_episode_and_the_next_one_starts(
    behaviour: str, error: type[Exception]
) -> None:
    limits = Limits(step_seconds=60.0, memory_bytes=256 << 20)
    timeout = 0.3 if behaviour == "hang" else None
    with FakeEnv(
        action_space="Behaviours",
        observation_space=["number", "vector", "summary"],
        reward_space="number",
        limits=limits,
    ) as env:
        env.reset()
        env.step(ACTIONS["negate"])
        assert env.episode_reward == 14.0
        observation, reward, terminated, truncated, info = env.step(
            ACTIONS[behaviour], timeout=timeout
        )
        assert (terminated, truncated) == (False, True)
        assert type(info["error"]) is error
        assert info["error_type"] == error.__name__
        assert info["error_details"] == str(info["error"])
        assert info["action_had_no_effect"] is False
        assert env.observation_space is not None
        assert env.observation_space.contains(observation)
        assert reward == -14.0
        assert env.episode_reward == 0.0
        assert not env.in_episode
        with pytest.raises(SessionNotFound, match="reset"):
            env.step(0)
        with pytest.raises(SessionNotFound, match="reset"):
            env.observation["number"]
        assert env.reset()[0]["number"] == 7
        assert env.step(ACTIONS["add"])[0]["number"] == 8


@pytest.mark.parametrize("behaviour", ["raise", "system_exit", "fatal", "fill_disk"])
def test_a_failure_in_this_process_is_the_same_event(behaviour: str) -> None:
    with FakeEnv(
        action_space="Behaviours", observation_space="number", isolation="in-process"
    ) as env:
        env.reset()
        observation, _, _, truncated, info = env.step(ACTIONS[behaviour])
        assert (observation, truncated) == (0, True)
        assert info["error_type"] in ("SessionError", "CompilerFatalError", "ServiceOSError")
        assert env.reset()[0] == 7


def test_the_actions_up_to_the_failure_are_kept(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours")
    env.reset()
    names = ["add", "double", "raise", "add", "add"]
    *_, truncated, _ = env.multistep([ACTIONS[name] for name in names])
    assert truncated
    assert env.actions == [ACTIONS[name] for name in names[:3]]


def test_an_observation_that_cannot_be_made_truncates_a_step(make_env: MakeEnv) -> None:
    env = make_env(observation_space="unavailable", action_space="Behaviours")
    assert env.reset()[0] == 7.0
    observation, _, _, truncated, info = env.step(ACTIONS["negate"])
    assert (observation, truncated) == (0, True)
    assert isinstance(info["error"], ObservationError)


def test_an_observation_that_cannot_be_made_is_raised_when_requested(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours")
    env.reset()
    env.step(ACTIONS["negate"])
    with pytest.raises(ObservationError, match="negative"):
        env.observation["unavailable"]
    assert env.observation["number"] == -7


def test_a_reward_on_error_can_be_a_fixed_number(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours")
    penalty = CostReward("penalty", cost="number", initial="number", platform_dependent=False)
    penalty.default_value, penalty.default_negates_returns = -5, False
    env.reset(reward_space=penalty)
    env.step(ACTIONS["negate"])
    assert env.step(ACTIONS["raise"])[1] == -5.0
    assert env.episode_reward == 9.0


@pytest.mark.parametrize("space", ["Behaviours", "Menu"])
@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=examples(25))
def test_a_step_in_this_process_is_the_same_with_and_without_a_request(
    space: str, seed: int
) -> None:
    """With nothing to see `step` asks the session directly; `multistep` never does."""
    calm = ("add", "double", "negate", "nothing", "end", "raise", "fill_disk")
    numbers = [ACTIONS[name] for name in calm]
    with (
        FakeEnv(action_space=space, isolation="in-process") as direct,
        FakeEnv(action_space=space, isolation="in-process") as asked,
    ):
        direct.reset()
        asked.reset()
        direct.action_space.seed(seed)
        generator = np.random.default_rng(seed)
        for _ in range(6):
            sampled = int(direct.action_space.sample())
            action = int(generator.choice(numbers)) if space == "Behaviours" else sampled
            (*one, info), (*other, other_info) = direct.step(action), asked.multistep([action])
            assert one == other
            assert {**info, "error": str(info.get("error"))} == {
                **other_info,
                "error": str(other_info.get("error")),
            }
            assert direct.actions == asked.actions
            assert direct.action_space == asked.action_space
            assert direct.in_episode == asked.in_episode
            if not direct.in_episode:
                break
            assert direct.observation["number"] == asked.observation["number"]


def test_an_interrupt_in_this_process_ends_the_session_and_the_next_episode_starts() -> None:
    with FakeEnv(isolation="in-process") as env:
        env.reset()
        env.step(0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(FakeSession, "apply_action", _interrupted)
            with pytest.raises(KeyboardInterrupt):
                env.step(0)
        *_, truncated, info = env.step(0)
        assert truncated
        assert info["error_type"] == "SessionNotFound"
        env.reset()
        assert env.observation["number"] == 7


def _interrupted(session: FakeSession, action: object) -> NoReturn:
    raise KeyboardInterrupt


def test_several_actions_stop_at_the_end_of_the_episode(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours", observation_space="number")
    env.reset()
    actions = [ACTIONS["add"], ACTIONS["end"], ACTIONS["add"], ACTIONS["add"]]
    number, _, terminated, truncated, _ = env.multistep(actions)
    assert (number, terminated, truncated) == (9, True, False)
    assert env.actions == actions[:2]


def test_no_actions_are_an_observation(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", reward_space="number")
    env.reset()
    number, reward, terminated, truncated, info = env.multistep([])
    assert (number, reward, terminated, truncated) == (7, 0.0, False, False)
    assert info["action_had_no_effect"]


def test_an_action_without_effect_is_reported(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    effects = [env.step(action)[4]["action_had_no_effect"] for action in (0, 3, 2)]
    assert effects == [False, True, False]
    assert env.multistep([3, 3])[4]["action_had_no_effect"]
    assert not env.multistep([3, 0])[4]["action_had_no_effect"]


def test_a_step_before_reset_gives_the_fix(make_env: MakeEnv) -> None:
    env = make_env()
    with pytest.raises(SessionNotFound, match=r"call reset\(\)"):
        env.step(0)


def test_the_rewards_of_an_episode_are_summed(make_env: MakeEnv) -> None:
    env = make_env(reward_space="number")
    env.reset()
    assert env.episode_reward == 0.0
    rewards = [env.step(action)[1] for action in (0, 2, 0)]
    assert rewards == [-1.0, 16.0, -1.0]
    assert env.episode_reward == 14.0
    with env.fork() as fork:
        fork.step(0)
        assert (fork.episode_reward, env.episode_reward) == (13.0, 14.0)


class Noted(CostReward):
    """Notes what it is told, and can be pickled."""

    def __init__(self, name: str = "noted") -> None:
        super().__init__(name, cost="number", initial="number", platform_dependent=False)
        self.told: list[str] = []

    def reset(self, benchmark: Any, observation_view: Any) -> None:
        super().reset(benchmark, observation_view)
        self.told.append("reset")

    def start(self, observations: Any, observation_view: Any) -> None:
        super().start(observations, observation_view)
        self.told.append("start")

    def update(self, actions: Any, observations: Any, observation_view: Any) -> float:
        self.told.append(f"update {actions}")
        return super().update(actions, observations, observation_view)


def numbers_of(env: FakeEnv) -> list[dict[str, Any]]:
    return [copy.deepcopy(reward.__dict__) for reward in env.reward.spaces.values()]


@pytest.mark.parametrize("session", ["FakeSession", "UnforkableSession"])
@pytest.mark.parametrize(
    "duplicate", [FakeEnv.fork, stand_in(lambda env: pickle.loads(pickle.dumps(env)))]
)
def test_a_replay_touches_no_reward_and_no_history(
    make_env: MakeEnv, session: str, duplicate: Callable[[FakeEnv], FakeEnv]
) -> None:
    env = make_env(
        session=f"compiler_gym.testing.fakes:{session}",
        observation_space="number",
        reward_space="number",
    )
    env.reset(reward_space=Noted())
    for action in (0, 1, 2):
        env.step(action)
    numbers, history = numbers_of(env), copy.deepcopy(env.episode.history)
    with duplicate(env) as twin:
        assert numbers_of(twin) == numbers_of(env) == numbers
        assert twin.episode.history == env.episode.history == history
        assert twin.episode.history is not env.episode.history
        assert twin.step(0)[:2] == env.step(0)[:2] == (-15, -1.0)
        assert twin.reward_space is not None
        assert twin.reward_space.__dict__ == env.reward_space.__dict__  # type: ignore[union-attr]
        twin.step(0)
        assert (len(env.actions), len(twin.actions)) == (4, 5)
        assert env.episode_reward == twin.episode_reward + 1.0  # type: ignore[operator]


def test_a_reward_gets_events_in_order(make_env: MakeEnv) -> None:
    reward = Noted()
    env = make_env(action_space="Behaviours")
    env.reset(reward_space=reward)
    env.multistep([0, 1])
    env.step(0, reward_spaces=[])
    env.step(ACTIONS["raise"])
    env.reset()
    assert reward.told == ["reset", "start", "update [0, 1]", "reset", "start"]


def test_a_fork_before_the_start_starts_both_with_the_choices(make_env: MakeEnv) -> None:
    env = make_env(observation_space="digits", reward_space="number")
    env.benchmark = "benchmark://fake-v0/3"
    with env.fork() as fork:
        for each in (env, fork):
            assert (each.in_episode, each.actions, each.episode_reward) == (True, [], 0.0)
            assert each.benchmark == "benchmark://fake-v0/3"
        assert fork.reset()[0] == env.reset()[0] == "3"


def test_a_fork_of_an_ended_episode_can_start_again(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours", observation_space="number")
    env.reset(benchmark="benchmark://fake-v0/3")
    env.step(ACTIONS["end"])
    with env.fork() as fork, pickle.loads(pickle.dumps(env)) as far:
        for twin in (fork, far):
            with pytest.raises(SessionNotFound, match="the episode has ended"):
                twin.step(0)
            assert twin.reset()[0] == 3


def test_the_program_of_an_ended_episode_can_be_looked_at(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours", observation_space="number", reward_space="number")
    env.reset(benchmark="benchmark://fake-v0/3")
    last, _, terminated, _, _ = env.step(ACTIONS["end"])
    assert terminated
    assert not env.in_episode
    with env.fork() as fork, pickle.loads(pickle.dumps(env)) as far:
        for one in (env, fork, far):
            assert one.observation["number"] == last
            assert one.multistep([])[0] == last
            with pytest.raises(SessionNotFound, match="the episode has ended"):
                one.multistep([0])
            assert one.state == env.state
            assert one.actions == [ACTIONS["end"]]
    env.close()
    with pytest.raises(SessionNotFound, match="no episode is running"):
        env.observation["number"]


def test_a_program_that_failed_cannot_be_looked_at(make_env: MakeEnv) -> None:
    env = make_env(action_space="Behaviours", observation_space="number")
    env.reset(benchmark="benchmark://fake-v0/3")
    *_, truncated, _ = env.step(ACTIONS["raise"])
    assert truncated
    with pytest.raises(SessionNotFound, match="the episode has ended"):
        env.observation["number"]


def test_a_snapshot_is_where_it_was_taken(make_env: MakeEnv) -> None:
    env = make_env(observation_space="number", reward_space="number")
    env.reset()
    env.step(0)
    snapshot = env.episode.snapshot()
    env.step(1)
    assert snapshot.history is not None
    assert (snapshot.history.actions, snapshot.history.reward) == ([0], -1.0)
    other = make_env()
    other.episode.restore(pickle.loads(pickle.dumps(snapshot)))
    assert (other.actions, other.episode_reward) == ([0], -1.0)
    assert other.step(1)[0] == 16


def test_a_restore_keeps_rewards_that_are_in_use_and_no_others(make_env: MakeEnv) -> None:
    env = make_env()
    env.reward.add_space(Noted("unused"))
    for chosen in (Noted(), ["noted", "number"], "noted"):
        env.reset(reward_space=chosen)
        env.step(0)
        snapshot = pickle.loads(pickle.dumps(env.episode.snapshot()))
        other = make_env()
        other.episode.restore(snapshot)
        assert set(other.reward) == {"number", "noted"}
        assert other.episode.selection.rewards.names == snapshot.reward_space
        assert other.reward.spec("noted").__dict__ == env.reward.spec("noted").__dict__
        assert other.step(1)[1] == env.step(1)[1]


def test_a_restore_with_an_unknown_space_says_so_before_anything_is_asked(
    make_env: MakeEnv,
) -> None:
    env = make_env()
    env.observation.add_derived_space("added", "number")
    env.reset(observation_space="added")
    other = make_env()
    with pytest.raises(UnknownNameError, match="no observation space 'added'"):
        other.episode.restore(env.episode.snapshot())
    assert other.episode.connection is None
    assert not other.in_episode


def test_a_replay_that_cannot_start_reports_it(make_env: MakeEnv) -> None:
    env = make_env(isolation="in-process")
    env.reset()
    snapshot = env.episode.snapshot()
    broken = replace(snapshot, program=Benchmark("benchmark://fake-v0/x", b"no number"))
    other = make_env()
    with pytest.raises(BenchmarkInitError, match="is not a number"):
        other.episode.restore(broken)


@given(
    st.lists(st.sampled_from(["add", "double", "negate", "nothing", "raise", "end"]), max_size=6),
    st.integers(1, 3),
)
@settings(max_examples=examples(30))
def test_several_actions_at_once_are_those_one_by_one(names: list[str], size: int) -> None:
    arguments = {"action_space": "Behaviours", "isolation": "in-process"}
    chosen: dict[str, Any] = {
        "observation_space": "number",
        "reward_space": "number",
        **arguments,
    }
    with FakeEnv(**chosen) as one_by_one, FakeEnv(**chosen) as at_once:
        one_by_one.reset()
        at_once.reset()
        actions = [ACTIONS[name] for name in names]
        for start in range(0, len(actions), size):
            some = actions[start : start + size]
            if not at_once.in_episode:
                break
            seen, _, *ends, _ = at_once.multistep(some)
            expected, expected_ends = None, list[bool]()
            for action in some:
                expected, _, *expected_ends, _ = one_by_one.step(action)
                if not one_by_one.in_episode:
                    break
            assert (seen, ends) == (expected, expected_ends)
            assert at_once.actions == one_by_one.actions
            assert at_once.episode_reward == one_by_one.episode_reward


def test_a_worker_lost_between_steps_ends_the_episode_at_the_next_call() -> None:
    def ask(env: FakeEnv) -> Any:
        return env.observation["digits"]

    def fork(env: FakeEnv) -> Any:
        return env.fork()

    def tell(env: FakeEnv) -> Any:
        return env.send_param("fake.add", "1")

    for act in (ask, fork, tell):
        with FakeEnv(observation_space="number", reward_space="number") as env:
            env.reset()
            env.step(0)
            worker = worker_pid(env)
            assert worker is not None
            os.kill(worker, signal.SIGKILL)
            with pytest.raises(WorkerCrashedError, match=r"SIGKILL|killed"):
                act(env)
            *_, truncated, info = env.step(0)
            assert (truncated, info["error_type"]) == (True, "ServiceIsClosed")
            assert (env.actions, env.reset()[0]) == ([0, 0], 7)


def test_a_close_in_another_thread_ends_what_is_waited_for() -> None:
    with FakeEnv(action_space="Behaviours", observation_space="number") as env:
        env.reset()
        raised: list[BaseException] = []

        def hang() -> None:
            try:
                env.step(ACTIONS["hang"])
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=hang)
        thread.start()
        assert wait_until(lambda: env.actions == [ACTIONS["hang"]])
        worker = worker_pid(env)
        env.close()
        env.close()
        thread.join(120)
        assert [type(error) for error in raised] == [ServiceIsClosed]
        assert worker is not None
        assert wait_until(lambda: not is_running(worker))
        assert env.reset()[0] == 7


def test_a_collected_episode_closes_its_session() -> None:
    env = FakeEnv()
    env.reset()
    worker = worker_pid(env)
    assert worker is not None
    env.step(0)
    del env
    gc.collect()
    assert wait_until(lambda: not is_running(worker))


def test_a_command_line_that_cannot_be_written_leaves_no_reproducer(make_env: MakeEnv) -> None:
    env = make_env(action_space="Composite")
    env.reset()
    env.action_space.seed(1)
    env.step(env.action_space.sample())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(env.episode, "_commandline", _refused)
        info = env.episode.fail(SessionError("no more"), env.episode.selection.plan)[4]
    assert info["reproducer"] is None
    assert info["error"].reproducer is None


def _refused() -> NoReturn:
    raise InvalidActionError("nobody can write it")


def test_a_failure_after_a_close_is_raised(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    env.close()
    with pytest.raises(SessionError, match="too late"):
        env.episode.fail(SessionError("too late"), env.episode.selection.plan)
