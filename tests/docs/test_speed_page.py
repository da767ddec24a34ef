# SPDX-License-Identifier: MIT
"""Figures are stored only when asked, a file for each section, and shown as they were measured."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import store
from benchmarks.__main__ import SECTIONS, main, purpose
from benchmarks.measure import Figure
from docs.speed_page import speed_page

FIGURES = [
    Figure("a step", 12.3456, "us", 15),
    Figure("two cores against one", 1.23456, "x", 1.8, "at least"),
    Figure("an episode", 1234.56, "us"),
]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure nothing where `steps` would be measured."""
    section = SimpleNamespace(measure=lambda: FIGURES)
    monkeypatch.setitem(sys.modules, "benchmarks.steps", section)  # type: ignore[arg-type]


def test_a_figure_is_shown_as_it_was_measured(tmp_path: Path) -> None:
    store.write("steps", FIGURES, tmp_path)
    kept = store.read("steps", tmp_path).figures
    shown = [(figure.measured, figure.promise, figure.holds) for figure in kept]
    assert shown == [(f.measured, f.promise, f.holds) for f in FIGURES]
    assert [figure.value for figure in kept] == [12.3, 1.23, 1235]
    assert store.sections(tmp_path) == ["steps"]


@pytest.mark.usefixtures("quick")
def test_to_measure_is_not_to_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["steps", "--folder", str(tmp_path)])
    assert "1.23 x" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []
    main(["steps", "--store", "--folder", str(tmp_path)])
    assert [path.name for path in tmp_path.iterdir()] == ["steps.json"]


def test_every_section_says_what_it_measures_and_others_are_refused(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert all(purpose(name) for name in SECTIONS)
    assert set(store.sections()) <= set(SECTIONS)
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "no section 'nothing'; there are engine," in capsys.readouterr().err


def test_a_promise_that_was_not_kept_is_marked() -> None:
    page = speed_page()
    assert store.read("steps").machine in page
    broken = [
        figure
        for name in store.sections()
        for figure in store.read(name).figures
        if figure.holds is False
    ]
    assert page.count("| no |") == len(broken)
