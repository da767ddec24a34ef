# SPDX-License-Identifier: MIT
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from compiler_gym.datasets.fetching.install import locked, new_directory, new_file
from compiler_gym.errors import DatasetInitError


def test_a_directory_appears_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "d"
    with new_directory(target) as directory:
        (directory / "x").write_bytes(b"1")
        assert not target.exists()
    assert (target / "x").read_bytes() == b"1"
    with new_directory(target) as directory:
        (directory / "y").write_bytes(b"2")
        assert (target / "x").exists()
    assert [path.name for path in target.iterdir()] == ["y"]
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_an_exception_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "d"
    target.mkdir()
    (target / "old").write_bytes(b"1")
    with pytest.raises(KeyError), new_directory(target) as directory:  # noqa: PT012
        (directory / "new").write_bytes(b"2")
        raise KeyError("stop")
    assert [path.name for path in target.iterdir()] == ["old"]
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "f"
    target.write_bytes(b"old")
    with pytest.raises(KeyError), new_file(target) as partial:  # noqa: PT012
        partial.write_bytes(b"half")
        raise KeyError("stop")
    assert target.read_bytes() == b"old"
    with new_file(target) as partial:
        partial.write_bytes(b"new")
    assert target.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [target]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    target = tmp_path / "d"
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        with new_directory(target) as directory:
            (directory / "half").write_bytes(b"1")
            os.write(write, b"x")
            time.sleep(60)
        os._exit(0)
    assert os.read(read, 1) == b"x"
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    assert not target.exists()
    assert len(list(tmp_path.glob(".d.*.partial"))) == 1
    with new_directory(target) as directory:
        (directory / "whole").write_bytes(b"2")
    assert [path.name for path in tmp_path.iterdir()] == ["d"]


def test_a_replacement_cut_between_its_renames_is_undone(tmp_path: Path) -> None:
    old = tmp_path / ".d.replaced"
    old.mkdir()
    (old / "x").write_bytes(b"1")
    with pytest.raises(KeyError), new_directory(tmp_path / "d"):
        raise KeyError("stop")
    assert (tmp_path / "d/x").read_bytes() == b"1"


def test_a_lock_keeps_others_out_until_it_is_released(tmp_path: Path) -> None:
    order: list[str] = []
    entered = threading.Event()

    def second() -> None:
        entered.set()
        with locked(tmp_path / "d"):
            order.append("second")

    thread = threading.Thread(target=second)
    with locked(tmp_path / "d"):
        thread.start()
        entered.wait(60)
        with (
            pytest.raises(DatasetInitError, match="another process has been working"),
            locked(tmp_path / "d", timeout=0.1),
        ):
            pass
        order.append("first")
    thread.join(60)
    assert order == ["first", "second"]
