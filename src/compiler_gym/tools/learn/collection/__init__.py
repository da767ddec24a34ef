# SPDX-License-Identifier: MIT
"""Large sets of transitions in sharded Parquet files: collect them and read them back.

``collecting`` fills a folder and resumes an interrupted collection, ``engines`` spreads the work
over processes, and ``playing`` runs a policy on each program in the environment of ``recorded``.
``shards`` defines the rows, and reads and writes one file. ``stored`` reads a collection in
order or shuffled, and replays its episodes.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.learn.collection.collecting import (
        CollectionProgress,
        CollectionSummary,
        collect,
    )
    from compiler_gym.tools.learn.collection.stored import Collection, ReplayDifference

__all__ = [
    "Collection",
    "CollectionProgress",
    "CollectionSummary",
    "ReplayDifference",
    "collect",
]

__getattr__ = door(__name__)
