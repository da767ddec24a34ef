# SPDX-License-Identifier: MIT
"""A session is opened, catches up and is copied late, and nobody can tell."""

import copy
import gc
import os
import pickle
import signal
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.errors import (
    EnvironmentNotSupported,
    ServiceIsClosed,
    WorkerCrashedError,
    WorkerTimeoutError,
)
from compiler_gym.service import (
    Connection,
    Limits,
    LocalConnection,
    SessionSource,
    WorkerConnection,
)
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.service.caching.lazy_session import LazySession, Work
from compiler_gym.service.messages import Failed, Parameter, Start, Step, Stepped
from compiler_gym.session import BenchmarkSpec
from compiler_gym.testing import FakeEnv, is_running, wait_until
from compiler_gym.testing.fakes import BEHAVIOURS
from tests.effort import examples
from tests.service.caching.conftest import session_of


def test_a_fork_of_a_lazy_episode_is_exact(cache: TranspositionCache) -> None:
    with FakeEnv(observation_space="number", cache=cache) as env:
        for _ in range(2):
            env.reset(benchmark="benchmark://fake-v0/7")
            env.multistep([0, 0])
        with env.fork() as fork, copy.deepcopy(env) as twin, pickle.loads(pickle.dumps(env)) as far:
            for other in (fork, twin, far):
                assert other.step(1)[0] == 18
        assert env.step(2)[0] == -9


def test_a_fork_copies_the_session_when_it_must_and_not_before(cache: TranspositionCache) -> None:
    with FakeEnv(observation_space="number", cache=cache) as env:
        env.reset(benchmark="benchmark://fake-v0/7")
        env.step(0)
        was_needed: list[bool] = []
        for _ in range(3):
            with env.fork() as fork:
                assert session_of(fork) is None
                assert fork.step(1)[0] == 16
                was_needed.append(session_of(fork) is not None)
        assert was_needed == [True, False, False]
        waiting, asking = env.fork(), env.fork()
        with waiting, asking:
            assert asking.step(2)[0] == -8
            assert session_of(asking).pid != session_of(env).pid
            assert session_of(waiting) is None
            assert env.step(0)[0] == 9
            assert session_of(waiting) is not None
            with waiting.fork() as grandchild:
                waiting.close()
                assert grandchild.step(0)[0] == 9
                assert grandchild.step(0)[0] == 10


def test_a_fork_outlives_what_it_would_have_copied(cache: TranspositionCache) -> None:
    for number, end in enumerate(("close", "reset", "crash"), start=5):
        with FakeEnv(observation_space="number", cache=cache) as env:
            env.reset(benchmark=f"benchmark://fake-v0/{number}")
            env.step(0)
            with env.fork() as fork:
                if end == "crash":
                    os.kill(session_of(env).pid, signal.SIGKILL)
                else:
                    getattr(env, end)()
                assert fork.observation["digits"] == str(number + 1)
                assert fork.multistep([1, 0])[0] == 2 * number + 3


def test_dropped_forks_may_be_collected_while_another_is_made(
    monkeypatch: pytest.MonkeyPatch, cache: TranspositionCache
) -> None:
    copy_of = LazySession.fork_parent

    def collecting(self: LazySession, parent: LazySession) -> None:
        gc.collect()  # what is allocated here may start it at any time
        copy_of(self, parent)

    monkeypatch.setattr(LazySession, "fork_parent", collecting)
    with FakeEnv(benchmark="benchmark://fake-v0/7", cache=cache) as env:
        env.reset()
        env.step(0)
        dropped, kept = env.fork(), env.fork()
        gc.disable()
        try:
            del dropped
            with kept:
                kept.step(1)
                assert kept.observation["number"] == 16
            env.step(2)
        finally:
            gc.enable()
        assert env.observation["number"] == -8


START = Start(BenchmarkSpec("benchmark://fake-v0/7", b"7"), "Behaviours", [], {})
ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}
ADD, DOUBLE, NEGATE = ACTIONS["add"], ACTIONS["double"], ACTIONS["negate"]
FAKE = "compiler_gym.testing.fakes:FakeSession"
LOST = (WorkerCrashedError, ServiceIsClosed)
"""What is raised where a session was lost: the second if a fork found it first."""
UNFORKABLE = "compiler_gym.testing.fakes:UnforkableSession"


