# SPDX-License-Identifier: MIT
"""The picture that README and the home page begin with shows what was measured."""

from pathlib import Path

from docs.draw import IMAGES, architecture, projects
from scripts.projects.ladder import read_ladder


def test_the_picture_of_projects_is_drawn_from_the_present_table(tmp_path: Path) -> None:
    projects().save(tmp_path / "projects.svg")
    assert (tmp_path / "projects.svg").read_bytes() == (IMAGES / "projects.svg").read_bytes(), (
        "expected `python -m docs.draw projects` after `python -m scripts.projects ladder`"
    )


def test_each_project_has_every_step_and_tuning_makes_it_smaller() -> None:
    rows = read_ladder()
    assert len(rows) >= 3
    assert all(0 < sizes["tune"] < sizes["baseline"] <= sizes["-O2"] for sizes in rows.values())


def test_the_picture_of_the_layers_is_drawn_from_the_present_contract(tmp_path: Path) -> None:
    architecture().save(tmp_path / "layers.svg")
    drawn = (IMAGES / "architecture-layers.svg").read_bytes()
    assert (tmp_path / "layers.svg").read_bytes() == drawn, (
        "expected `python -m docs.draw architecture-layers` after a change of the layers"
    )
