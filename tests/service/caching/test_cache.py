# SPDX-License-Identifier: MIT
"""What was learned is known, to every thread at once and to every process by the file."""

import copy
import gc
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym.service.caching import CacheStatistics, TranspositionCache
from compiler_gym.service.caching.states import Transition
from compiler_gym.testing import FakeEnv


def test_processes_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    for number in range(2):
        with TranspositionCache(path) as cache, FakeEnv(cache=cache) as env:
            env.reset(benchmark="benchmark://fake-v0/7")
            for action in (0, 1, 2):
                env.step(action)
            assert cache.statistics.hits == 3 * number
            twin = pickle.loads(pickle.dumps(cache))
            assert twin.path == path
            twin.close()


def transition(state: bytes, *, no_effect: bool = False, end: bool = False) -> Transition:
    return Transition(state, no_effect, end)


def chain(cache: TranspositionCache, *, end: bool = False) -> None:
    """Let action 1 lead from state 0 to 1 to 2, where the episode may end."""
    cache.learn(b"0", 1, transition(b"1"))
    cache.learn(b"1", 1, transition(b"2", end=end))
    cache.learn(b"2", 1, transition(b"3"))


def test_actions_are_followed_as_far_as_they_are_known() -> None:
    with TranspositionCache() as cache:
        chain(cache)
        for actions, known, state in (
            ([], 0, b"0"),
            ([1], 1, b"1"),
            ([1, 1, 1], 3, b"3"),
            ([1, 1, 2, 1], 2, b"2"),
            ([2, 1], 0, b"0"),
        ):
            found, reached = cache.follow(b"0", actions)
            assert (len(found), reached) == (known, state)


def test_nothing_is_followed_beyond_an_end() -> None:
    with TranspositionCache() as cache:
        chain(cache, end=True)
        found, state = cache.follow(b"0", [1, 1, 1])
        assert (len(found), found[-1].end, state) == (2, True, b"2")


def test_observations_are_known_all_or_none() -> None:
    with TranspositionCache() as cache:
        cache.learn_observations(b"0", [("a", 1), ("b", None)])
        assert cache.observe(b"0", ["b", "a", "b"]) == [None, 1, None]
        assert cache.observe(b"0", []) == []
        assert cache.observe(b"0", ["a", "c"]) is None
        assert cache.observe(b"1", ["a"]) is None


def test_the_first_stored_value_stays() -> None:
    with TranspositionCache() as cache:
        cache.learn_observations(b"0", [("a", 1)])
        cache.learn_observations(b"0", [("a", 2), ("b", 3)])
        assert cache.observe(b"0", ["a", "b"]) == [1, 3]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=9))
@settings(deadline=None)
def test_the_rate_is_the_share_of_hits(counts: list[tuple[int, int]]) -> None:
    with TranspositionCache() as cache:
        assert cache.statistics == CacheStatistics()
        for hits, misses in counts:
            cache.count(hits=hits, misses=misses)
        hits, misses = (sum(column) for column in zip((0, 0), *counts, strict=True))
        found = cache.statistics
        assert (found.hits, found.misses) == (hits, misses)
        assert found.hit_rate == (hits / (hits + misses) if hits + misses else 0.0)


def test_states_are_counted_and_bounded() -> None:
    with TranspositionCache(capacity_bytes=20_000) as cache:
        for number in range(200):
            cache.learn_observations(f"state {number}".encode(), [("text", "x" * 500)])
        assert 0 < cache.statistics.bytes <= 20_000
        assert 0 < cache.statistics.states < 200
        assert cache.observe(b"state 0", ["text"]) is None
        assert cache.observe(b"state 199", ["text"]) == ["x" * 500]


@pytest.mark.parametrize("write", [TranspositionCache.flush, TranspositionCache.close])
def test_stored_values_are_in_the_file(
    tmp_path: Path, write: Callable[[TranspositionCache], None]
) -> None:
    path = tmp_path / "cache.db"
    with TranspositionCache(path) as cache:
        chain(cache)
        cache.learn_observations(b"2", [("a", [1, {"b": b"c"}])])
        write(cache)
        with TranspositionCache(str(path)) as other:
            assert other.follow(b"0", [1, 1])[1] == b"2"
            assert other.observe(b"2", ["a"]) == [[1, {"b": b"c"}]]
            assert other.statistics.states > 0, "what was read is in memory"


def test_a_closed_cache_still_knows_what_is_in_memory(tmp_path: Path) -> None:
    cache = TranspositionCache(tmp_path / "cache.db")
    chain(cache)
    cache.close()
    cache.close()
    cache.flush()
    assert cache.follow(b"0", [1])[1] == b"1"
    cache.learn(b"3", 1, transition(b"4"))
    assert cache.follow(b"3", [1])[1] == b"4"
    with TranspositionCache(tmp_path / "cache.db") as other:
        assert other.follow(b"3", [1]) == ([], b"3"), "it was not written"


def test_a_collected_cache_writes_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    cache = TranspositionCache(path)
    chain(cache)
    del cache
    gc.collect()
    with TranspositionCache(path) as other:
        assert other.follow(b"0", [1, 1, 1])[1] == b"3"


def test_a_copy_is_the_cache_itself_and_a_pickle_where_it_is(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with TranspositionCache(path, capacity_bytes=1 << 20) as cache, TranspositionCache() as free:
        chain(cache)
        chain(free)
        assert copy.deepcopy({"cache": cache})["cache"] is cache
        cache.flush()
        with pickle.loads(pickle.dumps(cache)) as far, pickle.loads(pickle.dumps(free)) as empty:
            assert far is not cache
            assert far.path == path
            assert far.follow(b"0", [1])[1] == b"1"
            assert empty.path is None
            assert empty.statistics.states == 0


def test_a_forked_process_has_what_is_known_and_leaves_writing_to_its_parent(
    tmp_path: Path,
) -> None:
    path = tmp_path / "cache.db"
    with TranspositionCache(path) as cache:
        chain(cache)
        pid = os.fork()
        if pid == 0:  # pytest must not see what becomes of it
            is_known = cache.follow(b"0", [1, 1])[1] == b"2"
            cache.learn(b"9", 1, transition(b"8"))
            cache.flush()
            os._exit(0 if is_known else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
        with TranspositionCache(path) as other:
            assert other.follow(b"9", [1])[1] == b"8"
            assert other.follow(b"0", [1])[1] == b"0", "the parent has yet to write it"
    with TranspositionCache(path) as other:
        assert other.follow(b"0", [1, 1])[1] == b"2"


def test_threads_learn_and_look_at_the_same_time(tmp_path: Path) -> None:
    with TranspositionCache(tmp_path / "cache.db") as cache:

        def work(first: int) -> None:
            for number in range(first, first + 200):
                state = str(number % 250).encode()
                cache.learn_observations(state, [("a", number % 250)])
                assert cache.observe(state, ["a"]) == [number % 250]
                cache.count(hits=1)

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(work, range(0, 400, 100)))
        assert cache.statistics.hits == 800
        assert cache.statistics.states == 250
