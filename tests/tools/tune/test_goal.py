# SPDX-License-Identifier: MIT
"""A goal is its word in files and on the command line, and knows what decides."""

import json
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from compiler_gym.builds import measure_sizes
from compiler_gym.errors import InvalidParameterError
from compiler_gym.tools.tune import Goal, Measure, Request, columns
from compiler_gym.tools.tune.goal import sizes_by_measure

TABLE = "const int table[1024] = {1};\nint main(int n, char **v) { return table[n]; }\n"


def test_a_goal_is_written_as_its_word() -> None:
    assert [f"{goal}" for goal in Goal] == ["size", "speed"]
    assert msgspec.to_builtins(Goal.SPEED) == "speed"
    assert json.dumps(Goal.SIZE) == '"size"'


def test_bytes_decide_for_size_and_runs_for_speed() -> None:
    assert [goal.counts_bytes for goal in Goal] == [True, False]
    assert (Goal.SIZE.format_cost(1234.0), Goal.SPEED.format_cost(0.123456)) == (
        "1,234 bytes",
        "0.1235 s",
    )


def test_a_request_takes_the_word_and_refuses_others() -> None:
    assert Request(("make",), Path(), Path("out"), goal="speed").goal is Goal.SPEED  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="no goal 'beauty': use size or speed"):
        Request(("make",), Path(), Path("out"), goal="beauty")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="no goal 'both': use size with --max-slowdown"):
        Request(("make",), Path(), Path("out"), goal="both")  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def stripped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measure")
    (folder / "main.c").write_text(TABLE)
    subprocess.run(["cc", "-g", "main.c", "-o", "whole"], cwd=folder, check=True)
    subprocess.run(["strip", "whole", "-o", "stripped"], cwd=folder, check=True)
    return folder / "stripped"


def test_data_counts_as_code_does(stripped: Path) -> None:
    assert Measure.LOADED.of(stripped) > Measure.TEXT.of(stripped) + 4096


def test_symbols_are_not_loaded(stripped: Path) -> None:
    whole = stripped.with_name("whole")
    assert Measure.FILE.of(whole) > Measure.FILE.of(stripped)
    for measure in Measure:
        one = measure.with_symbols
        assert one.of(whole) == one.of(stripped)


@pytest.mark.skipif(shutil.which("zstd") is None, reason="needs zstd")
def test_compressed_is_what_zstd_leaves(stripped: Path) -> None:
    made = subprocess.run(
        ["zstd", "-19", "--no-check", "-c", stripped], capture_output=True, check=True
    ).stdout
    assert abs(Measure.COMPRESSED.of(stripped) - len(made)) < 32


def test_slow_measurements_are_made_on_demand(stripped: Path) -> None:
    usual = sizes_by_measure(stripped, Measure.LOADED)
    assert set(usual) == {"text", "loaded", "total"}
    packed = sizes_by_measure(stripped, Measure.COMPRESSED)
    assert columns({"a": packed}) == list(Measure)
    assert columns({"a": packed, "b": usual}) == [Measure.TEXT, Measure.LOADED, Measure.FILE]


def test_an_object_counts_the_sections_that_are_linked(stripped: Path) -> None:
    folder = stripped.parent
    subprocess.run(["cc", "-g", "-c", "main.c"], cwd=folder, check=True)
    sizes = measure_sizes(folder / "main.o")
    assert sizes.text + 4096 <= sizes.loaded < sizes.total


def test_another_measure_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidParameterError, match=r"'bss': use one of text, loaded, file"):
        Measure("bss")
