# SPDX-License-Identifier: MIT
"""A corpus grows beside the old one and takes its place when it is complete."""

import os
from pathlib import Path
from typing import Any

import pytest

from compiler_gym.datasets import CorpusDataset
from compiler_gym.errors import DatasetInitError
from compiler_gym_corpus.collections.corpus_writer import Added, CorpusWriter


def program(number: int) -> bytes:
    return f"int function_{number}(int x) {{ return x + {number} * 7; }}\n".encode() * (
        number % 5 + 1
    )


def write(path: Path, numbers: range, **kwargs: Any) -> None:
    with CorpusWriter(path, name="c-v0", license="MIT", **kwargs) as writer:
        for number in numbers:
            writer.add(f"dir/f{number}.c", program(number), suffix=".c", license="MIT")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "benchmark/c-v0/corpus.sqlite"
    write(path, range(200))
    return path


def test_equal_bytes_are_stored_once_and_found_by_every_name(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with CorpusWriter(path, name="c-v0") as writer:
        assert writer.add("a.c", b"1", license="MIT", source="x") is Added.NEW
        assert writer.add("b.c", b"1", license="GPL", source="y") is Added.DUPLICATE
        assert writer.add("b.c", b"1", license="GPL", source="y") is Added.ALREADY_THERE
        assert writer.add("a.c", b"1") is Added.ALREADY_THERE
        assert writer.add("a.c", b"2") is Added.NAME_TAKEN
        assert writer.add("b.c", b"3") is Added.NAME_TAKEN
    corpus = CorpusDataset(path)
    assert corpus.size == 1
    assert corpus["b.c"].contents == b"1"
    assert str(corpus["b.c"]) == "benchmark://c-v0/b.c"
    assert [(key, data) for key, _, data in corpus.unreadable()] == [("a.c", b"2"), ("b.c", b"3")]


def test_a_second_writer_appends(path: Path) -> None:
    corpus = CorpusDataset(path)
    assert corpus.size == 200
    write(path, range(150, 250))
    assert corpus.size == 250
    assert corpus[249].contents == program(249)
    assert corpus[0].contents == program(0)
    assert corpus.verify() == []


def test_a_writer_that_fails_leaves_the_old_file_and_the_next_goes_on(path: Path) -> None:
    before = path.read_bytes()
    with (  # noqa: PT012
        pytest.raises(KeyError, match="stop"),
        CorpusWriter(path, name="c-v0", input_id="tree") as writer,
    ):
        for number in range(200, 5400):
            writer.add(f"dir/f{number}.c", program(number))
            writer.advance(number - 199)
        raise KeyError("stop")
    assert path.read_bytes() == before
    with CorpusWriter(path, name="c-v0", input_id="tree") as writer:
        assert writer.position == 5000
        assert writer.count == 5200
        for number in range(5200, 5400):
            writer.add(f"dir/f{number}.c", program(number))
    corpus = CorpusDataset(path)
    assert corpus.size == 5400
    assert corpus.verify() == []
    assert [p.name for p in path.parent.iterdir() if not p.name.endswith(".lock")] == [path.name]


def test_leftovers_of_another_input_are_not_reused(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with (  # noqa: PT012
        pytest.raises(KeyError, match="stop"),
        CorpusWriter(path, name="c-v0", input_id="wrong") as writer,
    ):
        for number in range(5001):
            writer.add(f"f{number}.c", program(number))
            writer.advance(number + 1)
        raise KeyError("stop")
    assert writer.partial.exists()
    with CorpusWriter(path, name="c-v0", input_id="right") as writer:
        writer.add("a.c", b"1")
    assert CorpusDataset(path).size == 1


def test_a_corpus_without_programs_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite"
    with (
        pytest.raises(DatasetInitError, match="no programs to store"),
        CorpusWriter(path, name="c-v0"),
    ):
        pass
    assert not path.exists()
    assert not list(tmp_path.glob("*partial*"))


def test_a_full_disk_leaves_the_old_corpus(path: Path) -> None:
    before = path.read_bytes()
    with (  # noqa: PT012
        pytest.raises(DatasetInitError, match=r"database or disk is full.*check the free space"),
        CorpusWriter(path, name="c-v0") as writer,
    ):
        writer._sql.execute("PRAGMA max_page_count = 1")  # pyright: ignore[reportPrivateUsage]  # to fill the disk
        for number in range(200, 400):
            writer.add(f"dir/f{number}.c", os.urandom(10_000))
        writer._flush_pending()  # pyright: ignore[reportPrivateUsage]  # tested on its own
    assert path.read_bytes() == before
    assert CorpusDataset(path).size == 200


@pytest.mark.parametrize("junk", [b"", b"x", b"SQLite format 3\0" + b"x" * 5000])
def test_an_import_takes_the_place_of_a_file_that_is_not_a_corpus(path: Path, junk: bytes) -> None:
    path.write_bytes(junk)
    write(path, range(5))
    assert CorpusDataset(path).size == 5


def test_an_import_into_a_corpus_with_a_damaged_page_gives_the_fix(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for offset in range(8192, len(data)):
        data[offset] ^= 0x55
    path.write_bytes(data)
    with pytest.raises(DatasetInitError, match="compiler-gym datasets remove"):
        write(path, range(150, 300))
    assert path.read_bytes() == data