class Family:
    """Lazy sessions of one source; it counts how many sessions were opened."""

    def __init__(self, session: str = FAKE) -> None:
        self._source = SessionSource(session)
        self._members: list[LazySession] = []
        self.opened = 0

    def first(self) -> LazySession:
        """Return a lazy session in an episode that nothing has needed yet."""
        lazy = self.member(LazySession(self._open))
        lazy.enter(START)
        return lazy

    def member(self, lazy: LazySession | None) -> LazySession:
        """Take `lazy` in, to be closed at the end."""
        assert lazy is not None
        self._members.append(lazy)
        return lazy

    def fork(self, lazy: LazySession) -> LazySession:
        """Return a fork of `lazy`."""
        return self.member(lazy.fork())

    def close(self) -> None:
        """End every session."""
        for lazy in self._members:
            lazy.close()

    def _open(self) -> Connection:
        self.opened += 1
        return WorkerConnection.open(self._source, Limits(step_seconds=60.0))


@pytest.fixture(params=[FAKE, UNFORKABLE])
def family(request: pytest.FixtureRequest) -> Iterator[Family]:
    """Give families of sessions that are copied with their process, and of others."""
    made = Family(request.param)
    yield made
    made.close()


@pytest.fixture
def forkable() -> Iterator[Family]:
    made = Family()
    yield made
    made.close()


def working(lazy: LazySession, *actions: int, names: tuple[str, ...] = ("number",)) -> Work:
    """Catch up, then apply actions that are noted, as a connection does."""
    while (before := lazy.catch_up()) is not None:
        reply = yield before
        if isinstance(reply, Failed):
            return reply
    if actions:
        lazy.note(list(actions))
    return (yield Step(list(actions), list(names)))


def number(lazy: LazySession, *actions: int) -> int:
    """Return the number of the session after `actions`."""
    lazy.begin(working(lazy, *actions), None, later=False)
    reply = lazy.end(None)
    assert isinstance(reply, Stepped), reply
    return reply.observations[0]


def pid_of(lazy: LazySession) -> int:
    connection = lazy.connection
    assert isinstance(connection, WorkerConnection)
    return connection.pid


def lose(lazy: LazySession) -> None:
    """End the process of the session."""
    pid = pid_of(lazy)
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: not is_running(pid))


def test_nothing_is_opened_before_it_is_needed(family: Family) -> None:
    lazy = family.first()
    lazy.spare(ADD)
    lazy.spare(DOUBLE)
    assert (lazy.connection, lazy.is_open, family.opened) == (None, True, 0)
    assert (lazy.channel, lazy.fileno(), lazy.advance(), lazy.end(None)) == (None, None, True, None)
    assert number(lazy) == 16
    assert (lazy.waiting, family.opened) == ([], 1)


def test_catching_up_is_a_start_and_one_step() -> None:
    lazy = Family().first()
    lazy.spare(ADD)
    lazy.spare(ADD)
    assert lazy.catch_up() == START
    assert lazy.catch_up() == Step([ADD, ADD], [])
    assert lazy.catch_up() is None


def test_a_start_may_observe_and_waits_no_more() -> None:
    lazy = Family().first()
    assert lazy.starting(["number"]) == Start(START.benchmark, "Behaviours", ["number"], {})
    assert lazy.catch_up() is None


def test_a_new_episode_forgets_what_waits(family: Family) -> None:
    lazy = family.first()
    lazy.spare(ADD)
    lazy.enter(START)
    assert number(lazy) == 7


def test_a_fork_of_an_unopened_session_opens_its_own(family: Family) -> None:
    lazy = family.first()
    lazy.spare(ADD)
    fork = family.fork(lazy)
    fork.spare(DOUBLE)
    assert number(lazy, NEGATE) == -8
    assert number(fork) == 16
    assert family.opened == 2


