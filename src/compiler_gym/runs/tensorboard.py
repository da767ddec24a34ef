# SPDX-License-Identifier: MIT
"""Numbers for TensorBoard, if it is installed."""

import importlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from compiler_gym.errors import InvalidParameterError

__all__ = ["Scalars", "open_scalars"]


class Scalars:
    """An event file."""

    def __init__(self, writer: Any, event: Any, summary: Any) -> None:
        self._writer = writer
        self._event = event
        self._summary = summary

    def add(self, step: int, numbers: Mapping[str, float]) -> None:
        """Write one number for each name."""
        values = [
            self._summary.Value(tag=name, simple_value=float(value))
            for name, value in numbers.items()
        ]
        summary = self._summary(value=values)
        self._writer.add_event(self._event(wall_time=time.time(), step=step, summary=summary))

    def close(self) -> None:
        """Write everything to the disk and close the file."""
        self._writer.close()


def open_scalars(folder: Path) -> Scalars:
    """Return an event file in `folder`; raise `InvalidParameterError` without TensorBoard."""
    try:
        file_writer = importlib.import_module("tensorboard.summary.writer.event_file_writer")
        event = importlib.import_module("tensorboard.compat.proto.event_pb2")
        summary = importlib.import_module("tensorboard.compat.proto.summary_pb2")
    except ImportError as error:
        raise InvalidParameterError(
            "TensorBoard is not installed: `pip install tensorboard`, or omit this option"
        ) from error
    writer = file_writer.EventFileWriter(str(folder))
    return Scalars(writer, event.Event, summary.Summary)
