# SPDX-License-Identifier: MIT
"""The picture that README and the home page begin with says what the guide measured."""

from pathlib import Path

from docs.draw import IMAGES, architecture, measured_projects, projects


def test_the_picture_of_projects_is_drawn_from_the_present_table(tmp_path: Path) -> None:
    projects().save(tmp_path / "projects.svg")
    assert (tmp_path / "projects.svg").read_bytes() == (IMAGES / "projects.svg").read_bytes(), (
        "expected `python -m docs.draw projects` after a change of the guide's table"
    )


def test_the_table_of_whole_files_is_found() -> None:
    rows = measured_projects()
    assert len(rows) >= 3
    assert all(0 < ours < rival for _, rival, ours in rows)


def test_the_picture_of_the_layers_is_drawn_from_the_present_contract(tmp_path: Path) -> None:
    architecture().save(tmp_path / "layers.svg")
    drawn = (IMAGES / "architecture-layers.svg").read_bytes()
    assert (tmp_path / "layers.svg").read_bytes() == drawn, (
        "expected `python -m docs.draw architecture-layers` after a change of the layers"
    )
