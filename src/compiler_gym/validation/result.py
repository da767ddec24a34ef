# SPDX-License-Identifier: MIT
"""The results of a validation."""

import errno
import os
import signal
import subprocess
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from typing import Any, ClassVar, TypeVar

from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import (
    CacheError,
    CompilerGymError,
    DownloadFailed,
    ServiceError,
    WorkerCrashedError,
)
from compiler_gym.errors.finding import ValidationError
from compiler_gym.errors.records import Record
from compiler_gym.sandbox import Sandbox

_Fields = dict[str, Any]
_Result = TypeVar("_Result", bound=Record)


class Verdict(Enum):
    """The outcome of one check."""

    OK = "ok"
    FAILED = "failed"
    UNKNOWN = "unknown"
    """No verdict: something is missing, unsupported or took too long."""


@dataclass(frozen=True, slots=True)
class RungResult(Record):
    """The verdict of one rung of the ladder, and the time it took."""

    name: str
    verdict: Verdict
    seconds: float
    """Wall time."""
    reason: str = ""
    """The extent of the check, or the reason for having no verdict."""
    errors: tuple[ValidationError, ...] = ()

    parts: ClassVar[Mapping[str, type[Record]]] = {"errors": ValidationError}

    def __post_init__(self) -> None:
        self._read_parts()
        object.__setattr__(self, "verdict", Verdict(self.verdict))  # files store the value


def _ignore_derived(cls: type[_Result]) -> type[_Result]:
    """Let the constructor of `cls` accept its own `dict`, ignoring derived fields."""
    derived, initialise = cls.derived, cls.__init__

    @wraps(initialise)
    def __init__(self: _Result, *values: Any, **fields: Any) -> None:  # noqa: N807 - it is one
        initialise(self, *values, **{n: v for n, v in fields.items() if n not in derived})

    cls.__init__ = __init__
    return cls


@_ignore_derived
@dataclass(frozen=True, slots=True)
class ValidationResult(Record):
    """The findings on one state.

    Two results are equal if their findings on the same state are equal; as in CompilerGym 0.2.5,
    the time and the order of the errors do not count.
    """

    state: CompilerEnvState
    walltime: float
    """Duration of the validation, in seconds."""
    reward_validated: bool = False
    """True if the reward was compared."""
    actions_replay_failed: bool = False
    """True if the actions could not be applied again."""
    reward_validation_failed: bool = False
    """True if the replay earned a different reward."""
    benchmark_semantics_validated: bool = False
    """True if the program was run and compared."""
    benchmark_semantics_validation_failed: bool = False
    """True if the program now behaves differently."""
    errors: tuple[ValidationError, ...] = ()
    rungs: tuple[RungResult, ...] = ()
    """The result of each check, in order."""
    sandbox: str = ""
    """The name of the `Sandbox` in which the program ran; empty if unknown."""
    parts: ClassVar[Mapping[str, type[Record]]] = {
        "state": CompilerEnvState,
        "errors": ValidationError,
        "rungs": RungResult,
    }
    derived: ClassVar[frozenset[str]] = frozenset({"okay"})

    def __post_init__(self) -> None:
        self._read_parts()
        if not self.walltime >= 0:
            raise ValueError(f"walltime must be at least 0 (got {self.walltime})")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ValidationResult):
            return NotImplemented
        return self._list_compared() == other._list_compared()

    def __hash__(self) -> int:
        return hash(self.state)

    def __str__(self) -> str:
        reward = "" if self.state.reward is None else f", reward {self.state.reward:.4f}"
        program = self.state.benchmark.removeprefix("benchmark://")
        replayed = self.rung("replay")
        if self.okay() and replayed is not None and replayed.verdict is Verdict.UNKNOWN:
            return f"{program}: unknown{reward}: {replayed.reason}"
        return f"{program}: okay{reward}" if self.okay() else f"{program}: {self.error_details}"

    def okay(self) -> bool:
        """Return True if no errors were found; an unknown verdict is not an error."""
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
        """Return the result of the rung `name`, or None if it did not run."""
        return next((rung for rung in self.rungs if rung.name == name), None)

    def dict(
        self, *, include: Container[str] | None = None, exclude: Container[str] = ()
    ) -> _Fields:
        """Return every field by name, and ``okay``; see `Record.dict`."""
        fields = super(ValidationResult, self).dict(include=include, exclude=exclude)
        if "okay" not in exclude and (include is None or "okay" in include):
            fields = {"okay": self.okay(), **fields}
        return fields

    def to_json(self) -> _Fields:
        """Return plain values for a JSON file."""
        return self.dict()

    @classmethod
    def join(cls, results: Iterable["ValidationResult"]) -> "ValidationResult":
        """Join several results of one state; raise `ValueError` if the states differ."""
        members = list(results)
        if not members:
            raise ValueError("no results to join: pass at least one")
        if any(result.state != members[0].state for result in members):
            raise ValueError("cannot join results of different states")
        return cls(
            state=members[0].state,
            walltime=sum(result.walltime for result in members),
            reward_validated=any(r.reward_validated for r in members),
            actions_replay_failed=any(r.actions_replay_failed for r in members),
            reward_validation_failed=any(r.reward_validation_failed for r in members),
            benchmark_semantics_validated=any(r.benchmark_semantics_validated for r in members),
            benchmark_semantics_validation_failed=any(
                r.benchmark_semantics_validation_failed for r in members
            ),
            errors=tuple(error for result in members for error in result.errors),
            rungs=tuple(rung for result in members for rung in result.rungs),
            sandbox=_weakest(result.sandbox for result in members),
        )

    def _list_compared(self) -> tuple[Any, ...]:
        return (
            self.state,
            self.reward_validated,
            self.actions_replay_failed,
            self.reward_validation_failed,
            self.benchmark_semantics_validated,
            self.benchmark_semantics_validation_failed,
            sorted(map(str, self.errors)),
        )


