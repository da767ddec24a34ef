# SPDX-License-Identifier: MIT
"""A Parquet file belongs to one recorder, and what is flushed can be read when it is closed."""

import os
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.errors import RecordingError
from compiler_gym.wrappers import EpisodeRecord, StepRecord
from compiler_gym.wrappers._recording_parquet import ParquetFile

parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")


def episode(*rewards: Any) -> EpisodeRecord:
    steps = [StepRecord([0], reward, False, False, False, None, None) for reward in rewards]
    return EpisodeRecord("benchmark://fake-v0/7", "Small", "1.0", None, [[7]], "", steps)


def test_rows_that_were_added_are_read_back(tmp_path: Path) -> None:
    file = ParquetFile(tmp_path / "steps.parquet")
    file.add(episode(None, 0.5), 0)
    file.flush()
    file.add(episode([1.0, 2.0]), 1)
    file.close()
    file.close()
    table = parquet.read_table(tmp_path / "steps.parquet").to_pylist()
    assert [(one["episode"], one["step"]) for one in table] == [(0, 0), (0, 1), (1, 0)]
    assert (table[1]["reward"], table[2]["rewards"]) == (0.5, [1.0, 2.0])
    assert (table[0]["observation"], table[0]["next_observation"]) == ("[[7]]", None)


def test_a_second_recorder_is_refused_until_the_first_is_closed(tmp_path: Path) -> None:
    first = ParquetFile(tmp_path / "steps.parquet")
    with pytest.raises(RecordingError, match="another recorder is writing"):
        ParquetFile(tmp_path / "steps.parquet")
    first.close()
    ParquetFile(tmp_path / "steps.parquet").close()


def test_a_closed_file_takes_no_rows(tmp_path: Path) -> None:
    file = ParquetFile(tmp_path / "steps.parquet")
    file.close()
    with pytest.raises(RecordingError, match=r"steps\.parquet is closed"):
        file.add(episode(None), 0)


def test_a_value_that_a_column_does_not_take_is_refused(tmp_path: Path) -> None:
    file = ParquetFile(tmp_path / "steps.parquet")
    with pytest.raises(RecordingError, match="cannot record an episode"):
        file.add(episode("much"), 0)
    file.add(episode(1.0), 0)
    file.close()
    assert parquet.read_table(tmp_path / "steps.parquet").num_rows == 1


def test_what_was_in_the_file_stays_until_there_are_rows(tmp_path: Path) -> None:
    path = tmp_path / "steps.parquet"
    path.write_bytes(b"an older file")
    ParquetFile(path).close()
    assert path.read_bytes() == b"an older file"


def test_a_forked_process_writes_nothing(tmp_path: Path) -> None:
    file = ParquetFile(tmp_path / "steps.parquet")
    file.add(episode(None), 0)
    child = os.fork()
    if child == 0:
        file.add(episode(None), 1)
        file.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    file.close()
    assert parquet.read_table(tmp_path / "steps.parquet").num_rows == 1
