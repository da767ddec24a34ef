# SPDX-License-Identifier: MIT
"""The compiler as it is run: ``bindings`` loads it, ``lowering`` makes machine code of a module,
``running`` calls, checks and times that, ``reference`` says what the right answer is. Runs only
in a worker.
"""
