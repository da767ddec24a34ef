# SPDX-License-Identifier: MIT
"""Measure the speedup of one build over another with the user's own command.

Builds run alternately and only processor time counts, so that other load on the machine affects
all of them alike. Instruction counts help where the confidence interval includes 1.
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
"""The minimum number of rounds that confirm a result: fewer have no confidence interval."""
_SLOWER = 60.0
"""The largest slowdown of a run while its instructions are counted."""
_LIMIT = 600.0


def compare_in_turns(
    run: RunCommand, baseline: Path, candidate: Path, rounds: int
) -> tuple[Comparison, float]:
    """Return the comparison of `candidate` with `baseline`, and the mean seconds of the latter."""
    before, after = run.alternate([baseline, candidate], rounds)
    return compare_fastest(before, after), sum(before) / len(before)


def as_speed(result: Comparison, prefix: str = "") -> dict[str, float]:
    """Return `result` as reports store it: ``speedup``, ``low`` and ``high``, after `prefix`.

    Too few runs have no interval: then ``low`` and ``high`` are absent.
    """
    speed = {"speedup": result.speedup}
    if math.isfinite(result.high):
        speed |= {"low": result.low, "high": result.high}
    return {f"{prefix}{name}": value for name, value in speed.items()}


def race(
    run: RunCommand,
    baseline: Path,
    candidates: Mapping[str, Path],
    *,
    rounds: tuple[int, int] = (2, 4),
    survivors: int = 2,
    is_over: Callable[[], bool] = lambda: False,
) -> dict[str, Comparison]:
    """Return the comparison of each candidate with `baseline`; promising ones run more often.

    Every candidate runs ``rounds[0]`` times; then the best `survivors` among those that look faster
    run ``rounds[1]`` more times. The others get an estimate without an interval. The best of
    many looks better than it is, so check it with `compare_in_turns`, which runs it again.
    """
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in candidates}

    def measure(names: list[str], count: int) -> None:
        for _ in range(count):
            if is_over():
                return
            runs = run.alternate([baseline, *(candidates[name] for name in names)], 1)
            for name, seconds in zip(names, runs[1:], strict=True):
                times[name][0].extend(runs[0])
                times[name][1].extend(seconds)

    def rank() -> dict[str, Comparison]:
        results = {name: compare_fastest(*pair) for name, pair in times.items()}
        return dict(sorted(results.items(), key=lambda item: -item[1].speedup))

    measure(list(candidates), rounds[0])
    promising = [name for name, result in rank().items() if result.speedup > 1]
    if promising:
        measure(promising[:survivors], rounds[1])
    return rank()


def instructions(run: RunCommand, binary: Path, seconds: float) -> int | None:
    """Return the number of instructions that `binary` executes in one run; None if unknown.

    `seconds` is the normal duration of the run. If counting could take longer than ten minutes, it
    is not tried.
    """
    if seconds * _SLOWER > _LIMIT:
        return None
    try:
        with scratch_directory("counting") as folder:
            return _count_runs(run, binary, Path(folder))
    except CompilerGymError:
        return None


def _count_runs(run: RunCommand, binary: Path, folder: Path) -> int | None:
    """Run a script in place of the binary that counts the instructions of the real one."""
    real, script, counts = folder / binary.name, folder / "count.sh", folder / "counts"
    counts.mkdir()
    real.write_bytes(binary.read_bytes())
    real.chmod(0o755)
    counter = counting_command(f"{counts}/")
    script.write_text(f'#!/bin/sh\nexec {counter.text} {shlex.quote(str(real))} "$@"\n')
    if run.has_failed(run.run(script)):
        return None
    return counter.total(path.read_bytes() for path in counts.iterdir())
