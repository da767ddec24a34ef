# SPDX-License-Identifier: MIT
import pytest

from compiler_gym.compat.old_helpers import (
    Timer,
    arithmetic_mean,
    emph,
    geometric_mean,
    humanize_duration,
    indent,
    join_cmd,
    plural,
    stdev,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2e-8, "20.0ns"), (5e-4, "500.0us"), (-0.25, "-250.0ms"), (1, "1.000s"), (61, "61.0s")],
)
def test_a_duration_gets_the_unit_that_fits(seconds: float, text: str) -> None:
    assert humanize_duration(seconds) == text


def test_a_timer_with_a_label_reports_and_then_stands_still() -> None:
    lines: list[str] = []
    with Timer("Counted", lines.append) as timer:
        assert timer.time >= 0
    assert lines == [f"Counted in {timer}"]
    assert timer.time == timer.time
    assert timer.reset() is timer


def test_texts_for_a_terminal() -> None:
    assert "x" in emph("x")
    assert plural(0, "step", "steps") == "0 steps"
    assert indent("a\nb", 2) == "  a\n  b"
    assert join_cmd(["cc", "a b.c"]) == "cc 'a b.c'"


def test_means_are_zero_where_there_is_none() -> None:
    assert (arithmetic_mean([1, 2, 6]), geometric_mean([1, 2, 4]), stdev([1, 3])) == (3, 2, 1)
    assert arithmetic_mean([]) == geometric_mean([]) == geometric_mean([3, 0]) == stdev([]) == 0
    with pytest.raises(ValueError, match="positive"):
        geometric_mean([-1, 2])
