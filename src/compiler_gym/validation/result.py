# SPDX-License-Identifier: MIT
"""What a validation found."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any

from compiler_gym.core import CompilerEnvState

__all__ = ["RungResult", "ValidationError", "ValidationResult", "Verdict"]


class Verdict(Enum):
    """How one check ended."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """It could not be told: something is missing, unsupported or took too long."""


@dataclass(frozen=True, slots=True)
class ValidationError:
    """One finding; the name is CompilerGym 0.2.5's, it is a record and never raised."""

    type: str
    """A sentence that names the kind of finding."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Its facts."""

    def __str__(self) -> str:
        return self.type + "".join(f", {key}={value!r}" for key, value in self.data.items())


@dataclass(frozen=True, slots=True)
class RungResult:
    """What one rung of the ladder said, and what asking cost."""

    name: str
    verdict: Verdict
    seconds: float
    """Wall time."""
    reason: str = ""
    """What was checked, or why it could not be told."""
    errors: tuple[ValidationError, ...] = ()


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
    rungs: tuple[RungResult, ...] = ()
    """Each check by itself, in the order in which they were made."""

    def okay(self) -> bool:
        """Return whether nothing wrong was found; what could not be told is not wrong."""
        return not (
            self.actions_replay_failed
            or self.reward_validation_failed
            or self.benchmark_semantics_validation_failed
            or self.errors
        )

    @property
    def error_details(self) -> str:
        """The findings in one line, empty if there are none."""
        return "; ".join(map(str, self.errors))

    def rung(self, name: str) -> RungResult | None:
        """Return what the rung `name` said, or None if it was not asked."""
        return next((rung for rung in self.rungs if rung.name == name), None)

    def to_json(self) -> dict[str, Any]:
        """Return plain values for a JSON file."""
        plain = asdict(self)
        for rung in plain["rungs"]:
            rung["verdict"] = rung["verdict"].value
        return {"okay": self.okay(), **plain}

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
            rungs=tuple(rung for result in found for rung in result.rungs),
        )
