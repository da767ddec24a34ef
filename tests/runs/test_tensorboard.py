# SPDX-License-Identifier: MIT
"""Numbers go to TensorBoard, where it is installed."""

import sys
from pathlib import Path

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.runs import RunFolder

CONFIG = {"task": "demo", "limit": 3}


def test_tensorboard_is_named_when_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard.summary.writer.event_file_writer", None)
    with pytest.raises(InvalidParameterError, match="pip install tensorboard"):
        RunFolder.open(tmp_path, "search", CONFIG, tensorboard=True)


def test_numbers_reach_tensorboard(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="tensorboard is missing")
    with RunFolder.open(tmp_path, "search", CONFIG, tensorboard=True) as run:
        run.progress(3, reward=0.5)
    (events,) = tmp_path.glob("events.out.tfevents.*")
    assert b"reward" in events.read_bytes()