def _weakest(names: Iterable[str]) -> str:
    """Return the weakest of the tiers in `names`, ignoring unknown ones."""
    tiers = [Sandbox.find(name) for name in names if name]
    return min(tiers, key=lambda tier: tier.strength).value if tiers else ""


_SHORTAGES = (
    errno.EAGAIN,
    errno.EDQUOT,
    errno.EIO,
    errno.EMFILE,
    errno.ENFILE,
    errno.ENOMEM,
    errno.ENOSPC,
    errno.EROFS,
)
_SYSTEM_MESSAGES = (*map(os.strerror, _SHORTAGES), "Cannot fork", "can't start new thread")
"""Messages of the C library, a shell and Python about shortages."""
_OUTSIDE_SIGNALS = frozenset(
    (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU, signal.SIGXFSZ)
)


def machine_trouble(error: BaseException) -> str:
    """Return the trouble of the machine or its limits that caused `error`; empty if none.

    >>> machine_trouble(OSError(errno.ENOSPC, "No space left on device"))
    'OSError: [Errno 28] No space left on device'
    >>> machine_trouble(WorkerCrashedError("the worker ended", signal=signal.SIGSEGV))
    ''
    """
    for link in _causes(error):
        if _is_trouble(link):
            return f"{type(link).__name__}: {link}"
    return ""


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__


def _is_trouble(error: BaseException) -> bool:
    if isinstance(error, WorkerCrashedError):
        return error.signal in _OUTSIDE_SIGNALS or _mentions_shortage(error)
    if isinstance(error, (ServiceError, MemoryError, subprocess.TimeoutExpired, TimeoutError)):
        return True
    if isinstance(error, (CacheError, DownloadFailed)):
        return True
    if isinstance(error, OSError) and not isinstance(error, CompilerGymError):
        return error.errno in _SHORTAGES or _mentions_shortage(error)
    return _mentions_shortage(error)


def _mentions_shortage(error: BaseException) -> bool:
    text = str(error)
    return any(message in text for message in _SYSTEM_MESSAGES)
