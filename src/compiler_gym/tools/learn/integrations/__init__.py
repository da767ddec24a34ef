# SPDX-License-Identifier: MIT
"""Adapters for other libraries, one module each, imported by name.

``learning`` prepares environments for policy networks, ``sb3`` passes vector environments to
Stable-Baselines3, ``objective`` is a function for Optuna and Nevergrad to minimise, ``tracking``
reports to TensorBoard, Weights & Biases and MLflow, ``transitions`` and ``minari`` store
experience, ``torch`` loads it, ``ray`` spreads work over a cluster, and ``rllib`` trains there.
Nothing is imported here: each module needs its own library, and names it if it is missing.
"""

__all__: list[str] = []
