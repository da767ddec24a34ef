# SPDX-License-Identifier: MIT
"""Known states are found again in memory and in a file that processes share."""

import gc
import multiprocessing
import sqlite3
import subprocess
import sys
import time
import warnings
from contextlib import closing, suppress
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.service.caching.states import Disk, Memory, Transition, estimate_size

FIRST_STEP = Transition(b"2", False, False)


def test_stored_transitions_are_found() -> None:
    memory = Memory(1 << 20)
    memory.add_transition(b"1", 7, FIRST_STEP)
    memory.add_observation(b"1", "Size", 12)
    assert memory.transition(b"1", 7) == FIRST_STEP
    assert memory.transition(b"1", 8) is None
    assert memory.transition(b"2", 7) is None
    assert memory.observations(b"1") == {"Size": 12}
    assert memory.observations(b"2") == {}


def test_the_least_recently_used_entry_is_evicted() -> None:
    memory = Memory(4000)
    for number in range(50):
        memory.add_transition(bytes([number]), 0, FIRST_STEP)
        memory.transition(bytes([0]), 0)
        assert memory.size <= 4000
    assert memory.transition(bytes([0]), 0) == FIRST_STEP
    assert memory.transition(bytes([49]), 0) == FIRST_STEP
    assert memory.transition(bytes([1]), 0) is None
    assert 1 < len(memory) < 10


def test_a_large_observation_counts_with_its_size() -> None:
    memory = Memory(10_000)
    memory.add_observation(b"1", "Ir", "x" * 9000)
    memory.add_observation(b"2", "Ir", "x" * 9000)
    assert memory.observations(b"1") == {}
    memory.add_observation(b"3", "Ir", "x" * 20_000)
    assert len(memory) == 0
    assert memory.size == 0


def test_nested_values_have_a_size() -> None:
    assert estimate_size({"a": ["x" * 500]}) > 500
    assert estimate_size((1, 2)) > estimate_size(1)


STEP = Transition(b"2", True, False)


def test_another_object_finds_what_was_written(tmp_path: Path) -> None:
    first, second = (Disk(tmp_path / "new" / "cache.db", 1 << 30) for _ in range(2))
    first.add_transition(b"1", 7, STEP)
    first.add_transition(b"1", b"composite", STEP)
    first.add_observation(b"1", "Blob", b"\x00\xff")
    first.flush()
    assert second.transition(b"1", 7) == STEP
    assert second.transition(b"1", b"composite") == STEP
    assert second.transition(b"1", 8) is None
    assert second.observation(b"1", "Blob") == (b"\x00\xff",)
    assert second.observation(b"1", "Other") is None
    first.close()
    second.close()


def _write(path: Path, number: int) -> None:
    disk = Disk(path, 1 << 30)
    for item in range(200):
        disk.add_transition(bytes([number, item]), 0, STEP)
        disk.add_transition(b"same", item, STEP)
    disk.close()


