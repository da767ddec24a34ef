# SPDX-License-Identifier: MIT
"""The page of every benchmark: what it measures, its command, and the figures last stored."""

import ast
from collections.abc import Iterator
from pathlib import Path

from benchmarks import store
from benchmarks.measure import Figure

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def speed_page() -> str:
    """Return the page made from the stored figures."""
    stored = {name: store.read(name) for name in store.sections()}
    machines = sorted({section.machine for section in stored.values()})
    lines = [
        "# Speed",
        "",
        f"Figures of {'one machine' if len(machines) == 1 else 'machines'}: {'; '.join(machines)}.",
        "A bound is what was promised of a figure, and the last column says whether it was kept; "
        "where both are empty, nothing was promised.",
        "`make bench` measures everything again, and each section's command its own table.",
        "",
    ]
    for name, section in stored.items():
        lines += _section(name, section.figures)
    return "\n".join(lines)


def _section(name: str, figures: list[Figure]) -> Iterator[str]:
    said = ast.get_docstring(ast.parse((BENCHMARKS / f"{name}.py").read_text(encoding="utf-8")))
    assert said is not None
    yield from (f"## {name}", "", said, "", "```text", f"python -m benchmarks {name}", "```", "")
    yield from ("| figure | measured | bound | kept |", "| --- | ---: | ---: | --- |")
    for figure in figures:
        mark = {None: "", True: "yes", False: "no"}[figure.holds]
        yield f"| {figure.name} | {figure.measured} | {figure.promise} | {mark} |"
    yield ""
