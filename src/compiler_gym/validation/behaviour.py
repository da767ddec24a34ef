# SPDX-License-Identifier: MIT
"""Run a program on its inputs and compare it with a build that is right.

Nothing is compiled here: the caller hands over a built program and a way to build
the reference, which is made only when it is needed. A difference counts only where
the reference itself is steady: a program that prints the clock is *flaky*, and
nothing is said about it.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compiler_gym.datasets import RunCase, RunLimits, RunReport, RunSpec, run_contained
from compiler_gym.validation.ladder import Finding
from compiler_gym.validation.result import ValidationError
from compiler_gym.validation.volatile import (
    describe_difference,
    differs_only_in_volatile_words,
)

__all__ = ["MOST_CASES", "Reference", "chosen_cases", "compare_behaviour"]

MOST_CASES = 64
"""Inputs that one comparison tries."""

_REPEATS = 3
_APART = 1.1
"""Seconds between the first and the last of them: a clock of whole seconds has moved by then."""
_EXPLAINED = 3
"""Wrong inputs after which no more are tried; one on which a program hangs is enough."""
_SLACK = 0.25
"""A reference that uses this share of the time limit says nothing about a slower program."""


@dataclass(slots=True)
class Reference:
    """The build that is right, and what it did."""

    build: Callable[[], Path]
    """Returns the program; called at most once."""
    limits: RunLimits = field(default_factory=RunLimits)
    _program: Path | None = None
    _reports: dict[str, list[RunReport]] = field(default_factory=dict[str, list[RunReport]])
    _first: dict[str, float] = field(default_factory=dict[str, float])
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def reports(self, case: RunCase, *, at_least: int = 1, apart: float = 0.0) -> list[RunReport]:
        """Return what the reference did on `case`, in as many runs as are asked for.

        The last of several new ones is made `apart` seconds after the first of all.
        """
        with self._lock:
            found = self._reports.setdefault(case.name, [])
            while len(found) < at_least:
                if found and len(found) == at_least - 1:
                    time.sleep(max(self._first[case.name] + apart - time.monotonic(), 0.0))
                found.append(self.run(case))
                self._first.setdefault(case.name, time.monotonic())
            return list(found)

    def run(self, case: RunCase) -> RunReport:
        """Run the reference on `case` once more."""
        with self._lock:
            if self._program is None:
                self._program = self.build()
        return run_contained([self._program], case, limits=self.limits)


@dataclass(frozen=True, slots=True)
class _Judgement:
    error: ValidationError | None = None
    doubt: str = ""


def chosen_cases(spec: RunSpec, *, most: int = MOST_CASES) -> Sequence[RunCase]:
    """Return the cases to compare on: the shortest size class, or all where there is none."""
    short = spec.of_size("test").cases or spec.cases
    if len(short) <= most:
        return short
    return [short[i * len(short) // most] for i in range(most)]


def compare_behaviour(
    program: Path, reference: Reference, cases: Sequence[RunCase], *, limits: RunLimits
) -> Finding:
    """Return whether `program` does on every case what is expected or what `reference` does."""
    wrong: list[ValidationError] = []
    doubts: list[str] = []
    for number, case in enumerate(cases, start=1):
        report = run_contained([program], case, limits=limits)
        if case.expected is not None and not case.expected.differences(report.outcome):
            continue
        judgement = _judge(program, reference, case, report, limits)
        if judgement.error is not None:
            wrong.append(judgement.error)
            if len(wrong) == _EXPLAINED or report.stopped_by is not None:
                return Finding.failed(wrong, f"{len(wrong)} of the first {number} inputs differ")
        elif judgement.doubt:
            doubts.append(judgement.doubt)
    if wrong:
        return Finding.failed(wrong, f"{len(wrong)} of {len(cases)} inputs differ")
    if doubts:
        return Finding.unknown(f"{len(doubts)} of {len(cases)} inputs: {doubts[0]}")
    return Finding.ok(f"{len(cases)} inputs")


def _judge(
    program: Path, reference: Reference, case: RunCase, found: RunReport, limits: RunLimits
) -> _Judgement:
    """Tell a program that is wrong from one that is flaky or never was right."""
    wanted = reference.reports(case)[0]
    if wanted.stopped_by is not None:
        return _Judgement(
            doubt=f"{case.name}: the reference passes its limit of {wanted.stopped_by}"
        )
    if found.stopped_by == "time" and wanted.seconds > _SLACK * limits.seconds:
        return _Judgement(doubt=f"{case.name}: the reference comes near the time limit itself")
    if _same(wanted, found) and case.expected is None:
        return _Judgement()
    doubt = _flaky(reference, case)
    if doubt:
        return _Judgement(doubt=doubt)
    if _same(wanted, found):
        return _Judgement(doubt=f"{case.name}: the reference does not give what is recorded either")
    volatile = _volatile(wanted, found)
    if volatile:
        return _Judgement(doubt=f"{case.name}: differs only in what looks like {volatile}")
    return _Judgement(_describe(case, wanted, found, run_contained([program], case, limits=limits)))


def _flaky(reference: Reference, case: RunCase) -> str:
    """Return in what the reference differs from run to run; empty if it repeats itself."""
    reports = reference.reports(case, at_least=_REPEATS, apart=_APART)
    for report in reports[1:]:
        if not _same(reports[0], report):
            kind = _volatile(reports[0], report)
            words = f", in {kind}" if kind else ""
            return f"{case.name}: flaky, the reference differs from run to run{words}"
    return ""


def _same(one: RunReport, other: RunReport) -> bool:
    return (one.exit_status, one.stdout, one.stopped_by) == (
        other.exit_status, other.stdout, other.stopped_by,
    ) and one.files == other.files  # fmt: skip


def _volatile(one: RunReport, other: RunReport) -> str | None:
    """Return what all of the outputs differ in, if it is a time or an address."""
    if one.exit_status != other.exit_status or one.files.keys() != other.files.keys():
        return None
    pairs = [(one.stdout, other.stdout), *((one.files[n], other.files[n]) for n in one.files)]
    kinds = [differs_only_in_volatile_words(*pair) for pair in pairs if pair[0] != pair[1]]
    return kinds[0] if kinds and None not in kinds else None


def _describe(
    case: RunCase, wanted: RunReport, found: RunReport, again: RunReport
) -> ValidationError:
    facts: dict[str, object] = {"case": case.name, "differs in": ", ".join(_parts(wanted, found))}
    if found.stopped_by is not None:
        facts["passed its limit of"] = found.stopped_by
    if wanted.exit_status != found.exit_status:
        facts["exit status"] = f"expected {wanted.exit_status}, found {found.exit_status}"
    if wanted.stdout != found.stdout:
        facts["output"] = describe_difference(wanted.stdout, found.stdout)
    if not _same(found, again):
        facts["and"] = "it does something else on every run"
    return ValidationError("the program does something else", facts)


def _parts(wanted: RunReport, found: RunReport) -> Iterator[str]:
    if wanted.exit_status != found.exit_status:
        yield "exit status"
    if wanted.stdout != found.stdout:
        yield "standard output"
    for name in sorted({*wanted.files, *found.files}):
        if wanted.files.get(name) != found.files.get(name):
            yield f"file {name}"
