# SPDX-License-Identifier: MIT
"""The meaning of a decision of a plan, for readers who are not compiler engineers."""

from dataclasses import dataclass

__all__ = ["Meaning"]


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning of one decision: a plain sentence, and a link to its documentation."""

    sentence: str
    """The sentence; empty if the decision is unknown."""
    link: str = ""
