# SPDX-License-Identifier: MIT
"""What a linker can be told of a file."""

import platform
from pathlib import Path

import pytest

from compiler_gym.builds import CompilerCommand
from compiler_gym.tools.tune import LAYOUT, NO_UNWINDING, choose_layout, choose_unwinding
from compiler_gym.tools.tune.builds import Binary
from tests.stand_ins import stand_in

PACKED = "-Wl,-z,pack-relative-relocs"


def binary(*words: str) -> Binary:
    command = CompilerCommand.parse(["cc", "main.o", *words, "-o", "a"], Path("/"))
    return Binary("a", Path("/a"), command, (), Path("/"))


@pytest.fixture(autouse=True)
def _packing(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr(platform, "libc_ver", lambda: ("glibc", "2.41"))


def test_packed_relocations_are_for_loaders_that_read_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert choose_layout(binary(), old_loaders=False) == list(LAYOUT)
    assert PACKED not in choose_layout(binary(), old_loaders=True)
    for found in (("glibc", "2.35"), ("", "")):
        monkeypatch.setattr(platform, "libc_ver", stand_in(lambda found=found: found))
        assert PACKED not in choose_layout(binary(), old_loaders=False)


@pytest.mark.parametrize(
    "words", [("-Wl,--build-id=sha1",), ("-Wl,--build-id",), ("-Wl,-z,now,--build-id=md5",)]
)
def test_what_the_build_asks_for_stays(words: tuple[str, ...]) -> None:
    assert "-Wl,--build-id=none" not in choose_layout(binary(*words), old_loaders=False)
    assert "-Wl,--hash-style=gnu" in choose_layout(binary(*words), old_loaders=False)


def test_nothing_that_protects_is_given_up() -> None:
    for word in ("norelro", "noseparate-code", "no-rosegment", "no-pie", "execstack"):
        assert not any(word in option for option in LAYOUT)


def test_unwind_tables_go_only_where_the_user_says_so() -> None:
    assert choose_unwinding(binary(), is_dispensable=False) == []
    assert choose_unwinding(binary(), is_dispensable=True) == [NO_UNWINDING]
