# SPDX-License-Identifier: MIT
"""What it costs that the inliner asks: ``python -m benchmarks.inlining`` prints it.

Processor time of whole pipelines, with and without questions, taking turns; the best of several.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.measure import Figure
from compiler_gym import _llvm

PROGRAMS = ("patricia", "sha", "qsort", "gsm", "bzip2", "lame")
ROUNDS = 15


def measure() -> list[Figure]:
    """Return microseconds a call, over all programs."""
    modules = [_program(name) for name in PROGRAMS]
    plain, asking, looking = _shortest([_plain, _asking, _looking], modules)
    calls = sum(map(_asking, modules))
    return [
        Figure("asking, above the inliner itself", (asking - plain) / calls * 1e6, "us a call", 20),
        Figure("InlineFeatures of a call", (looking - asking) / calls * 1e6, "us a call"),
        Figure("share of the pipeline's time", (asking - plain) / plain * 100, "%"),
    ]


def _shortest(
    ways: Sequence[Callable[[bytes], object]], modules: Sequence[bytes]
) -> tuple[float, ...]:
    """Return the processor time of each way for all modules."""
    best = {(way, number): float("inf") for way in ways for number in range(len(modules))}
    for _ in range(ROUNDS):
        for number, module in enumerate(modules):
            for way in ways:
                began = time.process_time()
                way(module)
                took = time.process_time() - began
                best[way, number] = min(best[way, number], took)
    return tuple(sum(best[way, number] for number in range(len(modules))) for way in ways)


def _plain(contents: bytes) -> None:
    _llvm.Module(contents).apply_level("Oz")


def _asking(contents: bytes) -> int:
    inlining = _llvm.Inlining(_llvm.Module(contents), "Oz")
    while not inlining.is_over:
        inlining.answer("default")
    return len(inlining.decisions)


def _looking(contents: bytes) -> None:
    inlining = _llvm.Inlining(_llvm.Module(contents), "Oz")
    while not inlining.is_over:
        inlining.features()
        inlining.answer("default")


def _program(name: str) -> bytes:
    return (Path(__file__).parents[1] / "programs" / name / f"{name}.bc").read_bytes()


if __name__ == "__main__":
    for figure in measure():
        print(f"{figure.name}: {figure.measured} {figure.promise}")
