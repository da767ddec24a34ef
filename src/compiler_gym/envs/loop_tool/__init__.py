# SPDX-License-Identifier: MIT
"""Loop nests over named dimensions, compiled as they are changed, on CPU and CUDA."""
