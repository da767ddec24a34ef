# SPDX-License-Identifier: MIT
"""Run the benchmarks named on the command line (default: all) and store their figures."""

import argparse
import importlib
import json
import platform
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measure import Figure
from compiler_gym._columns import keep_large_blocks

ALL = (
    "engine",
    "observations",
    "steps",
    "start",
    "fork",
    "scaling",
    "vector",
    "caching",
    "soak",
    "datasets",
    "gcc",
    "validation",
)
LIMIT_HELP = "the promise each figure is held to, where there is one"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ALL))
    parser.add_argument("--output", type=Path, default=Path("benchmarks/results.json"))
    options = parser.parse_args()
    keep_large_blocks()
    console = Console()
    stored: dict[str, list[dict[str, object]]] = {}
    for name in options.names or ALL:
        with console.status(f"measuring {name}"):
            figures: list[Figure] = importlib.import_module(f"benchmarks.{name}").measure()
        stored[name] = [figure.to_json() for figure in figures]
        console.print(_table(name, figures))
    stored["machine"] = [{"system": platform.platform(), "processor": _processor()}]
    if options.output.exists():
        stored = json.loads(options.output.read_text()) | stored
    options.output.write_text(json.dumps(stored, indent=2) + "\n")
    console.print(f"Figures are in {options.output}")


def _table(name: str, figures: list[Figure]) -> Table:
    table = Table(title=name, title_justify="left", caption=None)
    table.add_column("figure")
    table.add_column("measured", justify="right")
    table.add_column("promise", justify="right")
    table.add_column("")
    for figure in figures:
        mark = "" if figure.holds is None else "[green]✓" if figure.holds else "[red]✗"
        table.add_row(figure.name, figure.measured, figure.promise, mark)
    return table


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


if __name__ == "__main__":
    main()
