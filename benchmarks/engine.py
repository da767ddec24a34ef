# SPDX-License-Identifier: MIT
"""The engine without its session: what each call costs on programs of three sizes."""

import random
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.measure import Figure, median_seconds
from compiler_gym import _llvm

__all__ = ["measure"]

PROGRAMS = Path(__file__).parents[1] / "programs"
TABLE = Path(__file__).parents[1] / "src/compiler_gym/envs/llvm/passes.tsv"
EPISODES, STEPS = 8, 25


def measure() -> list[Figure]:
    """Return medians per call at about 100, 1,000 and 10,000 instructions."""
    return [figure for data in _inputs() for figure in _figures(data)]


def _inputs() -> list[bytes]:
    small = dict(_llvm.split_functions(_bitcode("crc32")))["sum_file"]
    return [small, _bitcode("sha"), _bitcode("jpeg-c")]


def _bitcode(program: str) -> bytes:
    return (PROGRAMS / program / f"{program}.bc").read_bytes()


def _figures(data: bytes) -> list[Figure]:
    module = _llvm.Module(data)
    size = module.instruction_count()
    repeats = max(20, 200_000 // max(size, 200))
    module.run("no-op-module")
    calls = {
        "run a pass that does nothing": lambda: module.run("no-op-module"),
        "hash": partial(_hash, module),
        "count instructions": module.instruction_count,
        "autophase": module.autophase,
        "inst_count": module.inst_count,
        "bitcode": module.bitcode,
        "parse": lambda: _llvm.Module(data),
    }
    seconds = {name: median_seconds(call, repeats=repeats) for name, call in calls.items()}
    seconds["run a random action"] = _random_action(data)
    figures = [
        Figure(f"{size:,} instructions: {name}", value * 1e6, "us")
        for name, value in seconds.items()
    ]
    share = seconds["hash"] / seconds["bitcode"]
    name = f"{size:,} instructions: hash against writing bitcode"
    return [*figures, Figure(name, share, "x", bound=0.25)]


def _hash(module: _llvm.Module) -> bytes:
    """Return a hash that was not kept: what marks a module forgets it."""
    module.set_goal("size")
    return module.ir_hash()


def _random_action(data: bytes) -> float:
    rng = random.Random(0)
    rows = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]]
    pipelines = [row[2] for row in rows if row[3] != "risky"]
    times = []
    for _ in range(EPISODES):
        module = _llvm.Module(data)
        for pipeline in rng.choices(pipelines, k=STEPS):
            times.append(median_seconds(partial(module.run, pipeline), repeats=1))
    return median(times)
