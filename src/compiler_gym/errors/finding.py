# SPDX-License-Identifier: MIT
"""A finding of a validation, as a record for every layer.

It is in this package because CompilerGym 0.2.5 documents it with the errors.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compiler_gym.errors.records import Record

__all__ = ["ValidationError"]


@dataclass(frozen=True, slots=True)
class ValidationError(Record):
    """One finding; in spite of its name, from CompilerGym 0.2.5, it is never raised."""

    type: str
    """A sentence for the kind of finding."""
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Details of the finding."""

    def __str__(self) -> str:
        return self.type + "".join(f", {key}={value!r}" for key, value in self.data.items())
