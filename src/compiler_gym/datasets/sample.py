# SPDX-License-Identifier: MIT
"""Real programs that come with this library: modules and linked programs of Debian's packages.

``python -m scripts.corpus_sample`` makes the file; the licences of what is in it are beside it.
"""

from pathlib import Path
from typing import Any

from compiler_gym.datasets.corpus import CorpusDataset

__all__ = ["SampleDataset", "sample_folder"]

SAMPLE = "sample.sqlite"


class SampleDataset(CorpusDataset):
    """``benchmark://debian-sample-v0``: parts of real programs, with splits to learn from.

    Modules and whole programs out of packages of Debian, built as the packages build
    themselves and compiled once more to bitcode, before any pass, as for ``-Oz``. Their licences
    are permissive, and `notices` says whose they are. ``dataset.split("train")``,
    ``"validation"`` and ``"test"`` share no function, whatever its names and constants.
    """

    def __init__(self, **dataset_args: Any) -> None:
        super().__init__(sample_folder() / SAMPLE, **dataset_args)

    @property
    def has_site_data(self) -> bool:
        """Return False: the file is part of the library."""
        return False

    @property
    def notices(self) -> str:
        """The licences of the packages, in their own words."""
        return (self.path.parent / "NOTICES.txt").read_text(encoding="utf-8")


def sample_folder() -> Path:
    """Return the folder of the sample, in a wheel or in a checkout."""
    return Path(__file__).parent / "debian_sample"
