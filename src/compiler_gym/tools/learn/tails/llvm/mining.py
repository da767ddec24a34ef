# SPDX-License-Identifier: MIT
"""Search for tails that make functions smaller, in worker processes like those of ``engine``."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from compiler_gym import _llvm
from compiler_gym.tools.learn.tails.llvm.engine import NOTHING, count_instructions, to_numbers

__all__ = ["Mined", "mine"]

Tail = tuple[str, ...]
"""The pipelines of a tail's passes."""
_BEAMS = ((6, 62), (4, 45), (3, 30), (3, 30), (3, 30))
"""For each further pass: the beginnings to continue, and the passes to continue them with."""
_MOST_GROWTH = 1.3
"""Beginnings that make a function larger by more than this factor are not continued."""
_SMALLEST, _LARGEST = 8, 600
"""The instructions of functions to mine."""


@dataclass(frozen=True, slots=True)
class Mined:
    """The tails that make a function smaller."""

    name: str
    instructions: int
    """The size of the base."""
    tails: dict[str, int]
    """The instructions left by each tail that leaves fewer; of equal results, the first."""


def mine(base: bytes, passes: Sequence[str], most_instructions: int, seed: int) -> list[Mined]:
    """Search for tails of functions of a base, each function on its own.

    It draws functions until they have `most_instructions` together. `passes` come in the order of
    their usefulness: longer tails are continued with fewer. A function that no tail of two passes
    makes smaller is given up, later one whose last pass did not help.
    """
    module = _llvm.Module(base)
    draw = random.Random(seed)
    sizes = _draw_functions(count_instructions(module), most_instructions, draw)
    results: dict[str, dict[Tail, int]] = {name: {} for name in sizes}
    seen: dict[str, set[int]] = {name: set() for name in sizes}
    _try(module, {name: [()] for name in sizes}, seen)
    level = _try(module, {name: [(item,) for item in passes] for name in sizes}, seen)
    for depth, (width, count) in enumerate((*_BEAMS, (0, 0))):
        following: dict[str, list[Tail]] = {}
        for name, new in level.items():
            least = min(results[name].values(), default=sizes[name])
            results[name] |= {tail: left for tail, left in new.items() if left < sizes[name]}
            if depth == 0 or min(results[name].values(), default=sizes[name]) < least:
                following[name] = [
                    (*begin, item)
                    for begin in _beginnings(new, _MOST_GROWTH * sizes[name] + 4, width, draw)
                    for item in passes[:count]
                ]
        level = _try(module, following, seen)
    return [
        Mined(name, size, {",".join(tail): left for tail, left in results[name].items()})
        for name, size in sizes.items()
    ]


def _draw_functions(sizes: dict[str, int], most: int, draw: random.Random) -> dict[str, int]:
    names = [name for name, size in sizes.items() if _SMALLEST <= size <= _LARGEST]
    draw.shuffle(names)
    chosen: dict[str, int] = {}
    for name in names:
        if sum(chosen.values()) + sizes[name] <= most:
            chosen[name] = sizes[name]
    return chosen


def _beginnings(
    new: Mapping[Tail, int], largest: float, width: int, draw: random.Random
) -> list[Tail]:
    """Return half of them because they are the smallest, and half at random."""
    ranked = sorted(new, key=lambda tail: new[tail])
    smallest = ranked[: (width + 1) // 2]
    others = [tail for tail in ranked[len(smallest) :] if new[tail] <= largest]
    return smallest + draw.sample(others, min(width - len(smallest), len(others)))


def _try(
    module: _llvm.Module,
    tails: Mapping[str, Sequence[Tail]],
    seen: Mapping[str, set[int]],
) -> dict[str, dict[Tail, int]]:
    """Return the instructions that tails leave whose results were not `seen` before."""
    texts = [(name, [",".join(tail) or NOTHING for tail in own]) for name, own in tails.items()]
    counts, hashes, _ = _llvm.try_on(module, texts)
    left = iter(np.frombuffer(counts, "<i8").tolist())
    results = iter(to_numbers(hashes))
    new: dict[str, dict[Tail, int]] = {}
    for name, own in tails.items():
        new[name] = {}
        for tail in own:
            count, result = next(left), next(results)
            if result not in seen[name]:
                seen[name].add(result)
                new[name][tail] = count
    return new
