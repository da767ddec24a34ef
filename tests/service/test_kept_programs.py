# SPDX-License-Identifier: MIT
"""A program that is opened often stays loaded: resets are copies, which only time tells."""

import gc
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.errors import ObservationError, WorkerDied, WorkerOutOfMemoryError
from compiler_gym.service import Limits, kept_programs
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.service.kept_programs import KeptPrograms, make_key
from compiler_gym.service.messages import Start
from compiler_gym.service.supervisor import zygote_for
from compiler_gym.session import BenchmarkSpec
from compiler_gym.testing import FakeEnv, descendants, is_running, wait_until, worker_files
from compiler_gym.testing import worker_pid as pid_of
from compiler_gym.vector import CompilerVectorEnv
from service.workers import ACTIONS, FAKE, client, pids_from
from tests.effort import examples

MakeEnv = Callable[..., FakeEnv]
SLOW = "benchmark://fake-v0/7?start=work"
"""It takes 0.1 s of processor time to open."""


@pytest.fixture(autouse=True)
def nothing_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with nothing kept: other tests may have environments that nobody collected."""
    programs().clear()
    assert wait_until(lambda: not programs().workers)


def programs() -> KeptPrograms[Any]:
    return zygote_for(FAKE).programs


def stay(seconds: float = 10.0) -> list[int]:
    """Wait until a copy of every program is ready; return the processes that stay."""
    assert all(worker.is_forked(seconds) for worker in programs().workers)
    return [worker.pid for worker in programs().workers]


def opened_twice(env: FakeEnv, uri: str = SLOW) -> int:
    """Open a program so often that it is kept; return the process that keeps it."""
    for _ in range(2):
        assert env.reset(benchmark=uri)[0] == 7
    return stay()[-1]


def test_the_third_reset_is_a_copy_of_a_process_that_stays(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset(benchmark=SLOW)
    assert not programs().workers
    env.reset()
    (kept,) = stay()
    for _ in range(3):
        before = pid_of(env)
        assert before is not None
        env.step(ACTIONS["double"])
        stay()
        assert env.reset()[0] == 7
        assert pid_of(env) not in (before, kept)
        assert wait_until(lambda pid=before: not is_running(pid))
    assert stay() == [kept]
    assert env.step(ACTIONS["add"])[0] == 8


def test_a_program_that_opens_quickly_is_not_kept(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset()
    first = pid_of(env)
    for _ in range(5):
        env.reset()
    if programs().workers:
        pytest.skip("this machine is so busy that nothing is quick")
    assert pid_of(env) == first


def test_after_a_long_episode_a_program_is_opened_again(make_env: MakeEnv) -> None:
    env = make_env()
    kept = opened_twice(env)
    assert env.reset()[0] == 7
    copy = pid_of(env)
    env.multistep([ACTIONS["work"]] * 4)  # its copy took more page faults than it saved
    assert env.reset()[0] == 7
    assert pid_of(env) == copy
    assert env.reset()[0] == 7
    assert pid_of(env) != copy
    assert stay() == [kept]


def test_a_program_of_long_episodes_only_is_not_kept(make_env: MakeEnv) -> None:
    env = make_env()
    for _ in range(3):
        env.reset(benchmark=SLOW)
        env.multistep([ACTIONS["work"]] * 4)
        assert not programs().workers


def test_environments_share_what_is_kept_and_the_last_takes_it_along(make_env: MakeEnv) -> None:
    one, other = make_env(), make_env()
    kept = opened_twice(one)
    assert other.reset(benchmark=SLOW)[0] == 7
    other.step(ACTIONS["add"])
    assert one.step(ACTIONS["double"])[0] == 14
    assert stay() == [kept]
    fork = one.fork()
    one.close()
    other.close()
    assert is_running(kept)
    assert fork.step(ACTIONS["add"])[0] == 15
    fork.close()
    assert wait_until(lambda: not is_running(kept))
    assert wait_until(lambda: not worker_files())


def test_a_collected_environment_ends_its_kept_programs(make_env: MakeEnv) -> None:
    env: FakeEnv | None = FakeEnv(observation_space="number", action_space="Behaviours")
    kept = opened_twice(env)
    del env
    gc.collect()
    assert wait_until(lambda: not is_running(kept))


@pytest.mark.parametrize("behaviour", ["segfault", "hang"])
def test_a_crash_in_a_copy_leaves_what_it_is_a_copy_of(make_env: MakeEnv, behaviour: str) -> None:
    env = make_env()
    kept = opened_twice(env)
    env.reset()
    *_, truncated, info = env.step(ACTIONS[behaviour], timeout=0.3)
    assert truncated
    assert isinstance(info["error"], WorkerDied)
    assert env.reset()[0] == 7
    assert stay() == [kept]


def test_memory_is_limited_in_a_copy_too(make_env: MakeEnv) -> None:
    env = make_env(limits=Limits(memory_bytes=256 << 20))
    opened_twice(env)
    env.reset()
    *_, info = env.step(ACTIONS["exhaust_memory"])
    assert isinstance(info["error"], WorkerOutOfMemoryError)
    assert env.reset()[0] == 7


def test_a_process_that_was_killed_is_made_again(make_env: MakeEnv) -> None:
    env = make_env()
    kept = opened_twice(env)
    os.kill(kept, signal.SIGKILL)
    assert wait_until(lambda: not is_running(kept))
    for _ in range(4):
        assert env.reset()[0] == 7
        assert env.step(ACTIONS["add"])[0] == 8
    (again,) = stay()
    assert again != kept


def test_a_copy_that_was_killed_is_opened_instead(make_env: MakeEnv) -> None:
    env = make_env()
    kept = opened_twice(env)
    (zygote,) = (pid for pid in descendants(os.getpid()) if kept in descendants(pid))
    (copy,) = (pid for pid in descendants(zygote) if pid > kept and pid != pid_of(env))
    os.kill(copy, signal.SIGKILL)
    before = pid_of(env)
    assert env.reset()[0] == 7
    assert pid_of(env) == before  # the worker that the copy was to replace
    assert env.step(ACTIONS["add"])[0] == 8
    assert env.reset()[0] == 7


def test_a_start_that_fails_in_a_copy_is_an_ordinary_error(make_env: MakeEnv) -> None:
    env = make_env(observation_space=None)
    env.reset(benchmark="benchmark://fake-v0/-7?start=work")
    env.reset()
    stay()
    for _ in range(2):
        with pytest.raises(ObservationError, match="negative"):
            env.reset(observation_space="unavailable")
        stay()
        assert env.reset(observation_space="number")[0] == -7


def test_the_programs_used_longest_ago_make_room(make_env: MakeEnv) -> None:
    env = make_env(limits=Limits(kept_programs=2))
    first, second, third = (
        opened_twice(env, f"benchmark://fake-v0/7?start=work&number={number}")
        for number in range(3)
    )
    assert stay() == [second, third]
    assert wait_until(lambda: not is_running(first))
    env.reset(benchmark="benchmark://fake-v0/7?start=work&number=1")
    assert stay() == [third, second]


@pytest.mark.parametrize("limits", [Limits(kept_programs=0), Limits(kept_bytes=1 << 20)])
def test_nothing_is_kept_beyond_the_limits(make_env: MakeEnv, limits: Limits) -> None:
    env = make_env(limits=limits)
    for _ in range(4):
        env.reset(benchmark=SLOW)
    assert not programs().workers


def test_programs_that_come_in_a_circle_are_not_kept(make_env: MakeEnv) -> None:
    env = make_env(limits=Limits(kept_programs=2))
    for _ in range(3):
        for number in range(3):
            env.reset(benchmark=f"benchmark://fake-v0/7?start=work&number={number}")
    assert not programs().workers


def test_parameters_distinguish_kept_programs(make_env: MakeEnv) -> None:
    def start(**changes: Any) -> Start:
        spec: dict[str, Any] = {
            "uri": "benchmark://a-v0/1",
            "contents": b"7",
            "parameters": {},
            "run": b"",
        }
        said: dict[str, Any] = {"action_space": "Safe", "limits": {"growth": 1.0}, **changes}
        benchmark = BenchmarkSpec(**{key: said.pop(key, value) for key, value in spec.items()})
        return Start(benchmark, said["action_space"], said.get("observe", []), said["limits"])

    usual = make_key(start(), 1)
    assert make_key(start(observe=["number"]), 1) == usual
    others = [
        make_key(start(), 2),
        *(
            make_key(start(**change), 1)
            for change in (
                {"uri": "benchmark://a-v0/2"},
                {"contents": b"8"},
                {"parameters": {"goal": "speed"}},
                {"run": b"x"},
                {"action_space": "Menu"},
                {"limits": {"growth": 2.0}},
            )
        ),
    ]
    assert len({usual, *others}) == 1 + len(others)


def test_two_environments_with_other_actions_do_not_mix(make_env: MakeEnv) -> None:
    one, other = make_env(), make_env(action_space="Menu")
    for _ in range(4):
        assert one.reset(benchmark=SLOW)[0] == other.reset(benchmark=SLOW)[0] == 7
        stay()
    assert len(stay()) == 2
    assert one.step(ACTIONS["double"])[0] == 14
    assert other.step(3)[0] == 11
    assert other.action_space.n == 3


def test_an_initial_action_space_is_that_of_the_copy_too(make_env: MakeEnv) -> None:
    env = make_env(action_space="Menu")
    for _ in range(4):
        env.reset(benchmark="benchmark://fake-v0/7?start=work&menu=2")
        stay()
        assert env.action_space.n == 2
        env.step(0)


def test_parameters_and_what_varies_are_of_each_copy(make_env: MakeEnv) -> None:
    env = make_env(observation_space=["clock", "process", "number"])
    opened = [env.reset(benchmark=SLOW)[0]]
    for _ in range(4):
        stay() if programs().workers else None
        opened.append(env.reset()[0])
        assert env.send_param("fake.add", "5") == "12"
        assert env.observation["number"] == 12
    assert [seen["number"] for seen in opened] == [7] * 5
    assert len({seen["clock"] for seen in opened}) == 5
    assert opened[-1]["process"] == pid_of(env) != opened[-2]["process"]


def test_files_of_a_start_are_copied_and_removed(make_env: MakeEnv) -> None:
    env = make_env(observation_space="file")
    seen: list[Path] = []
    for _ in range(4):
        path, _ = env.reset(benchmark=SLOW)
        seen.append(Path(path))
        assert seen[-1].read_text() == "7"
        stay()
        env.step(ACTIONS["write_file"])
    assert len(set(seen)) > 1
    assert seen[-1].exists()
    env.close()
    assert wait_until(lambda: not worker_files()), worker_files()


def test_nothing_grows_over_many_resets(make_env: MakeEnv) -> None:
    env = make_env()
    opened_twice(env)
    stay()
    processes, files = len(descendants(os.getpid())), len(os.listdir("/proc/self/fd"))
    for _ in range(40):
        env.reset()
        env.step(ACTIONS["add"])
    stay()
    assert wait_until(lambda: len(descendants(os.getpid())) <= processes)
    assert len(os.listdir("/proc/self/fd")) <= files


def test_rows_of_a_vector_share_one() -> None:
    def row() -> FakeEnv:
        return FakeEnv(
            observation_space="packed",
            reward_space="number",
            action_space="Behaviours",
            benchmark=SLOW,
        )

    with CompilerVectorEnv([row] * 3) as vector:
        for _ in range(3):
            vector.reset()
            stay()
            for names in (["add", "double", "nothing"], ["nothing", "add", "add"]):
                seen, *_ = vector.step([ACTIONS[name] for name in names])
            assert seen[:, 0].tolist() == [8, 15, 8]
        assert len(stay()) == 1
        workers = {pid_of(env) for env in vector.envs}
        vector.envs[1].reset()  # a row's worker is replaced between two steps of all
        assert {pid_of(env) for env in vector.envs} != workers
        seen, *_ = vector.step([ACTIONS["add"]] * 3)
        assert seen[:, 0].tolist() == [9, 8, 9]


def test_a_cache_asks_for_copies_too(make_env: MakeEnv) -> None:
    class Hashed(FakeEnv):
        state_observation = "number"

    with Hashed(
        observation_space="number", action_space="Behaviours", cache=TranspositionCache()
    ) as env:
        for number in range(6):
            env.reset(benchmark=SLOW)
            for _ in range(number):
                env.step(ACTIONS["add"])
            stay()
            assert env.observation["number"] == 7 + number
            assert env.send_param("fake.add", "1") == str(8 + number)
        assert stay()


def test_a_killed_client_leaves_no_program_behind() -> None:
    code = f"""
