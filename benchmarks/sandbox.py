# SPDX-License-Identifier: MIT
"""What a box costs a run of a program, and whether times that are measured in it stay precise.

Runs in each tier are made in turns, so that a machine that is busy is busy for all of them. The
time of a whole run is that of everything `run_contained` does; what a run without a sandbox
takes is what a box adds to. The median of many is kept: a mean shows the other users of the
machine.
"""

import resource
import time
from collections.abc import Callable
from statistics import median, quantiles

from benchmarks.measure import Figure
from compiler_gym.datasets import RunCase, RunReport, run_contained
from compiler_gym.sandbox import Sandbox, available
from compiler_gym.sandbox.box import try_way
from compiler_gym.sandbox.ways import BUBBLEWRAP, OWN

RUNS = 200
TIMED = 40
BUSY = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
MOST_ADDED_MS = 5.0


def measure() -> list[Figure]:
    return [*_whole_runs(), *_probes(), *_precision()]


def _whole_runs() -> list[Figure]:
    seconds: dict[Sandbox, list[float]] = {tier: [] for tier in available()}
    processor: dict[Sandbox, float] = dict.fromkeys(seconds, 0.0)
    case = RunCase(files={"input": b"x" * 100_000}, outputs=("input",))
    for _ in range(RUNS):
        for tier in seconds:
            before, started = _processor_seconds(), time.perf_counter()
            run_contained(["/bin/true"], case, sandbox=tier)
            seconds[tier].append(time.perf_counter() - started)
            processor[tier] += _processor_seconds() - before
    base = median(seconds[Sandbox.NONE])
    figures = [Figure("a whole run of /bin/true, none", base * 1e3, "ms")]
    for tier in seconds:
        if tier is Sandbox.NONE:
            continue
        added = (median(seconds[tier]) - base) * 1e3
        figures.append(Figure(f"added by {tier.value}", added, "ms", MOST_ADDED_MS))
        more = (processor[tier] - processor[Sandbox.NONE]) / RUNS * 1e3
        figures.append(Figure(f"added by {tier.value}, processor time", more, "ms"))
    return figures


def _probes() -> list[Figure]:
    figures: list[Figure] = []
    for way in (OWN, BUBBLEWRAP):
        started = time.perf_counter()
        if not try_way(way):
            spent = time.perf_counter() - started
            figures.append(Figure(f"finding out that {way.name} works", spent * 1e3, "ms"))
    return figures


def _precision() -> list[Figure]:
    """Return how far apart the times of one program lie, by the clock and the processor."""
    times: dict[Sandbox, list[RunReport]] = {tier: [] for tier in available()}
    for _ in range(TIMED):
        for tier in times:
            times[tier].append(run_contained(["/bin/sh", "-c", BUSY], sandbox=tier))
    figures: list[Figure] = []
    for tier, reports in times.items():
        for name, of in _CLOCKS.items():
            figures.append(
                Figure(f"{name}, {tier.value}: median", median(map(of, reports)) * 1e3, "ms")
            )
            figures.append(
                Figure(f"{name}, {tier.value}: half lie within", _spread(reports, of), "%")
            )
    return figures


_CLOCKS: dict[str, Callable[[RunReport], float]] = {
    "wall time": lambda report: report.seconds,
    "processor time": lambda report: report.cpu_seconds,
}


def _spread(reports: list[RunReport], of: Callable[[RunReport], float]) -> float:
    low, middle, high = quantiles(map(of, reports), n=4)
    return 100 * (high - low) / middle


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
