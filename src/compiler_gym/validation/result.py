# SPDX-License-Identifier: MIT
"""What a validation found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from compiler_gym.core import CompilerEnvState

__all__ = ["ValidationError", "ValidationResult"]


@dataclass(frozen=True, slots=True)
class ValidationError:
    """One finding; the name is CompilerGym 0.2.5's, it is a record and never raised."""

    type: str
    """A sentence that names the kind of finding."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Its facts."""


@dataclass(frozen=True, slots=True)
class ValidationResult:
    """What is known of one state after it was checked."""

    state: CompilerEnvState
    walltime: float
    """Seconds the validation took."""
    reward_validated: bool = False
    """Whether the reward was compared."""
    actions_replay_failed: bool = False
    """Whether the actions could not be applied again."""
    reward_validation_failed: bool = False
    """Whether the replay earned another reward."""
    benchmark_semantics_validated: bool = False
    """Whether the program was run and compared."""
    benchmark_semantics_validation_failed: bool = False
    """Whether the program does something else now."""
    errors: tuple[ValidationError, ...] = ()

    def okay(self) -> bool:
        """Return whether nothing wrong was found."""
        return not (
            self.actions_replay_failed
            or self.reward_validation_failed
            or self.benchmark_semantics_validation_failed
            or self.errors
        )

    @property
    def error_details(self) -> str:
        """The findings in one line, empty if there are none."""
        return "; ".join(
            error.type + "".join(f", {key}={value!r}" for key, value in error.data.items())
            for error in self.errors
        )

    @classmethod
    def join(cls, results: Iterable["ValidationResult"]) -> "ValidationResult":
        """Return one result for several of the same state."""
        found = list(results)
        if not found:
            raise ValueError("expected at least one result to join, found none")
        return cls(
            state=found[0].state,
            walltime=sum(result.walltime for result in found),
            reward_validated=any(r.reward_validated for r in found),
            actions_replay_failed=any(r.actions_replay_failed for r in found),
            reward_validation_failed=any(r.reward_validation_failed for r in found),
            benchmark_semantics_validated=any(r.benchmark_semantics_validated for r in found),
            benchmark_semantics_validation_failed=any(
                r.benchmark_semantics_validation_failed for r in found
            ),
            errors=tuple(error for result in found for error in result.errors),
        )
