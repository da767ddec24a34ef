# SPDX-License-Identifier: MIT
"""The machine's peak is measured once, and is above what plain numpy reaches."""

import time

import numpy as np

from compiler_gym_loop_tool.jit import measure_peak


def test_the_peak_is_measured_once_and_holds_for_numpy() -> None:
    peak = measure_peak()
    assert measure_peak() is peak
    a = np.ones((64, 64), np.float32)
    out = np.empty_like(a)
    np.multiply(a, a, out=out)
    began = time.thread_time()
    for _ in range(200):
        np.multiply(a, a, out=out)
    reached = 200 * a.size / (time.thread_time() - began) / 1e9
    assert peak.gflops > reached
    assert 0.5 < peak.bandwidth < 1000
