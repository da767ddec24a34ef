# SPDX-License-Identifier: MIT
"""How much faster one build is than another, by the user's own command.

Builds run in turns, and only processor time counts, so that what else the machine does is
everybody's. Where the interval cannot tell, instructions can.
"""

import math
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from compiler_gym.datasets import counting_command
from compiler_gym.errors import CompilerGymError
from compiler_gym.files import scratch_directory
from compiler_gym.tools.tune.measuring import RunCommand
from compiler_gym.validation import Comparison, compare_fastest

__all__ = ["FEWEST_CONFIRMING", "as_speed", "compare_in_turns", "instructions", "race"]

FEWEST_CONFIRMING = 5
"""Rounds in which a run confirms a result, at least: fewer have no interval."""
_SLOWER = 60.0
"""How much longer a run may take while its instructions are counted, at most."""
_LIMIT = 600.0


def compare_in_turns(
    run: RunCommand, baseline: Path, candidate: Path, rounds: int
) -> tuple[Comparison, float]:
    """Return how `candidate` compares with `baseline`, and the seconds of one baseline's run."""
    before, after = run.alternate([baseline, candidate], rounds)
    return compare_fastest(before, after), sum(before) / len(before)


def as_speed(found: Comparison, prefix: str = "") -> dict[str, float]:
    """Return `found` as reports have it: ``speedup``, ``low`` and ``high``, after `prefix`.

    An interval that is not known, of few runs, is not there.
    """
    known = {"speedup": found.speedup}
    if math.isfinite(found.high):
        known |= {"low": found.low, "high": found.high}
    return {f"{prefix}{name}": value for name, value in known.items()}


def race(
    run: RunCommand,
    baseline: Path,
    candidates: Mapping[str, Path],
    *,
    rounds: tuple[int, int] = (2, 4),
    survivors: int = 2,
    is_over: Callable[[], bool] = lambda: False,
) -> dict[str, Comparison]:
    """Return how each candidate compares with `baseline`: the most promising run more often.

    Every candidate runs ``rounds[0]`` times; then the best `survivors` that look faster at all
    run ``rounds[1]`` times more. Those left behind have an estimate and no interval. The best of
    many looks better than it is: `compare_in_turns` tells with runs of its own.
    """
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in candidates}

    def measure(names: list[str], count: int) -> None:
        for _ in range(count):
            if is_over():
                return
            runs = run.alternate([baseline, *(candidates[name] for name in names)], 1)
            for name, found in zip(names, runs[1:], strict=True):
                times[name][0].extend(runs[0])
                times[name][1].extend(found)

    def rank() -> dict[str, Comparison]:
        found = {name: compare_fastest(*pair) for name, pair in times.items()}
        return dict(sorted(found.items(), key=lambda item: -item[1].speedup))

    measure(list(candidates), rounds[0])
    promising = [name for name, found in rank().items() if found.speedup > 1]
    if promising:
        measure(promising[:survivors], rounds[1])
    return rank()


def instructions(run: RunCommand, binary: Path, seconds: float) -> int | None:
    """Return what `binary` executes in one run; None where that cannot be counted.

    `seconds` is what the run takes without being counted: one that could take longer than ten
    minutes is not tried.
    """
    if seconds * _SLOWER > _LIMIT:
        return None
    try:
        with scratch_directory("counting") as folder:
            return _count_runs(run, binary, Path(folder))
    except CompilerGymError:
        return None


def _count_runs(run: RunCommand, binary: Path, folder: Path) -> int | None:
    """Let a script stand in the place of the binary, which counts what the real one does."""
    real, script, counts = folder / binary.name, folder / "count.sh", folder / "counts"
    counts.mkdir()
    real.write_bytes(binary.read_bytes())
    real.chmod(0o755)
    counter = counting_command(f"{counts}/")
    script.write_text(f'#!/bin/sh\nexec {counter.text} {shlex.quote(str(real))} "$@"\n')
    if run.has_failed(run.run(script)):
        return None
    return counter.total(path.read_bytes() for path in counts.iterdir())
