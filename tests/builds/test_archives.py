# SPDX-License-Identifier: MIT
"""Archives as ``ar`` writes them, and damaged ones."""

import subprocess
from pathlib import Path

from compiler_gym.builds import (
    is_archive,
    is_thin_archive,
    iterate_members,
    locate_members,
    read_members,
)


def test_members_come_as_they_were_put_in(tmp_path: Path) -> None:
    contents = [b"one", b"four", b"a longer one"]
    for number, data in enumerate(contents):
        (tmp_path / f"{number}-{'long' * 10}.o").write_bytes(data)
    archive = tmp_path / "lib.a"
    names = sorted(path.name for path in tmp_path.iterdir())
    subprocess.run(["ar", "rcs", archive.name, *names], cwd=tmp_path, check=True)
    assert is_archive(archive)
    assert list(iterate_members(archive.read_bytes())) == contents


def test_members_have_their_names(tmp_path: Path) -> None:
    names = ["a.o", "b-" + "long" * 20 + ".o", "c-" + "longer" * 20 + ".o"]
    for name in names:
        (tmp_path / name).write_text(name)
    subprocess.run(["ar", "rcs", "lib.a", *names], cwd=tmp_path, check=True)
    data = (tmp_path / "lib.a").read_bytes()
    found = {name: data[start : start + size] for name, start, size in locate_members(data)}
    assert found == {name: name.encode() for name in names}


def test_names_of_bsd_archives_stand_before_the_members() -> None:
    header = b"#1/8".ljust(16) + b"0".ljust(12) + b"0".ljust(6) * 2 + b"644".ljust(8)
    data = b"!<arch>\n" + header + b"13".ljust(10) + b"`\n" + b"name.o\0\0hello"
    ((name, start, size),) = locate_members(data)
    assert (name, data[start : start + size]) == ("name.o", b"hello")


def test_a_cut_archive_says_where_it_ends(tmp_path: Path) -> None:
    (tmp_path / "a.o").write_bytes(b"x" * 100)
    subprocess.run(["ar", "rc", "lib.a", "a.o"], cwd=tmp_path, check=True)
    assert list(iterate_members((tmp_path / "lib.a").read_bytes()[:-20])) == [None]


def test_an_invalid_archive_is_none(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("!<arch")
    assert not is_archive(tmp_path / "text")
    assert not is_archive(tmp_path / "missing")


def test_a_thin_archive_has_the_files_that_it_names(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    names = ["sub/a.o", "b.o", "c-" + "long" * 20 + ".o", "d.o"]
    for name in names:
        (tmp_path / name).write_text(name)
    subprocess.run(["ar", "rcsT", "lib.a", *names], cwd=tmp_path, check=True)
    archive = tmp_path / "lib.a"
    assert is_archive(archive)
    assert is_thin_archive(archive)
    (tmp_path / "d.o").unlink()
    contents = [*(name.encode() for name in names[:3]), None]
    assert list(read_members(archive)) == list(zip(names, contents, strict=True))
    assert list(iterate_members(archive.read_bytes())) == [None]


def test_members_are_read_with_their_names(tmp_path: Path) -> None:
    for name in ("a.o", "b.o"):
        (tmp_path / name).write_text(name)
    words = ["ar", "qcs", "lib.a", "a.o", "b.o", "a.o"]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert list(read_members(tmp_path / "lib.a")) == [
        ("a.o", b"a.o"), ("b.o", b"b.o"), ("a.o", b"a.o"),
    ]  # fmt: skip
    assert not is_thin_archive(tmp_path / "lib.a")
