# SPDX-License-Identifier: MIT
"""Stores of transitions: episodes by the million in sharded Parquet, collected and read back.

``collecting`` fills a folder and goes on where it was left, ``engines`` says in which processes,
``playing`` runs the policy (``policies``) on each program, in the environment of ``recorded``.
``columns`` is what a row holds and ``shards`` one file of rows. ``stored`` reads a collection:
whole, in order, or shuffled; and ``replaying`` proves that its episodes can be played again.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.learn.collection.collecting import (
        CollectionProgress,
        CollectionSummary,
        collect,
    )
    from compiler_gym.tools.learn.collection.recorded import record_randomly
    from compiler_gym.tools.learn.collection.replaying import ReplayDifference
    from compiler_gym.tools.learn.collection.stored import Collection

__all__ = [
    "Collection",
    "CollectionProgress",
    "CollectionSummary",
    "ReplayDifference",
    "collect",
    "record_randomly",
]

__getattr__ = door(__name__)
