# SPDX-License-Identifier: MIT
"""The compiler as it is run: ``bindings`` loads it, ``lowering`` makes machine code of a module,
``running`` calls, checks and times that, ``reference`` says what the right answer is. Runs only
in a worker.
"""

import os

# Numpy is the yardstick of one thread; and threads of its library do not survive a fork.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
