# SPDX-License-Identifier: MIT
"""Finer-grained actions than passes: marks on call sites, loops and functions.

``choices`` lists the choices and the names of the actions, ``space`` is the action space in the
user's process, and ``marking`` applies the actions in a worker.
"""
