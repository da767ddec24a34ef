# SPDX-License-Identifier: MIT
"""Check that a module computes the results of its payload, then time it; each once.

The inputs, the right results and the naive time of a payload, and the data of each module, are
cached in this process, up to a limit.
"""

import time
from collections import OrderedDict
from collections.abc import Sequence
from statistics import median

import numpy as np

from compiler_gym.errors import ObservationError
from compiler_gym_mlir.toolchain.lowering import compile_module, compile_shortened
from compiler_gym_mlir.toolchain.reference import (
    TOLERANCES,
    UnknownOperationError,
    evaluate,
    evaluate_quickly,
    worst_error,
)
from compiler_gym_mlir.toolchain.running import (
    Array,
    Call,
    Kernel,
    align_array,
    measure_times,
    random_inputs,
)

__all__ = ["Bench", "open_bench"]

_KEPT_PAYLOADS, _KEPT_MODULES = 4, 64
_SEED = 21
_LONG = 0.02
"""Minimum seconds of timing for a median, unless three runs take longer."""
_SLOW = 0.25
"""Seconds of a run above which one run is enough: cold caches then matter little."""
_MOST_ROUNDS = 1 << 27
"""The largest number of innermost iterations of naive code to run."""
_NAIVE_LEVEL = 3


class Bench:
    """One payload and the results of running it."""

    def __init__(self, payload: str) -> None:
        self._payload = payload
        self._inputs: list[Array] = []
        self._outputs: list[Array] = []
        self._expected: list[Array] | None = None
        self._medians: OrderedDict[str, float] = OrderedDict()
        self._checked: OrderedDict[str, Call] = OrderedDict()
        self._first: dict[str, float] = {}
        self._compile_seconds: dict[str, float] = {}
        self._naive: float | None = None
        self._numpy: float | None = None

    def times(self, text: str, count: int, warmups: int) -> list[float]:
        """Return `count` times of the module `text`, in microseconds."""
        call = self.compile_checked(text)
        warmups = max(warmups, int(self._first[text] < _SLOW))
        return [1e6 * seconds for seconds in measure_times(call, count, warmups)]

    def median(self, text: str) -> float:
        """Return the median time of the module `text` in microseconds, measured once.

        A module that took long in its check is not run again.
        """
        if text == self._payload:
            return self.naive()
        if text not in self._medians:
            call = self.compile_checked(text)
            self._medians[text] = 1e6 * _typical(call, self._first[text])
            _forget(self._medians)
        return self._medians[text]

    def naive(self) -> float:
        """Return the median time of the payload without moves at ``-O3``, measured once.

        Of a payload with more than `_MOST_ROUNDS` innermost iterations, only that many run and
        the time is scaled: all rows of an operation take equally long.
        """
        if self._naive is None:
            kernel, factor = compile_shortened(self._payload, _MOST_ROUNDS, _NAIVE_LEVEL)
            call = self._bound(kernel)
            self._naive = 1e6 * factor * _typical(call, call.seconds(1))
        return self._naive

    def numpy(self) -> float:
        """Return the median time of NumPy's operation in microseconds; 0 if it has none."""
        if self._numpy is None:
            if not self._inputs:
                self._bound(compile_module(self._payload))
            self._numpy = 1e6 * _time_of_numpy(self._payload, self._inputs)
        return self._numpy

    def compile_seconds(self, text: str) -> float:
        """Return the seconds that the compilation of the module `text` took."""
        self.compile_checked(text)
        return self._compile_seconds.get(text, 0.0)

    def compile_checked(self, text: str) -> Call:
        """Compile `text` and check its results; raise `ObservationError` if they are wrong."""
        if text in self._checked:
            self._checked.move_to_end(text)
            return self._checked[text]
        begin = time.perf_counter()
        kernel = compile_module(text)
        self._compile_seconds[text] = time.perf_counter() - begin
        call = self._bound(kernel)
        for array in call.outputs:  # detects elements that the module does not write
            array.fill(np.nan if array.dtype.kind == "f" else np.iinfo(array.dtype).min)
        self._first[text] = call.seconds(1)
        self._compare(call.outputs)
        self._checked[text] = call
        _forget(self._checked)
        return call

    def _bound(self, kernel: Kernel) -> Call:
        """Return a call of `kernel` on the arrays that all modules of the payload share."""
        if not self._inputs:
            self._inputs = [align_array(tensor) for tensor in random_inputs(kernel.inputs, _SEED)]
            self._outputs = kernel.room()
        return kernel.bind(self._inputs, self._outputs)

    def _compare(self, results: Sequence[Array]) -> None:
        for number, (result, right) in enumerate(zip(results, self._right_results(), strict=True)):
            error, tolerance = worst_error(result, right), TOLERANCES[str(result.dtype)]
            if error > tolerance:
                raise ObservationError(
                    f"result {number} is wrong by {error:.3g} of its largest value, more than "
                    f"{tolerance:g}: the transformations changed the program's results"
                )

    def _right_results(self) -> list[Array]:
        if self._expected is None:
            try:
                self._expected = evaluate(self._payload, self._inputs)
            except UnknownOperationError:  # the payload's plain code is the reference
                call = compile_module(self._payload).bind(self._inputs)  # with its own outputs
                call()
                self._expected = [np.array(output, copy=True) for output in call.outputs]
        return self._expected


_benches: OrderedDict[str, Bench] = OrderedDict()


def open_bench(payload: str) -> Bench:
    """Return the bench of `payload`, creating it if necessary."""
    if payload not in _benches:
        _benches[payload] = Bench(payload)
        while len(_benches) > _KEPT_PAYLOADS:
            _benches.popitem(last=False)
    _benches.move_to_end(payload)
    return _benches[payload]


def _typical(call: Call, once: float) -> float:
    """Return the median seconds of a call whose last run took `once`."""
    if once >= _SLOW:
        return once
    once = call.seconds(1)
    count = int(min(25, max(3, _LONG / max(once, 200e-6))))
    return median(measure_times(call, count, 1))


def _forget(cache: OrderedDict[str, float] | OrderedDict[str, Call]) -> None:
    while len(cache) > _KEPT_MODULES:
        cache.popitem(last=False)


def _time_of_numpy(payload: str, inputs: Sequence[Array]) -> float:
    run = evaluate_quickly(payload, inputs)
    if run is None:
        return 0.0
    run()
    times: list[float] = []
    begin = time.perf_counter()
    while len(times) < 3 or (time.perf_counter() - begin < _LONG and len(times) < 25):
        before = time.perf_counter()
        run()
        times.append(time.perf_counter() - before)
    return median(times)
