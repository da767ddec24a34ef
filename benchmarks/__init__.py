# SPDX-License-Identifier: MIT
"""Speed, measured: `python -m benchmarks` prints every figure and keeps them as JSON."""
