# SPDX-License-Identifier: MIT
"""Compile the trees of a session, check each against NumPy once, and time them on demand.

Checked nests are stored, see ``proven``; an unchanged tree is not compiled again. The run that
checks a nest is also its warm-up.
"""

import json
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.errors import ObservationError, WrongResultError
from compiler_gym_loop_tool.jit import (
    Estimate,
    estimate_in_turns,
    first_run,
    measure_peak,
    threads,
)
from compiler_gym_loop_tool.observations.static_cost import CORES, estimate_cycles, forks
from compiler_gym_loop_tool.state.interpreter import interpret
from compiler_gym_loop_tool.state.reference import (
    compare,
    random_inputs,
    reference_outputs,
)
from compiler_gym_loop_tool.state.tree import Tree
from compiler_gym_loop_tool.toolchain.code.carded import (
    CardedNest,
    card_nest,
    card_seconds,
    time_carded,
)
from compiler_gym_loop_tool.toolchain.code.compiled import (
    compile_nest,
    nest_ir,
    tensor_memory,
)
from compiler_gym_loop_tool.toolchain.code.gpu import lower_gpu, ptx
from compiler_gym_loop_tool.toolchain.proven import Nest, Proven, proven
from compiler_gym_loop_tool.toolchain.timing import Timing

__all__ = ["MOST_SECONDS", "Bench", "most_seconds"]

MOST_SECONDS = 20.0
"""Nests that would run longer than this are rejected."""
_NOISE = 0.02
"""A timing ends once half the interval is this share of the estimate."""
_MODEL_HZ = 3e9
_SLOWEST_MACHINE = 2.0
"""Factor by which a machine may be slower than the model; most are several times faster."""
_FORK_SECONDS = 2e-5
"""An upper bound for handing work to threads."""
_MOST_INTERPRETED = 200_000
"""The largest number of points of a program that the interpreter runs."""


