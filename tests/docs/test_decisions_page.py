# SPDX-License-Identifier: MIT
"""The page of decisions: arithmetic on what the searches found."""

import json
from pathlib import Path

from docs.decisions_page import FOUND, decisions_page


def row(program: str, space: str, found: int, actions: str = "-Oz", **more: object) -> str:
    values: dict[str, object] = {
        "program": program, "cost": "text", "space": space, "compilations": 10, "O0": 400,
        "OptOz": 200, "Oz": 100, "found": found, "actions": actions, "without": {}, "valid": "yes",
    }  # fmt: skip
    return json.dumps(values | more)


def page_of(tmp_path: Path, *rows: str) -> list[str]:
    path = tmp_path / "found.jsonl"
    path.write_text("\n".join(rows) + "\n")
    return decisions_page(path).splitlines()


def test_the_least_is_shown_and_means_are_against_both_baselines(tmp_path: Path) -> None:
    lost = {"call=never (2)": 8, "passes": 4}
    actions = "call:1=never call:2=never sroa regalloc=basic"
    lines = page_of(
        tmp_path,
        row("a", "passes", 90), row("a", "all", 80, actions, without=lost),
        row("b", "passes", 40), row("b", "all", 45, valid="it differs"),
    )  # fmt: skip
    assert "| a | 10 | 200 | 100 | 90 (-10.0%) | **80 (-20.0%)** |" in lines
    assert "| b | 10 | 200 | 100 | **40 (-60.0%)** | 45 (-55.0%) |" in lines
    assert "- passes: -40.0%, the least of 1" in lines
    means = next(line for line in lines if "mean against opt" in line)
    assert means.endswith("| **-70.0%** | **-70.0%** |")
    assert "| `call=never` | 1 | 1 | +10.00% | +10.00% |" in lines
    assert not any(line.startswith("| `regalloc=basic`") for line in lines)
    assert "| a | `call=never (2)` +8, `passes` +4 |" in lines
    assert any(line.startswith("3 of the 4 programs that were found passed") for line in lines)


def test_a_program_that_is_not_searched_everywhere_is_in_no_mean(tmp_path: Path) -> None:
    lines = page_of(tmp_path, row("a", "passes", 50), row("a", "all", 50), row("b", "passes", 10))
    assert "- passes: -50.0%, the least of 1" in lines
    assert "| b | 10 | 200 | 100 | **10 (-90.0%)** |  |" in lines


def test_every_bundled_program_is_on_the_page() -> None:
    rows = [json.loads(line) for line in FOUND.read_text().splitlines()]
    assert {row["valid"] for row in rows} == {"yes"}
    assert len({row["program"] for row in rows if row["cost"] == "text"}) == 23
