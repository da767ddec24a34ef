# SPDX-License-Identifier: MIT
"""The state of an episode: the module, and what changes it.

``program`` is the module with its target, its scope and its executable; ``pass_history`` runs
passes on it and remembers what the last one did; ``scope`` says which symbols stay visible.
Runs in a worker.
"""
