# SPDX-License-Identifier: MIT
"""A file is shared, bounded, and never in the way."""

import multiprocessing
import os
from pathlib import Path

import pytest

from compiler_gym.caching.disk import Disk
from compiler_gym.caching.memory import Transition
from compiler_gym.errors import CacheError

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


def test_a_forked_process_opens_the_file_anew(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "cache.db", 1 << 30)
    of_the_parent = disk._open()
    pid = os.fork()
    if pid == 0:
        is_new = disk._open() is not of_the_parent
        disk.add_transition(b"1", 0, STEP)
        disk.close()
        os._exit(0 if is_new else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert disk._open() is of_the_parent
    assert disk.transition(b"1", 0) == STEP
    disk.close()


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


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_text("no database " * 100)
    with pytest.raises(CacheError, match=r"cache\.db"):
        Disk(tmp_path / "cache.db", 1 << 20)


def test_a_file_that_breaks_later_costs_a_warning_and_no_more(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "cache.db", 1 << 20)
    disk._open().execute("DROP TABLE transitions")
    disk.add_transition(b"1", 0, STEP)
    with pytest.warns(RuntimeWarning, match="no longer used"):
        disk.flush()
    disk.add_transition(b"1", 0, STEP)
    disk.flush()
    assert disk.transition(b"1", 0) is None
    disk.close()
