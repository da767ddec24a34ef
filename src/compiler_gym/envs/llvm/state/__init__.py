# SPDX-License-Identifier: MIT
"""The state of an episode: the module and its history.

``program`` is the module with its target, its scope and its executable; ``pass_history`` runs
passes on it and records the effects of the last one; ``scope`` decides which symbols stay visible.
Runs in a worker.
"""
