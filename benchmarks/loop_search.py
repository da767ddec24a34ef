# SPDX-License-Identifier: MIT
"""Searches of loop nests compared: ``python -m benchmarks.loop_search`` goes on where it was.

Runs ``agents/loop_policy.py`` on LoopTune's held-out matmuls, on one thread, and writes the table
of the guide. It takes the better part of an hour: ``--minutes`` stops it earlier, ``--table`` runs
nothing.
"""

import argparse
import importlib.util
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.tables import write_table

__all__ = ["PAGE", "RESULTS", "load_agent", "main", "text_of"]

RESULTS = Path(__file__).with_name("loop_search.json")
PAGE = Path(__file__).parents[1] / "docs" / "results" / "loop-nests.md"
AGENT = Path(__file__).parents[1] / "agents" / "loop_policy.py"


def main(arguments: Sequence[str] | None = None) -> None:
    """Go on with the searches, and write the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loop_search", description=__doc__)
    parser.add_argument("--minutes", default="inf", help="stop after that many minutes")
    parser.add_argument("--long_programs", default="3", help="how many programs have 60 s")
    parser.add_argument("--table", action="store_true", help="write the table and run nothing")
    options = parser.parse_args(arguments)
    agent = load_agent()
    if not options.table:
        words = [f"--minutes={options.minutes}", f"--long_programs={options.long_programs}"]
        agent.main([f"--results={RESULTS}", "--seconds=0.5,5", *words])
    write_table("loop-search", text_of(agent, json.loads(RESULTS.read_text("utf-8"))), PAGE)


def text_of(agent: Any, results: dict[str, Any]) -> str:
    """Return the table of the guide: a row for each method, a column for each time."""
    cells: dict[tuple[str, str], str] = {}
    counts: dict[str, int] = {}
    for name, seconds, count, mean, least, most in agent.table(results):
        cells[name, seconds] = f"{mean:.1f} ({least:.1f} to {most:.1f})"
        counts[seconds] = count
    heads = [
        f"{seconds} s, {count} program{'s' * (count != 1)}" for seconds, count in counts.items()
    ]
    lines = [f"| method | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    for name in agent.METHODS:
        row = " | ".join(cells.get((name, seconds), "") for seconds in counts)
        lines.append(f"| {name} | {row} |")
    return "\n".join(lines)


def load_agent() -> Any:
    """Return the agent's file as a module."""
    spec = importlib.util.spec_from_file_location("loop_policy", AGENT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    main()
