# SPDX-License-Identifier: MIT
from pathlib import Path

import pytest

from compiler_gym.errors import CacheError, RecordingError
from compiler_gym.files import writing


def test_a_refusal_by_the_system_becomes_an_error_with_advice(tmp_path: Path) -> None:
    path = tmp_path / "no" / "file"
    expected = f"cannot write {path}: No such file or directory: choose another path"
    with pytest.raises(CacheError) as raised, writing(path, CacheError):
        path.write_text("")
    assert str(raised.value) == expected


def test_an_error_of_ours_passes(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"^full$"), writing(tmp_path, CacheError):
        raise RecordingError("full")
