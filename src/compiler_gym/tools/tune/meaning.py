# SPDX-License-Identifier: MIT
"""What one decision of a plan does, for a reader who writes C and no compilers."""

from dataclasses import dataclass

__all__ = ["Meaning"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """One plain sentence, and where more is written."""

    sentence: str
    """Empty where nothing is known of the decision."""
    link: str = ""