def test_processes_write_at_the_same_time(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(path, number)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    disk = Disk(path, 1 << 30)
    assert all(disk.transition(bytes([n, i]), 0) for n in range(3) for i in range(200))
    disk.close()


_FORK = """
import os, sys
from compiler_gym.service.caching import TranspositionCache
from compiler_gym.service.caching.states import Transition

cache = TranspositionCache(sys.argv[1])
of_the_parent = cache._disk._open()
cache.learn(b"parent", 0, Transition(b"2", True, False))
with cache._lock:  # as another thread would, in the middle of something
    pid = os.fork()
if pid == 0:
    assert cache._disk._open() is not of_the_parent
    cache.learn(b"child", 0, Transition(b"2", True, False))
    sys.exit()
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
with TranspositionCache(sys.argv[1]) as other:
    assert other.follow(b"child", [0])[0], "the child wrote nothing"
    assert not other.follow(b"parent", [0])[0], "the child wrote the rows of its parent"
"""


def test_pending_rows_are_written_at_exit_by_their_own_process(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    done = subprocess.run([sys.executable, "-c", _FORK, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    disk = Disk(path, 1 << 30)
    assert disk.transition(b"parent", 0) == STEP
    assert disk.transition(b"child", 0) == STEP
    disk.close()


def test_pending_rows_are_written_when_a_cache_is_collected(tmp_path: Path) -> None:
    cache = TranspositionCache(tmp_path / "cache.db")
    cache.learn(b"1", 0, STEP)
    del cache
    gc.collect()
    with TranspositionCache(tmp_path / "cache.db") as other:
        assert other.follow(b"1", [0])[0] == [STEP]


def test_the_file_stays_within_its_bounds_and_keeps_the_latest(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "cache.db", 200_000)
    for number in range(3000):
        disk.add_observation(number.to_bytes(4, "big"), "Ir", "x" * 500)
    disk.close()
    assert (tmp_path / "cache.db").stat().st_size < 1_000_000
    disk = Disk(tmp_path / "cache.db", 200_000)
    assert disk.observation((2999).to_bytes(4, "big"), "Ir") is not None
    assert disk.observation((0).to_bytes(4, "big"), "Ir") is None
    disk.close()


def test_a_file_that_is_not_a_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_text("no database " * 100)
    with pytest.raises(CacheError, match=r"cache\.db"):
        Disk(tmp_path / "cache.db", 1 << 20)


def test_a_file_that_breaks_later_costs_a_warning_and_no_more(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "cache.db", 1 << 20)
    disk._open().execute("DROP TABLE checked_transitions")  # pyright: ignore[reportPrivateUsage]  # to damage it
    disk.add_transition(b"1", 0, STEP)
    with pytest.warns(RuntimeWarning, match="no longer used"):
        disk.flush()
    disk.add_transition(b"1", 0, STEP)
    disk.flush()
    assert disk.transition(b"1", 0) is None
    disk.close()


def test_the_file_and_its_log_stay_within_their_bounds_together(tmp_path: Path) -> None:
    capacity = 2 << 20
    disk = Disk(tmp_path / "cache.db", capacity)
    most = 0
    for number in range(8000):
        disk.add_observation(number.to_bytes(4, "big") * 10, "Ir", "x" * (number % 40) * 100)
        disk.add_transition(number.to_bytes(4, "big") * 10, 0, STEP)
        if number % 50 == 0:
            most = max(most, sum(file.stat().st_size for file in tmp_path.iterdir()))
    disk.flush()
    assert capacity // 2 < most <= capacity
    assert disk.transition((7999).to_bytes(4, "big") * 10, 0) == STEP
    disk.close()


def _write_much(path: Path, number: int) -> None:
    disk = Disk(path, 4 << 20)
    for item in range(3000):
        state = b"%d-%d" % (number, item) * 8
        disk.add_observation(state, "Ir", "x" * (item % 50) * 100)
        disk.transition(state, 0)
    disk.close()


def test_the_bounds_hold_while_processes_write_at_the_same_time(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    arguments = [(tmp_path / "cache.db", number) for number in range(4)]
    writers = [context.Process(target=_write_much, args=pair) for pair in arguments]
    for writer in writers:
        writer.start()
    sizes: dict[str, int] = {}
    while any(writer.is_alive() for writer in writers):
        for file in tmp_path.glob("cache.db*"):
            with suppress(FileNotFoundError):
                sizes[file.name] = max(sizes.get(file.name, 0), file.stat().st_size)
        time.sleep(0.002)
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert 1 << 20 < sum(sizes.values()) <= 4 << 20


def test_a_value_too_large_for_the_file_is_left_out(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "cache.db", 1 << 20)
    disk.add_observation(b"1", "Ir", "x" * (1 << 17))
    disk.flush()
    assert disk.observation(b"1", "Ir") is None
    disk.close()


@pytest.mark.parametrize(
    "offset", [0, *(pytest.param(bit, marks=pytest.mark.slow) for bit in range(8, 97, 8))]
)
def test_a_flipped_bit_is_noticed_or_changes_nothing_that_is_read(
    tmp_path: Path, offset: int
) -> None:
    path = tmp_path / "cache.db"
    disk = Disk(path, 1 << 30)
    for item in range(30):
        disk.add_transition(b"state%d" % item, item, Transition(b"next%d" % item, False, False))
        disk.add_observation(b"state%d" % item, "Vector", [item, "text", b"blob"])
    disk.close()
    whole = path.read_bytes()
    lost = 0
    for bit in range(offset, len(whole) * 8, 97 * 8 + 1):
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        for left in tmp_path.glob("cache.db*"):
            left.unlink()
        path.write_bytes(flipped)
        with suppress(CacheError), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            damaged = Disk(path, 1 << 30)
            for item in range(30):
                state = b"state%d" % item
                transition = damaged.transition(state, item)
                assert transition in (None, Transition(b"next%d" % item, False, False))
                value = damaged.observation(state, "Vector")
                assert value in (None, ([item, "text", b"blob"],))
                lost += transition is None or value is None
            damaged.close()
    assert lost  # some of the bits were in rows


def test_a_damaged_row_is_written_again(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    disk = Disk(path, 1 << 30)
    disk.add_transition(b"1", 7, STEP)
    disk.close()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE checked_transitions SET no_effect = 0")
    disk = Disk(path, 1 << 30)
    assert disk.transition(b"1", 7) is None
    disk.add_transition(b"1", 7, STEP)
    disk.flush()
    assert disk.transition(b"1", 7) == STEP
    disk.close()
