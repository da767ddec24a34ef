# SPDX-License-Identifier: MIT
"""Files with untrusted names, digests and sealed records."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.files import hash_file, is_intact, read_regular, seal


def test_a_named_file_is_read_within_bounds(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 3_000_000)
    assert read_regular(tmp_path / "file") == b"x" * 3_000_000
    assert read_regular("/proc/self/stat")  # its size is said to be 0
    with pytest.raises(OSError, match="3,000,000 bytes exceed the limit of 2,999,999"):
        read_regular(tmp_path / "file", most=2_999_999)
    with pytest.raises(OSError, match="the limit of 1"):
        read_regular("/proc/self/stat", most=1)
    for path, why in (("/dev/zero", "a device"), ("a\0b", "null byte"), ("\ud800", "surrogates")):
        with pytest.raises(OSError, match=why):
            read_regular(path)
    with pytest.raises(FileNotFoundError):
        read_regular(tmp_path / "none")


def test_a_digest_is_of_the_contents(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 3_000_000)
    assert hash_file(tmp_path / "file") == hashlib.sha256(b"x" * 3_000_000).hexdigest()
    with pytest.raises(FileNotFoundError):
        hash_file(tmp_path / "none")


RECORD: dict[str, Any] = {"rows": 3, "name": "é", "failures": {"A": 1}, "nothing": None}


def test_a_record_that_was_sealed_is_intact_after_json() -> None:
    assert is_intact(json.loads(json.dumps(seal(RECORD))))
    assert seal(seal(RECORD)) == seal(RECORD)


def test_a_record_of_an_earlier_version_has_no_seal() -> None:
    assert is_intact(RECORD)


@pytest.mark.parametrize("change", [{"rows": 2}, {"failures": {}}, {"seal": "0"}, {"more": 1}])
def test_a_changed_record_is_not_intact(change: dict[str, Any]) -> None:
    assert not is_intact({**seal(RECORD), **change})
