# SPDX-License-Identifier: MIT
"""Download, import and export of programs: ``download`` downloads a file (``reachable`` checks
the servers, ``progress`` shows a bar), ``archive`` unpacks one and ``install`` locks its folder.
``readers`` and ``importers`` read other collections, ``corpus_writer`` stores them in a corpus
file and ``export`` writes Parquet, with a ``card``.
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
