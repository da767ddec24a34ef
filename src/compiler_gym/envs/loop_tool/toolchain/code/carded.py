# SPDX-License-Identifier: MIT
"""A loop tree that runs on a card of NVIDIA's, and is timed there by the card's own events."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from compiler_gym.envs.loop_tool.jit import Estimate
from compiler_gym.envs.loop_tool.state.program import Program
from compiler_gym.envs.loop_tool.state.reference import random_inputs
from compiler_gym.envs.loop_tool.state.tree import Loop, Node, Tree
from compiler_gym.envs.loop_tool.toolchain.code.card_process import call_on_card
from compiler_gym.envs.loop_tool.toolchain.code.compiled import tensor_memory
from compiler_gym.envs.loop_tool.toolchain.code.driver import Loaded, open_card
from compiler_gym.envs.loop_tool.toolchain.code.gpu import Kernels, lower_gpu, ptx
from compiler_gym.validation.timing import interval

__all__ = ["CardedNest", "card_nest", "card_seconds", "time_carded"]

Floats = NDArray[np.float32]

_SAMPLE = 5e-4
"""The seconds of one sample, at least: a thousand times what an event can tell apart."""
_FEWEST, _MOST = 5, 200
"""Number of samples that are taken of each nest where there is time."""
_POINT_SECONDS = 1e-7
"""What a thread takes for one point at most, each operand from the card's memory."""
_MOST_AT_ONCE = 10_000
"""Number of threads that any card runs at once."""


@dataclass(frozen=True, slots=True)
class CardedNest:
    """A tree as kernels in PTX for one card."""

    program: Program
    kernels: Kernels
    text: str
    """The PTX."""

    @property
    def threads(self) -> int:
        """Number of threads that the largest launch has."""
        return max(launch.blocks * launch.threads for launch in self.kernels.launches)

    def run(self, inputs: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the outputs of one run on `inputs`, which are not changed."""
        return call_on_card(_run_nest, self, inputs)


def card_nest(tree: Tree) -> CardedNest:
    """Return a tree as kernels for the card of this machine.

    `ObservationError` where there is no driver or no card.
    """
    architecture, kernels = call_on_card(_find_architecture), lower_gpu(tree)
    return CardedNest(tree.program, kernels, ptx(kernels, architecture))


def card_seconds(tree: Tree) -> float:
    """Return a bound of what one run takes on a card: points by the threads that share them."""
    launches = lower_gpu(tree).launches[-len(tree.roots) :]
    total = 0.0
    for root, launch in zip(tree.roots, launches, strict=True):
        points = sum(tree.program.points(tree.program.statements[leaf]) for leaf in _leaves(root))
        total += points / min(launch.blocks * launch.threads, _MOST_AT_ONCE) * _POINT_SECONDS
    return total


def time_carded(
    nests: Sequence[CardedNest], *, seconds: float = 0.01, noise: float = 0.01
) -> list[Estimate]:
    """Return how long one run of each nest takes, from runs in turns; copies are not counted.

    Each gets about `seconds`, but one run at least, and no more samples once the interval of
    every nest is within `noise` of its estimate.
    """
    samples, repeats = call_on_card(_sample_nests, nests, seconds, noise)
    found = [interval(ones) for ones in samples]
    return [
        Estimate(one.center, one.low, one.high, tuple(ones), len(ones) * count, False)
        for one, ones, count in zip(found, samples, repeats, strict=True)
    ]


def _find_architecture() -> str:
    return open_card().architecture


def _run_nest(nest: CardedNest, inputs: Mapping[str, Floats]) -> dict[str, Floats]:
    memory = tensor_memory(nest.program, inputs)
    arrays = list(memory.values())
    with open_card().load(nest.kernels, nest.text, arrays) as loaded:
        loaded.seconds()
        loaded.copy_back(arrays)
    return {tensor.name: memory[tensor.name] for tensor in nest.program.outputs}


def _sample_nests(
    nests: Sequence[CardedNest], seconds: float, noise: float
) -> tuple[list[list[float]], list[int]]:
    card = open_card()
    with ExitStack() as stack:
        loaded = [
            stack.enter_context(card.load(nest.kernels, nest.text, _draw_arrays(nest)))
            for nest in nests
        ]
        return _samples(loaded, seconds, noise)


def _samples(
    loaded: Sequence[Loaded], seconds: float, noise: float
) -> tuple[list[list[float]], list[int]]:
    """Return the seconds of one run in each sample of each nest, and the runs of a sample."""
    first = [one.seconds() for one in loaded]  # warms up; counted only if it took all the time
    if max(first) >= seconds:
        return [[one] for one in first], [1] * len(loaded)
    sample = min(_SAMPLE, seconds / _FEWEST)
    repeats = [max(1, ceil(sample / max(one.seconds(3), 1e-7))) for one in loaded]
    samples = [list[float]() for _ in loaded]
    spent = 0.0
    for number in range(_MOST):
        for one, count, found in zip(loaded, repeats, samples, strict=True):
            found.append(one.seconds(count))
        spent += max(found[-1] * count for found, count in zip(samples, repeats, strict=True))
        is_enough = number + 1 >= _FEWEST and all(_noise(found) <= noise for found in samples)
        if is_enough or spent >= seconds:
            break
    return samples, repeats


def _noise(samples: Sequence[float]) -> float:
    found = interval(samples)
    return (found.high - found.low) / (2 * found.center) if found.center else inf


def _draw_arrays(nest: CardedNest) -> list[Floats]:
    return list(tensor_memory(nest.program, random_inputs(nest.program)).values())


def _leaves(node: Node) -> list[int]:
    if not isinstance(node, Loop):
        return [node]
    return [leaf for inner in node.body for leaf in _leaves(inner)]
