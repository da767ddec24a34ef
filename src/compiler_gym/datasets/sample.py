# SPDX-License-Identifier: MIT
"""Real programs that come with this library: modules and linked programs from Debian packages.

``python -m scripts.corpus_sample`` creates the file; the licences are in the same folder.
"""

from pathlib import Path
from typing import Any

from compiler_gym.datasets.corpus import CorpusDataset

SAMPLE = "sample.sqlite"


class SampleDataset(CorpusDataset):
    """``benchmark://debian-sample-v0``: modules and programs from Debian, with splits.

    Each package was built with its own build system, and its sources were also compiled to
    bitcode, prepared for ``-Oz`` but with no pass run. The licences are permissive; `notices` has
    their texts. ``dataset.split("train")``, ``"validation"`` and ``"test"`` have no functions in
    common, even if names and constants are ignored.
    """

    def __init__(self, **dataset_args: Any) -> None:
        super().__init__(sample_folder() / SAMPLE, **dataset_args)

    @property
    def has_site_data(self) -> bool:
        """False: the file is part of the library."""
        return False

    @property
    def notices(self) -> str:
        """The licence texts of the packages."""
        return (self.path.parent / "NOTICES.txt").read_text(encoding="utf-8")


def sample_folder() -> Path:
    """Return the folder of the sample, in a wheel or in a checkout."""
    return Path(__file__).parent / "debian_sample"
