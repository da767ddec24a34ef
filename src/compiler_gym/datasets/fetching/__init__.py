# SPDX-License-Identifier: MIT
"""Downloads: ``download`` downloads a file, and ``archive`` unpacks one."""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.datasets.fetching._zstd import zstd
    from compiler_gym.datasets.fetching.archive import (
        Member,
        as_damage,
        detect_compression,
        open_compressed,
        read_archive,
    )
    from compiler_gym.datasets.fetching.download import (
        Report,
        as_dataset_errors,
        hold,
        transfer_bar,
    )

__all__ = [
    "Member",
    "Report",
    "as_damage",
    "as_dataset_errors",
    "detect_compression",
    "hold",
    "open_compressed",
    "read_archive",
    "transfer_bar",
    "zstd",
]

__getattr__ = door(__name__)
