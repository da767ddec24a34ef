# SPDX-License-Identifier: MIT
"""What a caller names is read within bounds, or refused with a reason."""

import hashlib
from pathlib import Path

import pytest

from compiler_gym.files import hash_file, read_regular


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
