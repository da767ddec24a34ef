# SPDX-License-Identifier: MIT
"""Options as records: each is declared once, with its type, default, range and help.

``declaring`` is the declaration of a field; ``limits`` and ``episodes`` are the records. The
command line makes its options from the fields, Python passes the record, and a run folder stores
every field.
"""

from compiler_gym.options.declaring import (
    ABOVE_0,
    FROM_0,
    WHOLE_ABOVE_0,
    WHOLE_FROM_0,
    DeclaredOption,
    Range,
    Spelling,
    check,
    list_options,
    option,
    seconds_in,
    to_plain,
)
from compiler_gym.options.episodes import CollectOptions, SearchOptions
from compiler_gym.options.limits import (
    ArchiveLimits,
    Limits,
    PackageChoice,
    PackageLimits,
    ReadOptions,
)

__all__ = [
    "ABOVE_0",
    "FROM_0",
    "WHOLE_ABOVE_0",
    "WHOLE_FROM_0",
    "ArchiveLimits",
    "CollectOptions",
    "DeclaredOption",
    "Limits",
    "PackageChoice",
    "PackageLimits",
    "Range",
    "ReadOptions",
    "SearchOptions",
    "Spelling",
    "check",
    "list_options",
    "option",
    "seconds_in",
    "to_plain",
]
