# SPDX-License-Identifier: MIT
"""Linked programs of a corpus are builds that can be done again, and chosen by split and size."""

from pathlib import Path

import pytest

from compiler_gym.datasets import SPLITS
from compiler_gym.errors import UnknownNameError
from compiler_gym_corpus.llvm.learning import CorpusChoice, list_programs, open_corpus

SAMPLE = "debian-sample-v0"


def test_a_program_is_its_modules_with_the_words_that_link_them(tmp_path: Path) -> None:
    programs = list_programs(open_corpus(SAMPLE, tmp_path))
    program = next(one for one in programs if len(one.parts) > 1)
    binary = program.binary(tmp_path / "modules")
    assert len(binary.units) == len(program.parts)
    assert all(unit.path.read_bytes()[:2] == b"BC" for unit in binary.units)
    assert binary.is_shared == program.is_shared


def test_programs_are_chosen_by_split_package_and_size_and_come_smallest_first(
    tmp_path: Path,
) -> None:
    sample = open_corpus(SAMPLE, tmp_path)
    every = list_programs(sample)
    assert [one.instructions for one in every] == sorted(one.instructions for one in every)
    assert {one.split for one in every} <= {*SPLITS, "shared"}
    chosen = list_programs(sample, CorpusChoice(("train",), per_package=1, most=4000))
    packages = [one.package for one in chosen]
    assert packages
    assert len(packages) == len(set(packages))
    assert all(one.split == "train" and one.instructions <= 4000 for one in chosen)
    of_first = [one for one in every if one.package == packages[0] and one.instructions <= 4000]
    assert next(c for c in chosen if c.package == packages[0]) == of_first[-1]


def test_a_program_of_another_dataset_is_one_module(tmp_path: Path) -> None:
    programs = list_programs(open_corpus("cbench-v1", tmp_path))
    crc = next(one for one in programs if one.name.endswith("/crc32"))
    (module,) = crc.modules()
    assert module[:2] == b"BC"
    assert (crc.split, crc.package) == ("", crc.name)


def test_of_a_generator_the_first_programs_are_taken(tmp_path: Path) -> None:
    programs = list_programs(open_corpus("generator://csmith-v0", tmp_path))
    assert [one.name.rpartition("/")[2] for one in programs[:2]] == ["0", "1"]
    assert len(programs) == 30


def test_an_invalid_corpus_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="did you mean debian-sample-v0"):
        open_corpus("debian-sampl-v0", tmp_path)
