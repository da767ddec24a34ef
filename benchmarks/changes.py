# SPDX-License-Identifier: MIT
"""Knowing whether anything changed: its share of a random step, beside the same steps unasked."""

import os
import random
from collections.abc import Callable
from pathlib import Path
from time import process_time

from benchmarks.measure import Figure
from compiler_gym import _llvm

__all__ = ["measure"]

PROGRAMS = Path(__file__).parents[1] / "programs"
TABLE = Path(__file__).parents[1] / "src/compiler_gym/envs/llvm/passes.tsv"
STEPS, TURNS = 100, 4
INSTRUCTIONS = 30_000
"""About as many in all episodes of a program together."""


def measure() -> list[Figure]:
    """Return shares of processor time, of programs from small to large."""
    inputs = [
        _smallest(),
        *(_bitcode(name) for name in ("sha", "gsm", "tiffmedian", "ghostscript")),
    ]
    return [_share(data) for data in inputs]


def _smallest() -> bytes:
    return dict(_llvm.split_functions(_bitcode("crc32")))["sum_file"]


def _bitcode(program: str) -> bytes:
    return (PROGRAMS / program / f"{program}.bc").read_bytes()


def _share(data: bytes) -> Figure:
    size = _llvm.Module(data).instruction_count()
    asked = unasked = 0.0
    for episode in range(max(2, min(20, INSTRUCTIONS // size))):
        if not _survives(data, episode):
            continue
        best = {"run": float("inf"), "apply": float("inf")}
        for turn in range(TURNS):
            for way in ("run", "apply") if turn % 2 else ("apply", "run"):
                best[way] = min(best[way], _seconds(data, episode, way))
        asked, unasked = asked + best["run"], unasked + best["apply"]
    name = f"{size:,} instructions: share of a random step that asks for changes"
    return Figure(name, (1 - unasked / asked) * 100, "%", bound=15.0)


def _survives(data: bytes, seed: int) -> bool:
    """Return whether the steps end; a few sequences of passes crash the compiler."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            _seconds(data, seed, "apply")
            status = 0
        finally:  # the child must not go on as this process
            os._exit(status)
    return os.waitpid(child, 0)[1] == 0


def _seconds(data: bytes, seed: int, way: str) -> float:
    rows = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]]
    pipelines = [row[2] for row in rows if not row[3].startswith("risky")]
    actions = random.Random(seed).choices(pipelines, k=STEPS)
    module = _llvm.Module(data)
    module.run("no-op-module")
    act: Callable[[str], bool] = getattr(module, way)
    start = process_time()
    for action in actions:
        act(action)
    return process_time() - start