env = make()
for _ in range(4): env.reset(benchmark={SLOW!r})
env.step(ACTIONS["write_file"])
wait_until(lambda: len(descendants(os.getpid())) >= 4)
say(); time.sleep(600)
"""
    with client(code) as program:
        pids = pids_from(program)
        assert len(pids) >= 4  # the zygote, the worker, what stays, its copy
        program.kill()
    assert wait_until(lambda: not any(map(is_running, pids)))
    assert wait_until(lambda: not worker_files(program.pid))


def test_a_forked_client_keeps_its_own_programs() -> None:
    code = f"""
env = make()
for _ in range(3): env.reset(benchmark={SLOW!r})
child = os.fork()
if child == 0:
    for _ in range(4): env.reset(benchmark={SLOW!r})
    print(env.step(ACTIONS["add"])[0], flush=True)
    os._exit(0)
os.waitpid(child, 0)
env.reset()
print(env.step(ACTIONS["double"])[0], flush=True)
"""
    with client(code) as program:
        assert pids_from(program) == [8]
        assert pids_from(program) == [14]
        assert program.wait(120) == 0


ORDERS = st.lists(
    st.one_of(
        st.tuples(st.just("reset"), st.integers(0, 2)),
        st.tuples(st.just("step"), st.sampled_from(["add", "double", "negate", "nothing"])),
        st.tuples(st.just("fork"), st.just(None)),
        st.tuples(st.just("kill"), st.sampled_from(["worker", "kept"])),
        st.tuples(st.just("wait"), st.just(None)),
    ),
    max_size=25,
)


@settings(max_examples=examples(15))
@given(order=ORDERS)
def test_in_any_order_a_program_is_as_if_it_had_been_opened(
    monkeypatch: pytest.MonkeyPatch, order: list[tuple[str, Any]]
) -> None:
    monkeypatch.setattr(kept_programs, "_SHORT_SECONDS", 0.0)
    does: dict[str, Callable[[int], int]] = {
        "add": lambda n: n + 1,
        "double": lambda n: 2 * n % 2**20,
        "negate": lambda n: -n,
        "nothing": lambda n: n,
    }
    limits = Limits(kept_programs=2)
    with FakeEnv(observation_space="number", action_space="Behaviours", limits=limits) as env:
        number = env.reset(benchmark="benchmark://fake-v0/0")[0]
        lost = False
        for what, which in order:
            if what == "reset":
                number, lost = which, False
                assert env.reset(benchmark=f"benchmark://fake-v0/{which}")[0] == which
            elif what == "kill":
                lost = lost or which == "worker"
                victims = (
                    [pid_of(env)] if which == "worker" else [w.pid for w in programs().workers]
                )
                for victim in victims:
                    assert victim is not None
                    os.kill(victim, signal.SIGKILL) if is_running(victim) else None
                time.sleep(0.01)
            elif what == "wait":
                [worker.is_forked(5.0) for worker in programs().workers]
            elif lost:
                continue
            elif what == "step":
                number = does[which](number)
                assert env.step(ACTIONS[which])[0] == number
            else:
                with env.fork() as fork:
                    assert fork.step(ACTIONS["add"])[0] == number + 1
                    assert fork.reset()[0] == int(str(fork.benchmark).rpartition("/")[2])
                assert env.observation["number"] == number