class Bench:
    """Runner of the trees of one program. Every tree's result is checked before it is timed."""

    def __init__(self, start: Tree, known: Proven | None = None) -> None:
        self.start = start
        """The tree before any action."""
        self.seconds = 0.006
        """Seconds that one timing may take."""
        self.actions = 0
        """Number of actions taken: asking for a gain twice between two of them gives the same
        value."""
        self._proven = proven(start.program) if known is None else known
        self._memory: dict[str, NDArray[np.float32]] = {}
        self._last: tuple[Tree, Timing] | None = None
        self._measured_at = -1
        self._is_new = False
        self._gained_from = start
        self._gain = 0.0
        self._gained_at = 0

    def measure(self, tree: Tree) -> Timing:
        """Return a new timing of `tree`, or the last one if later actions did not change it."""
        if self._is_last(tree) and self._measured_at != self.actions:
            self._measured_at = self.actions
            return self.timing(tree)
        self._measured_at = self.actions
        (timing,) = self._time_trees([tree])
        return timing

    def timing(self, tree: Tree) -> Timing:
        """Return the last timing of `tree`, or a first one."""
        if self._last is not None and self._is_last(tree):
            return self._last[1]
        return self.measure(tree)

    def last_facts(self) -> str:
        """Return the last timing as JSON, once; empty if nothing was timed since."""
        if self._last is None or not self._is_new:
            return ""
        self._is_new = False
        return json.dumps(self._last[1].facts())

    def gain(self, tree: Tree) -> float:
        """Return the GFLOPS of `tree` minus those of the tree at the last call.

        Both are timed alternately. An unchanged tree gains 0 and is not run.
        """
        if self._gained_at == self.actions:
            return self._gain
        before, self._gained_from, self._gained_at = self._gained_from, tree, self.actions
        self._gain = 0.0
        if before.roots != tree.roots:
            old, new = self._time_trees([before, tree])
            self._gain = new.gflops - old.gflops
        return self._gain

    def peak(self) -> float:
        """Return the peak GFLOPS of one thread of this machine.

        Raises `ObservationError` for a GPU program: the peak of a GPU is not measured.
        """
        self._require_known_peak()
        return measure_peak().gflops

    def roofline(self, tree: Tree) -> dict[str, float]:
        """Return the performance of the tree and its limit at its arithmetic intensity."""
        self._require_known_peak()
        peak = measure_peak()
        timing = self.timing(tree)
        most = peak.gflops * timing.threads
        intensity = tree.program.flops / tree.program.bytes
        return {
            "gflops": timing.gflops,
            "peak": most,
            "bandwidth": peak.bandwidth,
            "intensity": intensity,
            "roof": min(most, peak.bandwidth * intensity),
        }

    def llvm_ir(self, tree: Tree) -> str:
        """Return the LLVM IR of the tree, for a GPU if the program is for one."""
        return lower_gpu(tree).ir if _is_for_card(tree) else nest_ir(tree)

    def ptx(self, tree: Tree) -> str:
        """Return the PTX of the tree, for CPU programs too. Works without a GPU."""
        return ptx(lower_gpu(tree))

    def check(self, tree: Tree, way: str, seed: int) -> dict[str, Any]:
        """Return the errors in the results of `tree` on the random inputs of `seed`.

        `way` is ``compiled`` or ``interpreted``. The reply has ``wrong``, a list, or ``unknown``,
        the reason why nothing was checked.
        """
        program = tree.program
        if (
            way == "interpreted"
            and sum(map(program.points, program.statements)) > _MOST_INTERPRETED
        ):
            return {"unknown": f"skipped: more than {_MOST_INTERPRETED} points would take too long"}
        inputs = random_inputs(program, seed)
        expected = reference_outputs(program, inputs)
        got = interpret(tree, inputs) if way == "interpreted" else self._nest(tree)[0].run(inputs)
        return {"wrong": [asdict(mismatch) for mismatch in compare(program, expected, got)]}

    def _is_last(self, tree: Tree) -> bool:
        """Return True if `tree` is the tree timed last."""
        return self._last is not None and self._last[0].roots == tree.roots

    def _time_trees(self, trees: list[Tree]) -> list[Timing]:
        runs = [self._nest(tree) for tree in trees]
        nests = [nest for nest, _ in runs]
        estimates = self._estimates(nests, [first for _, first in runs])
        timings = [
            Timing(tree.program.flops, estimate, _count_threads(nest))
            for tree, nest, estimate in zip(trees, nests, estimates, strict=True)
        ]
        self._last, self._is_new = (trees[-1], timings[-1]), True
        return timings

    def _estimates(self, nests: list[Nest], firsts: list[float | None]) -> list[Estimate]:
        carded = [nest for nest in nests if isinstance(nest, CardedNest)]
        if carded:
            return time_carded(carded, seconds=self.seconds, noise=_NOISE)
        compiled = [nest for nest in nests if not isinstance(nest, CardedNest)]
        # A nest timed before needs no extra run to find the number of repeats.
        first_seconds = [
            nest.seconds if first is None and nest.seconds < self.seconds else first
            for nest, first in zip(compiled, firsts, strict=True)
        ]
        estimates = estimate_in_turns(
            [nest.on(self._arrays()) for nest in compiled],
            seconds=self.seconds,
            noise=_NOISE,
            threaded=any(nest.is_threaded for nest in compiled),
            first=first_seconds,
        )
        for nest, estimate in zip(compiled, estimates, strict=True):
            nest.seconds = estimate.seconds
        return estimates

    def _require_known_peak(self) -> None:
        if _is_for_card(self.start):
            raise ObservationError(
                "the peak of a GPU is not measured: use a program without `target cuda`, or "
                "`flops` and `flops_gain` for one with it"
            )

    def _nest(self, tree: Tree) -> tuple[Nest, float | None]:
        """Return the checked nest of `tree`, and the seconds of its run if it was new."""
        nest = self._proven.get(tree)
        if nest is not None:
            return nest, None
        self._require_short(tree)
        nest = card_nest(tree) if _is_for_card(tree) else compile_nest(tree)
        seconds = self._require_right(tree, nest)
        self._proven.add(tree, nest)
        return nest, seconds

    def _require_short(self, tree: Tree) -> None:
        if _is_for_card(tree):
            seconds, advice = card_seconds(tree), "parallelise the outer loops"
        else:
            seconds = most_seconds(tree)
            advice = "vectorise the innermost loop"
        if seconds > MOST_SECONDS:
            raise ObservationError(
                f"one run would take about {seconds:.0f} s (the limit is {MOST_SECONDS:g} s): "
                f"{advice}, or choose a smaller program"
            )

    def _require_right(self, tree: Tree, nest: Nest) -> float | None:
        """Run `nest` once and compare with NumPy; return the seconds if they were measured."""
        inputs, seconds = self._proven.inputs, None
        if isinstance(nest, CardedNest):
            outputs = nest.run(inputs)
        else:
            outputs = self._arrays()
            for tensor in tree.program.tensors.values():
                outputs[tensor.name][...] = inputs.get(tensor.name, np.nan)
            seconds = first_run(nest.on(outputs), threaded=nest.is_threaded)
        mismatches = compare(tree.program, self._proven.expected, outputs)
        if mismatches:
            raise WrongResultError(
                f"the compiled nest disagrees with NumPy: {mismatches[0]}. This is a bug in this "
                f"library; the nest is\n{tree}"
            )
        return seconds

    def _arrays(self) -> dict[str, NDArray[np.float32]]:
        """Return the memory used by every nest of the program."""
        if not self._memory:
            self._memory = tensor_memory(self.start.program, self._proven.inputs)
        return self._memory


def most_seconds(tree: Tree) -> float:
    """Return an upper bound for one run on this machine, in seconds."""
    seconds, fork_count = estimate_cycles(tree) / _MODEL_HZ * _SLOWEST_MACHINE, forks(tree)
    if fork_count:
        seconds *= CORES / min(CORES, threads())
    return seconds + fork_count * _FORK_SECONDS


def _is_for_card(tree: Tree) -> bool:
    return tree.program.target == "cuda"


def _count_threads(nest: Nest) -> int:
    if isinstance(nest, CardedNest):
        return nest.threads
    return threads() if nest.is_threaded else 1
