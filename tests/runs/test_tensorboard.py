# SPDX-License-Identifier: MIT
"""Numbers go to TensorBoard, where it is installed."""

import sys
from pathlib import Path

import pytest

from compiler_gym.errors import InvalidParameterError
from compiler_gym.runs import RunFolder
from compiler_gym.runs.tensorboard import Scalars

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


def test_each_number_is_an_event_of_its_name_and_step() -> None:
    events: list[tuple[int, dict[str, float]]] = []
    closed: list[bool] = []

    class Summary:
        class Value:
            def __init__(self, tag: str, simple_value: float) -> None:
                self.pair = (tag, simple_value)

        def __init__(self, value: list[Value]) -> None:
            self.numbers = dict(one.pair for one in value)

    class Writer:
        def add_event(self, event: tuple[int, dict[str, float]]) -> None:
            events.append(event)

        def close(self) -> None:
            closed.append(True)

    def event(*, wall_time: float, step: int, summary: Summary) -> tuple[int, dict[str, float]]:
        assert wall_time > 0
        return step, summary.numbers

    scalars = Scalars(Writer(), event, Summary)
    scalars.add(3, {"reward": 1, "loss": 0.5})
    scalars.add(4, {})
    scalars.close()
    assert events == [(3, {"reward": 1.0, "loss": 0.5}), (4, {})]
    assert closed == [True]
