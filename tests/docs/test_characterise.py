# SPDX-License-Identifier: MIT
"""What the pages say of programs is what is measured of them."""

from pathlib import Path

import pytest

import compiler_gym
from docs.characterise import FOLDER, Character, character, characters, draw, read, slug, summary

DATASETS = ["benchmark://cbench-v1", "generator://csmith-v0", "generator://llvm-stress-v0"]


@pytest.mark.parametrize("name", DATASETS)
def test_the_first_programs_measure_as_the_table_says(name: str) -> None:
    measured = read(name)
    with compiler_gym.make("llvm-v0") as env:
        for known in measured[:4]:
            env.reset(benchmark=known.program)
            assert character(env, known.program) == known


@pytest.mark.slow
@pytest.mark.parametrize("name", DATASETS)
def test_every_program_measures_as_the_table_says(name: str) -> None:
    measured = read(name)
    with compiler_gym.make("llvm-v0") as env:
        assert list(characters(env, env.datasets[name], len(measured))) == measured


def test_every_dataset_at_hand_has_a_table_and_a_plot() -> None:
    with compiler_gym.make("llvm-v0") as env:
        at_hand = [d.name for d in env.datasets if d.installed and not d.name.startswith("user")]
    for name in DATASETS:
        assert name in at_hand
        assert (FOLDER / f"{slug(name)}.svg").read_text().startswith("<?xml")
    assert len(read(DATASETS[0])) == 23


def test_a_plot_and_a_summary_come_from_the_numbers(tmp_path: Path) -> None:
    measured = [Character("a", 10, 0.1, 0.5, 0.2), Character("b", 1000, 0.3, 0.1, 0.2)]
    draw(measured, "two", tmp_path / "two.svg")
    assert "two: 2 programs" in (tmp_path / "two.svg").read_text()
    assert summary(measured)[0] == ("instructions", "10", "505", "1,000")
    assert summary(measured)[1] == ("branches", "10.0%", "20.0%", "30.0%")