def test_a_parent_that_goes_on_is_copied_first(family: Family) -> None:
    lazy = family.first()
    assert number(lazy, ADD) == 8
    forks = [family.fork(lazy) for _ in range(3)]
    assert all(fork.connection is None for fork in forks)
    assert number(lazy, NEGATE) == -8
    assert [number(fork, ADD) for fork in forks] == [9] * 3
    assert number(lazy) == -8
    assert len({pid_of(member) for member in (lazy, *forks)}) == 4


def test_an_unused_fork_needs_no_session(forkable: Family) -> None:
    lazy = forkable.first()
    number(lazy, ADD)
    asleep, awake = forkable.fork(lazy), forkable.fork(lazy)
    assert number(awake, ADD) == 9
    assert asleep.connection is None
    asleep.close()
    assert number(lazy, ADD) == 9
    assert (asleep.connection, forkable.opened) == (None, 1)


@pytest.mark.parametrize("end", [LazySession.close, LazySession.abandon])
def test_a_parent_that_closes_leaves_its_forks_what_they_need(
    family: Family, end: Callable[[LazySession], None]
) -> None:
    lazy = family.first()
    number(lazy, ADD)
    fork = family.fork(lazy)
    grandchild = family.fork(fork)
    parent = pid_of(lazy)
    end(lazy)
    end(lazy)
    assert not lazy.is_open
    assert wait_until(lambda: not is_running(parent))
    assert number(fork, DOUBLE) == 16
    assert number(grandchild, ADD) == 9


def test_a_parent_that_begins_again_leaves_its_forks_what_they_need(family: Family) -> None:
    lazy = family.first()
    number(lazy, ADD)
    fork = family.fork(lazy)
    lazy.enter(START)
    assert number(lazy) == 7
    assert number(fork) == 8


def test_a_fork_that_begins_again_needs_no_copy(forkable: Family) -> None:
    lazy = forkable.first()
    number(lazy, ADD)
    fork = forkable.fork(lazy)
    fork.enter(START)
    assert number(lazy, ADD) == 9
    assert fork.connection is None
    assert number(fork) == 7
    assert forkable.opened == 2


@pytest.mark.parametrize("asks", ["parent", "fork"])
def test_a_fork_of_a_session_that_was_lost_is_replayed(family: Family, asks: str) -> None:
    lazy = family.first()
    number(lazy, ADD, DOUBLE)
    fork = family.fork(lazy)
    lose(lazy)
    if asks == "parent":
        with pytest.raises(LOST, match=r"SIGKILL|the session is closed"):
            number(lazy)
        assert not lazy.is_open
    assert number(fork, ADD) == 17
    assert fork.is_open
    assert family.opened == 2


def test_a_family_of_forks_is_exact_in_any_order(family: Family) -> None:
    lazy = family.first()
    number(lazy, ADD)
    child = family.fork(lazy)
    grandchild = family.fork(child)
    assert number(grandchild, DOUBLE) == 16
    assert number(child, NEGATE) == -8
    assert number(lazy, ADD) == 9
    late = family.fork(grandchild)
    assert number(grandchild, ADD) == 17
    assert number(late) == 16


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["ask", "spare", "fork", "lose", "close", "begin"]),
            st.integers(0, 4),
            st.sampled_from([ADD, DOUBLE, NEGATE]),
        ),
        max_size=10,
    ),
    st.sampled_from([FAKE, UNFORKABLE]),
)
@settings(max_examples=examples(25))
def test_each_fork_of_a_family_has_its_own_number(
    events: list[tuple[str, int, int]], session: str
) -> None:
    effects: dict[int, Callable[[int], int]] = {
        ADD: lambda n: n + 1,
        DOUBLE: lambda n: 2 * n % 2**20,
        NEGATE: lambda n: -n,
    }
    family = Family(session)
    try:
        members, expected = [family.first()], [7]
        for event, at, action in events:
            at %= len(members)
            lazy = members[at]
            if event == "ask":
                expected[at] = effects[action](expected[at])
                assert number(lazy, action) == expected[at]
            elif event == "spare":
                expected[at] = effects[action](expected[at])
                lazy.spare(action)
            elif event == "fork":
                members.append(family.fork(lazy))
                expected.append(expected[at])
            elif event == "begin":
                lazy.enter(START)
                expected[at] = 7
            elif len(members) > 1:
                if event == "lose" and lazy.connection is not None:
                    lose(lazy)
                lazy.close()
                del members[at], expected[at]
        assert [number(lazy) for lazy in members] == expected
    finally:
        family.close()


