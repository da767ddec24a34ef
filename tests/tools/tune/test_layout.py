# SPDX-License-Identifier: MIT
"""What a linker can be told of a file."""

import shutil
from pathlib import Path

import pytest

from compiler_gym.builds import CompilerCommand
from compiler_gym.tools.tune import (
    LAYOUT,
    NO_UNWINDING,
    PACKED,
    can_pack,
    choose_layout,
    choose_unwinding,
)
from compiler_gym.tools.tune.builds import Binary

CLANG = ("clang-22",)
LIBC = Path("/lib/x86_64-linux-gnu/libc.so.6")
READS_PACKED = b"GLIBC_ABI_DT_RELR"

needs_clang = pytest.mark.skipif(
    shutil.which("clang-22") is None or not LIBC.exists() or READS_PACKED not in LIBC.read_bytes(),
    reason="needs clang-22 and glibc 2.36",
)


def command(*words: str) -> CompilerCommand:
    return CompilerCommand.parse(["cc", "main.o", *words, "-o", "a"], Path("/"))


def binary(*words: str) -> Binary:
    return Binary("a", Path("/a"), command(*words), (), Path("/"))


def system(folder: Path, libc: bytes) -> Path:
    """Return a folder with the files of this system, and another C library."""
    libraries = folder / "lib" / LIBC.parent.name
    libraries.mkdir(parents=True)
    (folder / "usr").symlink_to("/usr")
    (libraries / LIBC.name).write_bytes(libc)
    return folder


@needs_clang
def test_packed_relocations_are_for_a_libc_that_reads_them(tmp_path: Path) -> None:
    libc = LIBC.read_bytes()
    new = system(tmp_path / "new", libc)
    old = system(tmp_path / "old", libc.replace(READS_PACKED, READS_PACKED.lower()))
    (tmp_path / "empty").mkdir()
    assert can_pack(command(), CLANG)
    assert can_pack(command("-shared", "-static-libgcc", f"--sysroot={new}"), CLANG)
    assert can_pack(command("-lc", "-nodefaultlibs"), CLANG)  # as rustc links
    assert not can_pack(command("-nodefaultlibs"), CLANG)
    for folder in (old, tmp_path / "empty", tmp_path / "none"):
        assert not can_pack(command(f"--sysroot={folder}"), CLANG)
    assert not can_pack(command(), ("no-such-compiler",))
    assert not can_pack(command(), ("echo",))
    assert PACKED not in choose_layout(
        binary(f"--sysroot={old}"), compiler=CLANG, old_loaders=False
    )


@needs_clang
@pytest.mark.parametrize(
    "words", [("-static",), ("-static-pie",), ("-no-pie",), ("-nostdlib", "-shared"), ("-nolibc",),
              ("--target=x86_64-linux-musl", "--sysroot=/no-such"), ("-Wl,--pack-dyn-relocs=none",),
              ("-z", "nopack-relative-relocs")],
)  # fmt: skip
def test_a_link_without_relative_relocations_or_this_libc_is_not_packed(
    words: tuple[str, ...],
) -> None:
    assert not can_pack(command(*words), CLANG)


@needs_clang
def test_old_loaders_get_no_packed_relocations() -> None:
    assert choose_layout(binary(), compiler=CLANG, old_loaders=False) == list(LAYOUT)
    chosen = choose_layout(binary(), compiler=CLANG, old_loaders=True)
    assert chosen == [flag for flag in LAYOUT if flag != PACKED]


@pytest.mark.parametrize(
    "words", [("-Wl,--build-id=sha1",), ("-Wl,--build-id",), ("-Wl,-z,now,--build-id=md5",)]
)
def test_options_of_the_build_stay(words: tuple[str, ...]) -> None:
    chosen = choose_layout(binary(*words), compiler=CLANG, old_loaders=True)
    assert "-Wl,--build-id=none" not in chosen
    assert "-Wl,--hash-style=gnu" in chosen


def test_nothing_that_protects_is_given_up() -> None:
    for word in ("norelro", "noseparate-code", "no-rosegment", "no-pie", "execstack"):
        assert not any(word in option for option in LAYOUT)


def test_unwind_tables_are_removed_only_on_request() -> None:
    assert choose_unwinding(binary(), is_dispensable=False) == []
    assert choose_unwinding(binary(), is_dispensable=True) == [NO_UNWINDING]
