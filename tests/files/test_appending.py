# SPDX-License-Identifier: MIT
"""Lines are whole or not there, whatever a kill left behind."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.files import (
    append,
    append_line,
    drop_cut_line,
    lines,
    open_appending,
    whole_lines,
    write_all,
)
from tests.stand_ins import stand_in


def test_appended_lines_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    append_line(path, {"a": 1})
    append_line(path, {"b": "ü"}, sync=False)
    assert list(lines(path)) == list(whole_lines(path)) == [{"a": 1}, {"b": "ü"}]


def test_no_file_has_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "missing"
    drop_cut_line(path)
    assert list(lines(path)) == list(whole_lines(path)) == []
    assert not path.exists()


def test_a_line_that_was_cut_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n{"b"')
    drop_cut_line(path)
    assert path.read_text() == '{"a": 1}\n'
    drop_cut_line(path)
    assert path.read_text() == '{"a": 1}\n'


@pytest.mark.parametrize("text", ['{"a": 1}', "a note of somebody else's"])
def test_a_last_line_that_was_not_cut_is_ended(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text)
    append_line(path, {"b": 2})
    assert path.read_text() == f'{text}\n{{"b": 2}}\n'


def test_the_next_line_replaces_a_cut_off_one(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\n{"b": [1, ')
    append_line(path, {"c": 3})
    assert list(lines(path)) == [{"a": 1}, {"c": 3}]
    path.write_text('{"only": ')
    append_line(path, {"c": 3})
    assert list(lines(path)) == [{"c": 3}]


def test_several_processes_append_whole_lines_and_a_kill_costs_one_at_most(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    program = (
        "import sys, pathlib; from compiler_gym.files import append_line\n"
        "for n in range(10**9):\n"
        "    append_line(pathlib.Path(sys.argv[1]), {'from': sys.argv[2], 'n': n, 'x': 'x' * 5000},"
        " sync=False); print(n, flush=True)"
    )
    kept: dict[str, int] = {}
    for _ in range(3):
        writers = {
            name: subprocess.Popen(
                [sys.executable, "-c", program, path, name], stdout=subprocess.PIPE, text=True
            )
            for name in ("a", "b")
        }
        for writer in writers.values():
            assert writer.stdout is not None
            for _ in range(50):
                writer.stdout.readline()
        for name, writer in writers.items():
            writer.send_signal(signal.SIGKILL)
            said = writer.communicate()[0].split()
            kept[name] = kept.get(name, 0) + 50 + len(said)
    append_line(path, {"from": "us"})
    found = list(lines(path))  # none is damaged
    for name, count in kept.items():  # the last may be written and not said
        assert count <= sum(line["from"] == name for line in found) <= count + 3


def test_a_full_disk_takes_nothing_of_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.jsonl"
    append_line(path, {"a": 1})

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left on device") as caught:
        append_line(path, {"b": 2})
    assert caught.value.filename == str(path)
    assert list(lines(path)) == [{"a": 1}]


def test_a_file_is_made_as_the_user_lets_and_a_device_is_left_alone(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        append_line(tmp_path / "a" / "b", {}, sync=False)
    finally:
        os.umask(before)
    assert (tmp_path / "a" / "b").stat().st_mode & 0o777 == 0o664
    with pytest.raises(OSError, match="No space left"):
        append(Path("/dev/full"), b"x\n")
    append(Path("/dev/null"), b"x\n")


def test_damage_is_raised_or_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1}\nbroken\n[2]\n\n{"b": 2}\n')
    assert list(whole_lines(path)) == [{"a": 1}, {"b": 2}]
    with pytest.raises(ValueError, match=r"x.jsonl, line 2 is damaged: Expecting value"):
        list(lines(path))


def test_a_write_that_stops_half_way_is_undone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = open_appending(tmp_path / "deep" / "log")
    write_all(file, b"first\n")
    write, calls = os.write, list[int]()

    def full(number: int, data: Any) -> int:
        calls.append(len(data))
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(number, bytes(data)[:3])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(OSError, match="No space"):
        write_all(file, b"second\n")
    monkeypatch.undo()
    write_all(file, b"third\n")
    os.close(file)
    assert calls == [7, 4]
    assert (tmp_path / "deep" / "log").read_bytes() == b"first\nthird\n"


def test_short_writes_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = open_appending(tmp_path / "log")
    write = os.write
    monkeypatch.setattr(os, "write", stand_in(lambda number, data: write(number, bytes(data)[:2])))
    write_all(file, b"abcdefg")
    monkeypatch.undo()
    os.close(file)
    assert (tmp_path / "log").read_bytes() == b"abcdefg"
