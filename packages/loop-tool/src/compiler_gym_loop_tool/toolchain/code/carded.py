# SPDX-License-Identifier: MIT
"""Loop trees that run on an NVIDIA GPU, timed there with CUDA events."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from math import ceil, inf

import numpy as np
from numpy.typing import NDArray

from compiler_gym.statistics import interval
from compiler_gym_loop_tool.jit import Estimate
from compiler_gym_loop_tool.state.program import Program
from compiler_gym_loop_tool.state.reference import random_inputs
from compiler_gym_loop_tool.state.tree import Loop, Node, Tree
from compiler_gym_loop_tool.toolchain.code.card_process import call_on_card
from compiler_gym_loop_tool.toolchain.code.compiled import tensor_memory
from compiler_gym_loop_tool.toolchain.code.driver import Loaded, open_card
from compiler_gym_loop_tool.toolchain.code.gpu import Kernels, lower_gpu, ptx

__all__ = ["CardedNest", "card_nest", "card_seconds", "time_carded"]

Floats = NDArray[np.float32]

_SAMPLE = 5e-4
"""Minimum seconds per sample: a thousand times the resolution of an event."""
_FEWEST, _MOST = 5, 200
"""Limits of the number of samples per nest, if time allows."""
_POINT_SECONDS = 1e-7
"""An upper bound for one point in a thread, with each operand read from GPU memory."""
_MOST_AT_ONCE = 10_000
"""Number of threads that any GPU can run at once."""


@dataclass(frozen=True, slots=True)
class CardedNest:
    """A tree as PTX kernels for one GPU."""

    program: Program
    kernels: Kernels
    text: str
    """The PTX of the kernels."""

    @property
    def threads(self) -> int:
        """Number of threads in the largest launch."""
        return max(launch.blocks * launch.threads for launch in self.kernels.launches)

    def run(self, inputs: Mapping[str, Floats]) -> dict[str, Floats]:
        """Run once on `inputs`, which stay unchanged, and return the outputs."""
        return call_on_card(_run_nest, self, inputs)


def card_nest(tree: Tree) -> CardedNest:
    """Compile a tree to kernels for this machine's GPU.

    Raises `ObservationError` without a driver or a GPU.
    """
    architecture, kernels = call_on_card(_find_architecture), lower_gpu(tree)
    return CardedNest(tree.program, kernels, ptx(kernels, architecture))


def card_seconds(tree: Tree) -> float:
    """Return an upper bound for one run on a GPU: points divided by the threads that share them."""
    launches = lower_gpu(tree).launches[-len(tree.roots) :]
    total = 0.0
    for root, launch in zip(tree.roots, launches, strict=True):
        points = sum(tree.program.points(tree.program.statements[leaf]) for leaf in _leaves(root))
        total += points / min(launch.blocks * launch.threads, _MOST_AT_ONCE) * _POINT_SECONDS
    return total


def time_carded(
    nests: Sequence[CardedNest], *, seconds: float = 0.01, noise: float = 0.01
) -> list[Estimate]:
    """Return the time of one run of each nest, from alternating runs, without copies.

    Each nest gets about `seconds`, but at least one run, and sampling stops once the interval of
    every nest is within `noise` of its estimate.
    """
    samples, repeats = call_on_card(_sample_nests, nests, seconds, noise)
    means = [interval(times) for times in samples]
    return [
        Estimate(mean.mean, mean.low, mean.high, tuple(times), len(times) * count, False)
        for mean, times, count in zip(means, samples, repeats, strict=True)
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
        return _take_samples(loaded, seconds, noise)


def _take_samples(
    loaded: Sequence[Loaded], seconds: float, noise: float
) -> tuple[list[list[float]], list[int]]:
    """Return the samples of each nest, in seconds per run, and the runs per sample."""
    first = [nest.seconds() for nest in loaded]  # warms up; counted only if it took all the time
    if max(first) >= seconds:
        return [[time] for time in first], [1] * len(loaded)
    sample = min(_SAMPLE, seconds / _FEWEST)
    repeats = [max(1, ceil(sample / max(nest.seconds(3), 1e-7))) for nest in loaded]
    samples = [list[float]() for _ in loaded]
    spent = 0.0
    for number in range(_MOST):
        for nest, count, times in zip(loaded, repeats, samples, strict=True):
            times.append(nest.seconds(count))
        spent += max(times[-1] * count for times, count in zip(samples, repeats, strict=True))
        is_enough = number + 1 >= _FEWEST and all(_noise(times) <= noise for times in samples)
        if is_enough or spent >= seconds:
            break
    return samples, repeats


def _noise(samples: Sequence[float]) -> float:
    mean = interval(samples)
    return (mean.high - mean.low) / (2 * mean.mean) if mean.mean else inf


def _draw_arrays(nest: CardedNest) -> list[Floats]:
    return list(tensor_memory(nest.program, random_inputs(nest.program)).values())


def _leaves(node: Node) -> list[int]:
    if not isinstance(node, Loop):
        return [node]
    return [leaf for inner in node.body for leaf in _leaves(inner)]
