# SPDX-License-Identifier: MIT
"""Run sections of the benchmarks (default: all) and print their figures.

``--store`` also keeps them under ``benchmarks/results/``, where ``make docs`` reads them.
"""

import argparse
import ast
import importlib
import os
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks import peer, store
from benchmarks.measure import Figure, NotSetUpError
from compiler_gym._columns import keep_large_blocks

SECTIONS = (
    "engine",
    "changes",
    "marks",
    "observations",
    "steps",
    "start",
    "resets",
    "fork",
    "scaling",
    "vector",
    "share",
    "search",
    "caching",
    "collection",
    "agents",
    "soak",
    "memory",
    "profiling",
    "peer",
    "datasets",
    "gcc",
    "loop_nests",
    "loop_card",
    "mlir",
    "schedules",
    "sandbox",
    "validation",
    "planted",
)
"""Each a file of this folder with a function `measure`, in the order they run."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what the command line names."""
    parser = _parser()
    options = parser.parse_args(arguments)
    for name in set(options.sections) - set(SECTIONS):
        parser.error(f"no section {name!r}; there are {', '.join(SECTIONS)}")
    if options.peer is not None:
        os.environ[peer.VARIABLE] = str(options.peer)
    keep_large_blocks()
    console = Console()
    for name in options.sections or SECTIONS:
        try:
            with console.status(f"measuring {name}"):
                figures: list[Figure] = importlib.import_module(f"benchmarks.{name}").measure()
        except NotSetUpError as error:
            console.print(f"{name}\n  not measured: {error}", soft_wrap=True)
            continue
        console.print(_table(name, figures))
        if options.store:
            console.print(f"Stored in {store.write(name, figures, options.folder)}")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog="sections:\n" + "\n".join(f"  {name:13} {purpose(name)}" for name in SECTIONS),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION")
    parser.add_argument(
        "--peer", type=Path, metavar="DIR", help="where CompilerGym 0.2.5 is set up"
    )
    parser.add_argument("--store", action="store_true", help="keep the figures for the docs")
    parser.add_argument("--folder", type=Path, default=store.RESULTS, help="where they are kept")
    return parser


def purpose(name: str) -> str:
    """Return the first line of what section `name` says of itself."""
    text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]


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


if __name__ == "__main__":
    main()