def test_actions_that_wait_are_applied_once_for_all_forks(forkable: Family) -> None:
    lazy = forkable.first()
    number(lazy)
    lazy.spare(ADD)
    first = forkable.fork(lazy)
    assert (lazy.waiting, first.waiting) == ([ADD], [ADD])
    second = forkable.fork(lazy)
    assert (lazy.waiting, second.waiting) == ([], [])
    assert number(second) == number(lazy) == number(first) == 8


def test_a_session_that_is_lost_before_it_catches_up_for_a_fork_reports_it(
    forkable: Family,
) -> None:
    lazy = forkable.first()
    number(lazy)
    lazy.spare(ADD)
    kept = forkable.fork(lazy)
    lose(lazy)
    with pytest.raises(LOST, match=r"SIGKILL|the session is closed"):
        lazy.fork()
    assert not lazy.is_open
    assert number(kept) == 8


def test_after_a_change_without_history_a_copy_is_a_fork_at_once(forkable: Family) -> None:
    lazy = forkable.first()
    number(lazy, ADD)
    assert lazy.connection is not None
    lazy.connection.call(Parameter("fake.add", "5"))
    lazy.forget_history()
    fork = forkable.fork(lazy)
    assert fork.connection is not None
    assert number(lazy, ADD) == 14
    assert number(fork) == 13
    assert forkable.opened == 1


def test_state_that_cannot_be_copied_is_reported() -> None:
    family = Family(UNFORKABLE)
    try:
        lazy = family.first()
        number(lazy, ADD)
        lazy.forget_history()
        assert lazy.fork() is None
    finally:
        family.close()


def test_a_closed_session_takes_no_work(family: Family) -> None:
    lazy = family.first()
    number(lazy)
    lazy.close()
    with pytest.raises(ServiceIsClosed, match=r"the session is closed: call reset\(\)"):
        lazy.require_open()
    with pytest.raises(ServiceIsClosed, match=r"the session is closed: call reset\(\)"):
        number(lazy)


def test_a_failed_opening_is_raised_at_the_end_and_can_be_retried() -> None:
    is_there = [False]

    def open_one() -> Connection:
        if not is_there[0]:
            raise EnvironmentNotSupported("no worker today")
        return LocalConnection(SessionSource(FAKE))

    lazy = LazySession(open_one)
    lazy.enter(START)
    lazy.begin(working(lazy), None, later=False)
    assert lazy.advance(), "what fails is for the end"
    with pytest.raises(EnvironmentNotSupported, match="no worker today"):
        lazy.end(None)
    is_there[0] = True
    assert number(lazy) == 7, "its start was not taken for made"
    lazy.close()


def test_work_that_was_left_ends_the_session(forkable: Family) -> None:
    lazy = forkable.first()
    lazy.refuse_if_interrupted()
    number(lazy)
    lazy.refuse_if_interrupted()
    lazy.begin(working(lazy, ADD), None, later=False)
    with pytest.raises(ServiceIsClosed, match="the last request was interrupted"):
        lazy.refuse_if_interrupted()
    assert not lazy.is_open


def test_all_requests_of_some_work_share_its_time(forkable: Family) -> None:
    lazy = forkable.first()
    number(lazy)
    lazy.spare(ADD)
    lazy.begin(working(lazy, ACTIONS["hang"]), 0.3, later=False)
    with pytest.raises(WorkerTimeoutError, match="deadline"):
        lazy.end(None)
    assert not lazy.is_open


def test_a_request_is_held_if_it_may_be_later(forkable: Family) -> None:
    lazy = forkable.first()
    lazy.begin(working(lazy, ADD), None, later=True)
    channel = lazy.channel
    assert channel is not None
    assert channel.is_held
    assert channel.awaits is False
    reply = lazy.end(None)
    assert isinstance(reply, Stepped)
    assert (reply.observations, lazy.channel) == ([8], None)
