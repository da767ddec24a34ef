# SPDX-License-Identifier: MIT
"""The picture is drawn from what is known at each moment."""

import sys
from pathlib import Path

import pytest

from compiler_gym.envs.llvm.demonstration import plot

from .rows import row


def test_the_count_known_at_a_moment_is_the_best_until_then() -> None:
    one = row(history=[(1.0, 105), (2.0, 90), (3.0, 95)])
    assert [plot._count_at(one, time) for time in (0.0, 1.0, 2.5, 9.0)] == [110, 105, 90, 90]


@pytest.mark.parametrize("count", [0, 2])
def test_a_picture_is_written_of_any_number_of_programs(tmp_path: Path, count: int) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    rows = [row(name=f"p{n}", history=[(1.0, 90), (2.0, 80)]) for n in range(count)]
    plot.draw(rows, tmp_path / "results.png", seconds=5.0)
    assert (tmp_path / "results.png").read_bytes().startswith(b"\x89PNG")


def test_without_matplotlib_there_is_no_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="matplotlib"):
        plot.draw([row()], tmp_path / "results.png", seconds=5.0)
    assert not (tmp_path / "results.png").exists()
