# SPDX-License-Identifier: MIT
"""The figures that the reference pages show: one file per section, written only when asked.

Values are rounded to what a page can show, so that a file says what changed and no more.
"""

import json
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure

__all__ = ["RESULTS", "Section", "read", "sections", "write"]

RESULTS = Path(__file__).with_name("results")


@dataclass(frozen=True, slots=True)
class Section:
    """What was measured by one section, and where."""

    machine: str
    figures: list[Figure]


def sections(folder: Path = RESULTS) -> list[str]:
    """Return the names of the sections that have stored figures."""
    return sorted(path.stem for path in folder.glob("*.json"))


def read(name: str, folder: Path = RESULTS) -> Section:
    """Return what is stored of section `name`."""
    stored = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    return Section(stored["machine"], [Figure(**figure) for figure in stored["figures"]])


def write(name: str, figures: list[Figure], folder: Path = RESULTS) -> Path:
    """Store the figures of section `name`, measured on this machine."""
    lines = ",\n".join(f"    {json.dumps(_plain(figure))}" for figure in figures)
    machine = json.dumps(f"{_processor()}, {platform.platform()}")
    path = folder / f"{name}.json"
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'{{\n  "machine": {machine},\n  "figures": [\n{lines}\n  ]\n}}\n', encoding="utf-8"
    )
    return path


def _plain(figure: Figure) -> dict[str, Any]:
    plain: dict[str, Any] = {
        "name": figure.name,
        "value": float(_rounded(figure.value)),
        "unit": figure.unit,
    }
    if figure.bound is not None:
        plain |= {"bound": figure.bound, "direction": figure.direction}
    if figure.between is not None:
        plain["between"] = [float(_rounded(value)) for value in figure.between]
    return plain


def _rounded(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()
