# SPDX-License-Identifier: MIT
"""How programs get here and leave: ``download`` fetches a file (``reachable`` says from where,
``progress`` how far), ``archive`` unpacks one, ``install`` puts it in its place at once.
``readers`` and ``importers`` read the collections of others, ``corpus_writer`` keeps what they
read, ``export`` writes it as Parquet.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.datasets.fetching._zstd import zstd
    from compiler_gym.datasets.fetching.corpus_writer import CorpusWriter
    from compiler_gym.datasets.fetching.importers import corpus_path
    from compiler_gym.datasets.fetching.install import as_dataset_errors, hold
    from compiler_gym.datasets.fetching.progress import Report, transfer_bar

__all__ = [
    "CorpusWriter",
    "Report",
    "as_dataset_errors",
    "corpus_path",
    "hold",
    "transfer_bar",
    "zstd",
]

__getattr__ = door(__name__)
