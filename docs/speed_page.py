# SPDX-License-Identifier: MIT
"""The page of every benchmark: what it measures, its command, and the figures last stored."""

import ast
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure
from docs.observation_examples import RESULTS

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def speed_page() -> str:
    """Return the page made from the stored figures."""
    stored: dict[str, list[dict[str, Any]]] = json.loads(RESULTS.read_text(encoding="utf-8"))
    machine = stored.pop("machine")[0]
    lines = [
        "# Speed",
        "",
        f"Figures of one machine: {machine['processor']}, {machine['system']}.",
        "A bound is what was promised of a figure; one that was not kept is marked.",
        "`make bench` measures everything again, and each section's command its own table.",
        "",
    ]
    for name in sorted(stored):
        lines += _section(name, stored[name])
    return "\n".join(lines)


def _section(name: str, figures: list[dict[str, Any]]) -> Iterator[str]:
    said = ast.get_docstring(ast.parse((BENCHMARKS / f"{name}.py").read_text(encoding="utf-8")))
    assert said is not None
    yield from (f"## {name}", "", said, "", "```text", f"python -m benchmarks {name}", "```", "")
    yield from ("| figure | measured | bound | |", "| --- | ---: | ---: | --- |")
    for stored in figures:
        figure = Figure(**{key: value for key, value in stored.items() if key != "holds"})
        mark = "not kept" if figure.holds is False else ""
        yield f"| {figure.name} | {figure.measured} | {figure.promise} | {mark} |"
    yield ""
