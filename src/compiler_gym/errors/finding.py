# SPDX-License-Identifier: MIT
"""A validation's finding, as a record that every layer may use.

It stands below the errors because CompilerGym 0.2.5 documents it among them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compiler_gym.errors.records import Record

__all__ = ["ValidationError"]


@dataclass(frozen=True, slots=True)
class ValidationError(Record):
    """One finding; the name is CompilerGym 0.2.5's, it is a record and never raised."""

    type: str
    """A sentence that names the kind of finding."""
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Its facts."""

    def __str__(self) -> str:
        return self.type + "".join(f", {key}={value!r}" for key, value in self.data.items())
