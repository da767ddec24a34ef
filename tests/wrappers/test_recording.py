# SPDX-License-Identifier: MIT
"""Files that recorders append to hold whole records, whatever the disk does."""

import errno
import fcntl
import json
import os
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.errors import RecordingError
from compiler_gym.wrappers._recording import append, json_of, lock, opened, require_json


@given(st.recursive(st.integers() | st.text() | st.none(), st.lists))
def test_plain_values_are_json_as_they_are(value: Any) -> None:
    assert json.loads(json_of(value)) == value


def test_arrays_and_bytes_have_a_form_in_json() -> None:
    value = {"array": np.arange(3), "number": np.float64(0.5), "bytes": b"\x01\xff"}
    assert json.loads(json_of(value)) == {"array": [0, 1, 2], "number": 0.5, "bytes": "01ff"}


@pytest.mark.parametrize("value", [{1, 2}, object(), {("a",): 1}])
def test_what_has_no_form_in_json_is_refused(value: Any) -> None:
    with pytest.raises(RecordingError, match="no JSON form"):
        json_of({"seen": value} if not isinstance(value, dict) else value)


def test_a_value_within_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(RecordingError, match="JSON form"):
        json_of(value)


def test_asking_what_a_space_holds_draws_nothing_from_it() -> None:
    space = gymnasium.spaces.Box(0, 1, (2,))
    space.seed(3)
    require_json(space)
    first = space.sample()
    space.seed(3)
    assert (space.sample() == first).all()


def test_a_write_that_stops_half_way_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = opened(tmp_path / "deep" / "log")
    append(file, b"first\n")
    write, calls = os.write, []

    def full(number: int, data: Any) -> int:
        calls.append(len(data))
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(number, bytes(data)[:3])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        append(file, b"second\n")
    monkeypatch.undo()
    append(file, b"third\n")
    os.close(file)
    assert calls == [7, 4]
    assert (tmp_path / "deep" / "log").read_bytes() == b"first\nthird\n"


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = opened(tmp_path / "log")
    write = os.write
    monkeypatch.setattr(os, "write", lambda number, data: write(number, bytes(data)[:2]))
    append(file, b"abcdefg")
    monkeypatch.undo()
    os.close(file)
    assert (tmp_path / "log").read_bytes() == b"abcdefg"


def test_a_lock_keeps_others_out_and_a_pipe_has_none(tmp_path: Path) -> None:
    first, second = opened(tmp_path / "log"), opened(tmp_path / "log")
    lock(first, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with pytest.raises(BlockingIOError):
        lock(second, fcntl.LOCK_EX | fcntl.LOCK_NB)
    reading, writing = os.pipe()
    lock(writing, fcntl.LOCK_EX | fcntl.LOCK_NB)
    for file in (first, second, reading, writing):
        os.close(file)
