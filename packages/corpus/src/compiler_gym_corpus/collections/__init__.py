# SPDX-License-Identifier: MIT
"""Collections of programs: ``readers`` and ``importers`` read them, ``corpus_writer`` stores them
in a corpus file, and ``export`` writes Parquet, with a ``card``.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym_corpus.collections.corpus_writer import CorpusWriter
    from compiler_gym_corpus.collections.export import export_folder, export_parquet
    from compiler_gym_corpus.collections.importers import ImportReport, corpus_path, import_corpus

__all__ = [
    "CorpusWriter",
    "ImportReport",
    "corpus_path",
    "export_folder",
    "export_parquet",
    "import_corpus",
]

__getattr__ = door(__name__)
