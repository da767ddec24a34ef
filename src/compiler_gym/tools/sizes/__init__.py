# SPDX-License-Identifier: MIT
"""Show where the bytes of a program are, and what would make it smaller.

``binary`` reads ELF files, ``parts`` assigns each byte to a part, and ``items`` and ``owners`` to
functions, crates and sources. ``references``, ``folding`` and ``strings`` compute what linkers
could save; ``remedies`` estimates what known remedies would, and ``report`` collects everything.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.sizes.grouping import Grouping
    from compiler_gym.tools.sizes.owners import Owner
    from compiler_gym.tools.sizes.parts import Part, PartSize
    from compiler_gym.tools.sizes.remedies import Remedy, Suggestion
    from compiler_gym.tools.sizes.report import (
        SizeChange,
        SizeReport,
        compare_owners,
        measure_file,
        parse_size,
    )

__all__ = [
    "Grouping",
    "Owner",
    "Part",
    "PartSize",
    "Remedy",
    "SizeChange",
    "SizeReport",
    "Suggestion",
    "compare_owners",
    "measure_file",
    "parse_size",
]

__getattr__ = door(__name__)
