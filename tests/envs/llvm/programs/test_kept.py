# SPDX-License-Identifier: MIT
"""A module is made once of the same, and again of anything else."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler_gym.envs.llvm.programs.kept import make_cached
from compiler_gym.errors import CacheWarning

Cache = Callable[..., bytes]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Return what was made in a cache of this test's own."""
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path))
    return []


def make(made: list[str], *parts: str | bytes) -> bytes:
    def now() -> bytes:
        made.append("")
        return f"module {len(made)}".encode()

    return make_cached(parts, now)


def test_a_program_from_equal_sources_is_reused(made: list[str], tmp_path: Path) -> None:
    assert make(made, "flags", b"source") == make(made, "flags", b"source") == b"module 1"
    (file,) = (tmp_path / "llvm-modules").rglob("*.bc")
    assert file.read_bytes() == b"module 1"


def test_text_and_its_bytes_are_the_same_and_a_strange_name_has_bytes_too(made: list[str]) -> None:
    assert make(made, "é") == make(made, "é".encode())
    assert make(made, "\udcff") == make(made, b"\xff")
    assert len(made) == 2


def test_where_one_part_ends_counts(made: list[str]) -> None:
    for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ()):
        make(made, *parts)
    assert len(made) == 5


PARTS = st.lists(st.binary(max_size=3), max_size=3)


@given(PARTS, PARTS)
def test_different_parts_give_different_modules(one: list[bytes], other: list[bytes]) -> None:
    contents = [repr(parts).encode() for parts in (one, other)]
    found = [
        make_cached(["property", *parts], lambda text=text: text)  # type: ignore[misc]  # bound now
        for parts, text in zip((one, other), contents, strict=True)
    ]
    assert found == contents


def test_a_cache_that_cannot_be_written_costs_no_program(
    made: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COMPILER_GYM_CACHE", str(tmp_path / "file"))
    with pytest.warns(CacheWarning, match="cannot write"):
        assert make(made, "flags") == b"module 1"


def test_a_failed_build_is_not_kept(made: list[str]) -> None:
    def fail() -> bytes:
        raise ZeroDivisionError("no module")

    with pytest.raises(ZeroDivisionError, match="no module"):
        make_cached(["flags"], fail)
    assert make(made, "flags") == b"module 1"
