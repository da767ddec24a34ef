# SPDX-License-Identifier: MIT
"""The plug-in generates the code of functions in several ways, and chooses the smallest."""

import os
import subprocess
from functools import partial
from pathlib import Path

import pytest

from compiler_gym.tools.tune.llvm.plugin import explain_problem, find_plugin
from tests.native.conftest import need

pytestmark = pytest.mark.skipif(bool(explain_problem()), reason="needs the size plug-in")
SETTINGS = ("frame", "simple", "unprepared")
SOURCE = Path(__file__).with_name("behaviour.cpp")
FRAMES = ("-fno-omit-frame-pointer", "-momit-leaf-frame-pointer")
SMALL = """
int first(int), second(int);
int small(int x) { return first(x) + second(0); }
int leaf(int x) { return 5 * x; }
"""
Choices = dict[str, tuple[str, dict[str, int]]]


def read_choices(source: Path, folder: Path, switches: str = "") -> Choices:
    """Return the setting of each function of `source`, and the bytes of its code generations."""
    output = folder / "choices"
    command = [need("clang++-22"), f"-fpass-plugin={find_plugin()}", "-std=c++20", "-Oz", *FRAMES]
    subprocess.run(
        [*command, "-c", source, "-o", folder / "object"],
        env=os.environ | {"COMPILER_GYM_SIZE": f"choices={output}{switches}"},
        check=True,
    )
    rows = (line.split("\t") for line in output.read_text().splitlines())
    split = partial(str.rsplit, sep=" ", maxsplit=1)
    return {
        name: (chosen, {way: int(count) for way, count in map(split, ways)})
        for name, chosen, *ways in rows
    }


@pytest.fixture(scope="module")
def choices(tmp_path_factory: pytest.TempPathFactory) -> Choices:
    return read_choices(SOURCE, tmp_path_factory.mktemp("choices"), ",effort=10000")


@pytest.mark.parametrize("setting", SETTINGS)
def test_each_setting_changes_the_code_of_some_function(choices: Choices, setting: str) -> None:
    assert any(
        count[setting] != count["plain"] for _, count in choices.values() if setting in count
    )


def test_the_smallest_code_is_chosen_and_never_a_larger_one(choices: Choices) -> None:
    assert {chosen for chosen, _ in choices.values()} > {"plain"}
    assert all(count[chosen] == min(count.values()) for chosen, count in choices.values())


def test_by_default_only_likely_settings_are_tried(choices: Choices, tmp_path: Path) -> None:
    likely = read_choices(SOURCE, tmp_path)
    tried, all_tried = (sum(len(count) - 1 for _, count in c.values()) for c in (likely, choices))
    assert 0 < tried < all_tried / 3
    assert read_choices(SOURCE, tmp_path) == likely


def test_likely_settings_save_most_of_the_bytes(choices: Choices, tmp_path: Path) -> None:
    likely = read_choices(SOURCE, tmp_path)
    saved, most = (
        sum(count["plain"] - count[chosen] for chosen, count in c.values())
        for c in (likely, choices)
    )
    assert 0.85 * most < saved < most


def test_unlikely_settings_are_tried_from_twice_the_code_on(
    choices: Choices, tmp_path: Path
) -> None:
    below = read_choices(SOURCE, tmp_path, ",effort=199")
    tried, all_tried = (sum(len(count) - 1 for _, count in c.values()) for c in (below, choices))
    assert tried < all_tried / 2


def test_the_frame_pointer_is_dropped_where_few_values_are_kept(tmp_path: Path) -> None:
    source = tmp_path / "small.cpp"
    source.write_text(SMALL)
    ((name, (chosen, count)),) = read_choices(source, tmp_path).items()
    assert (name, chosen) == ("_Z5smalli", "frame")
    assert count["frame"] < count["plain"]
