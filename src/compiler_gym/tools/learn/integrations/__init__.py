# SPDX-License-Identifier: MIT
"""Adapters for other libraries, one module each, imported by name.

``learning`` prepares environments for policy networks, ``sb3`` passes vector environments to
Stable-Baselines3, ``objective`` is a function for Optuna and Nevergrad to minimise, ``tracking``
reports to TensorBoard, Weights & Biases and MLflow, ``transitions`` and ``minari`` store
experience, ``torch`` loads it, ``ray`` spreads work over a cluster, and ``rllib`` trains there.
Each module needs its own library, and names it if it is missing, so the names are loaded on use.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.learn.integrations.ray import spread_tasks

__all__ = ["spread_tasks"]

__getattr__ = door(__name__)
