# SPDX-License-Identifier: MIT
"""What the recipes and the policy for size cost in speed, on the programs of ``cbench-v1``.

python -m scripts.recipe_speed --output speeds.jsonl --pairs 5

Each program is compiled from source with the fair rival, ``-O2 -flto``, both recipes and the
policy. Counted are the instructions that it runs on a small case, which noise does not change,
and, in turns with the rival, the least processor time on its largest case. A build that prints
something else than it should is an error. What is in the file is not measured again.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import compiler_gym
from compiler_gym.datasets import MeasuredRuns
from compiler_gym.statistics import geometric_interval

_PROGRAMS = Path(__file__).parents[1] / "programs"
_RIVAL = "rival"
_FLAGS = ("-std=c11", "-ffp-contract=off", "-w")
_OURS = (sys.executable, "-m", "compiler_gym", "cc")
WAYS = {
    _RIVAL: ("clang-22", "-Oz", "-flto", "-fuse-ld=lld", "-Wl,--gc-sections,--icf=safe"),
    "-O2": ("clang-22", "-O2", "-flto", "-fuse-ld=lld", "-Wl,--gc-sections"),
    "small": (*_OURS, "--recipe", "small"),
    "small-packed": (*_OURS, "--recipe", "small-packed"),
    "size": (*_OURS, "--policy", "size"),
    "size without plug-in": (*_OURS, "--policy", "size", "--no-plugin"),
}
_TIMED = ("small", "size")
"""The others differ in relocations alone, or are no subject of ours."""


def measured(name: str, runs: MeasuredRuns, pairs: int) -> Iterator[dict[str, Any]]:
    """Yield what each way of compiling the program `name` makes of its speed."""
    told = tomllib.loads((_PROGRAMS / name / "program.toml").read_text())
    sources = [str(_PROGRAMS / name / source) for source in told["sources"]]
    with tempfile.TemporaryDirectory() as folder:
        for way, words in WAYS.items():
            command = [*words, *_FLAGS, *sources, *told["link"], "-o", f"{folder}/{way}"]
            subprocess.run(command, check=True, capture_output=True)
            yield {"way": way, "instructions": runs.instructions(Path(folder, way))}
        for way in _TIMED if pairs else ():
            both = Path(folder, _RIVAL), Path(folder, way)
            rival, ours = runs.in_turns(both, count=pairs, warmups=1)
            yield {"way": way, "seconds": min(ours), "rival_seconds": min(rival)}


def lines_of(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a line for each way and measure: mean and interval beside the rival, best and worst."""
    counted = [row for row in rows if "instructions" in row]
    rival = {row["program"]: row["instructions"] for row in counted if row["way"] == _RIVAL}
    for way in WAYS:
        more = {
            row["program"]: row["instructions"] / rival[row["program"]]
            for row in counted
            if row["way"] == way
        }
        longer = {
            row["program"]: row["seconds"] / row["rival_seconds"]
            for row in rows
            if row["way"] == way and "seconds" in row
        }
        for measure, ratios in (("instructions", more), ("seconds", longer)):
            if ratios:
                low, *_, high = sorted(ratios, key=ratios.__getitem__)
                yield (
                    f"{way} {measure}: {geometric_interval(list(ratios.values()))}, "
                    f"{len(ratios)} programs, {low} {ratios[low]:.3f} to {high} {ratios[high]:.3f}"
                )


def main() -> None:
    """Measure what is not in the file, and say what there is."""
    given = argparse.ArgumentParser(prog="python -m scripts.recipe_speed", description=__doc__)
    given.formatter_class = argparse.RawDescriptionHelpFormatter
    given.add_argument("--output", type=Path, required=True)
    given.add_argument("--pairs", type=int, default=5, help="0: instructions alone")
    asked = given.parse_args()
    asked.output.touch()
    rows = [json.loads(line) for line in asked.output.read_text().splitlines()]
    known = {row["program"] for row in rows}
    with compiler_gym.make("llvm-v0") as env, asked.output.open("a") as kept:
        for benchmark in env.datasets["benchmark://cbench-v1"].benchmarks():
            name = str(benchmark.uri).rpartition("/")[2]
            if name in known:
                continue
            found = [
                {"program": name, **row}
                for row in measured(name, MeasuredRuns(benchmark.run), asked.pairs)
            ]
            kept.writelines(f"{json.dumps(row)}\n" for row in found)
            kept.flush()
            rows += found
            print(name, flush=True)
    print(*lines_of(rows), sep="\n")


if __name__ == "__main__":
    main()
