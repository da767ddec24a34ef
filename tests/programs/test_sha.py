# SPDX-License-Identifier: MIT
"""sha against OpenSSL's SHA-1 (through hashlib) and coreutils' sha1sum."""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Execute, cases


@pytest.mark.parametrize("length", [*range(0, 130), 4095, 16384, 100_001])
def test_the_digest_of_any_length_is_openssls(
    execute: Execute, tmp_path: Path, length: int
) -> None:
    content = cases.Random(length).data(length)
    (tmp_path / "f").write_bytes(content)
    assert execute("sha", "f").split()[0].decode() == hashlib.sha1(content).hexdigest()


def test_the_digest_of_a_million_letters_is_that_of_the_standards_example(
    execute: Execute,
) -> None:
    digest = execute("sha", "-", stdin=b"a" * 1_000_000)
    assert digest == b"34aa973cd4c4daa4f61eeb2bdbad27316534016f  -\n"


def test_each_further_round_hashes_the_digest_before_the_file(
    execute: Execute, tmp_path: Path
) -> None:
    (tmp_path / "f").write_bytes(b"content")
    digest = b""
    for _ in range(5):
        digest = hashlib.sha1(digest + b"content").digest()
    assert execute("sha", "-n", "5", "f").split()[0].decode() == digest.hex()


def test_lists_are_exchanged_with_sha1sum(
    execute: Execute, tool: Callable[..., bytes], tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(name.encode() * 1000)
    ours, theirs = execute("sha", "a", "b"), tool("sha1sum", "a", "b", package="coreutils")
    assert ours == theirs
    (tmp_path / "list").write_bytes(ours)
    assert execute("sha", "-c", "list") == tool("sha1sum", "-c", "list") == b"a: OK\nb: OK\n"


def test_a_changed_file_fails_its_check(execute: Execute, tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one")
    (tmp_path / "list").write_bytes(execute("sha", "a"))
    (tmp_path / "a").write_bytes(b"two")
    assert execute("sha", "-c", "list", status=1) == b"a: FAILED\n"
