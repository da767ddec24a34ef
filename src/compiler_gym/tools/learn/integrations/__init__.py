# SPDX-License-Identifier: MIT
"""What other libraries want of an environment: one file per library, imported by its name.

``learning`` sets an environment up for a policy network, ``sb3`` hands a vector of them
to Stable-Baselines3, ``objective`` makes a function to minimise for Optuna and
Nevergrad, ``tracking`` reports to TensorBoard, Weights & Biases and MLflow,
``transitions`` and ``minari`` keep what was experienced, ``torch`` loads it, ``ray``
spreads work over a cluster, and ``rllib`` trains there.
Nothing is imported here: each file needs a library of its own, and says which when it is missing.
"""

__all__: list[str] = []
