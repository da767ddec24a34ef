# SPDX-License-Identifier: MIT
"""The toolchain: ``bindings`` loads MLIR, ``lowering`` compiles a module to machine code,
``running`` calls and times it, ``measuring`` checks and caches the results, and ``reference``
computes the right ones. Runs only in a worker.
"""

import os

# NumPy is the single-threaded baseline; also, threads of its library do not survive a fork.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
