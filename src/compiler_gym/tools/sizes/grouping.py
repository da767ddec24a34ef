# SPDX-License-Identifier: MIT
"""The groups in which a report lists bytes; light, because the command line needs them."""

from enum import StrEnum

__all__ = ["Grouping"]


class Grouping(StrEnum):
    """The owners of bytes that a report lists."""

    FUNCTION = "function"
    NAMESPACE = "namespace"
    FILE = "file"
    SECTION = "section"
    MEMBER = "member"
