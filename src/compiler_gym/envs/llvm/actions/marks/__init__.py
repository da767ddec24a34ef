# SPDX-License-Identifier: MIT
"""Decisions finer than a pass: marks on call sites, loops and functions.

``choices`` says what can be chosen and what the actions are called, ``space`` is what users
hold, and ``marking`` is what a worker does with it.
"""
