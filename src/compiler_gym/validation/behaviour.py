# SPDX-License-Identifier: MIT
"""Run a program on its inputs and compare it with a build that is right.

Nothing is compiled here: the caller hands over a built program and a way to build
the reference, which is made only when it is needed. A difference counts only where
the reference itself is steady: a program that prints the clock is *flaky*, and
nothing is said about it.
"""

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from compiler_gym.datasets import RunCase, RunLimits, RunReport, RunSpec, run_contained
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.validation.ladder import Finding
from compiler_gym.validation.result import ValidationError
from compiler_gym.validation.trouble import machine_trouble
from compiler_gym.validation.volatile import (
    describe_difference,
    differs_only_in_volatile_words,
)

__all__ = [
    "MOST_CASES",
    "Compared",
    "Reference",
    "choose_cases",
    "compare_behaviour",
    "compare_built",
    "run_program",
]


class Compared(Enum):
    """What two runs must have in common."""

    RESULTS = "results"
    """How they end, standard output and files."""
    EVERYTHING = "everything"
    """Standard error too."""

    def of(self, report: RunReport) -> RunReport:
        """Return `report` without what is not compared."""
        return report if self is Compared.EVERYTHING else replace(report, stderr=b"")


MOST_CASES = 64
"""Inputs that one comparison tries."""

_REPEATS = 3
_APART = 1.1
"""Seconds between the first and the last of them: a clock of whole seconds has moved by then."""
_EXPLAINED = 3
"""Wrong inputs after which no more are tried; one on which a program hangs is enough."""
_OWN_NAME = b"program"
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
            key = _hash_contents(case)
            found = self._reports.setdefault(key, [])
            while len(found) < at_least:
                if found and len(found) == at_least - 1:
                    time.sleep(max(self._first[key] + apart - time.monotonic(), 0.0))
                found.append(self.run(case))
                self._first.setdefault(key, time.monotonic())
            return list(found)

    def run(self, case: RunCase) -> RunReport:
        """Run the reference on `case` once more."""
        with self._lock:
            if self._program is None:
                self._program = self.build()
        return run_program(self._program, case, limits=self.limits)


@dataclass(frozen=True, slots=True)
class _Judgement:
    error: ValidationError | None = None
    doubt: str = ""


def _hash_contents(case: RunCase) -> str:
    """Return a hash of what the program is given: two cases may have one name."""
    files = [
        (name, str(held) if isinstance(held, Path) else hashlib.sha256(held).hexdigest())
        for name, held in sorted(case.files.items())
    ]
    whole = repr((case.argv, case.outputs, files)).encode() + case.stdin
    return hashlib.sha256(whole).hexdigest()


def choose_cases(spec: RunSpec, *, most: int = MOST_CASES) -> Sequence[RunCase]:
    """Return the cases to compare on: the shortest size class, or all where there is none."""
    short = spec.of_size("test").cases or spec.cases
    if len(short) <= most:
        return short
    return [short[i * len(short) // most] for i in range(most)]


def run_program(
    program: Path,
    case: RunCase,
    *,
    limits: RunLimits,
    environment: Mapping[str, str] | None = None,
) -> RunReport:
    """Run `program` on `case`; where it tells its own path, ``program`` is told instead.

    Each build lies in another directory, and that is no difference of what they do.
    """
    ran = run_contained([program], case, limits=limits, environment=environment)
    path = os.fsencode(program)
    return replace(
        ran,
        stdout=ran.stdout.replace(path, _OWN_NAME),
        stderr=ran.stderr.replace(path, _OWN_NAME),
        files={name: held.replace(path, _OWN_NAME) for name, held in ran.files.items()},
    )


def compare_behaviour(
    program: Path,
    reference: Reference,
    cases: Sequence[RunCase],
    *,
    limits: RunLimits,
    compared: Compared = Compared.RESULTS,
) -> Finding:
    """Return whether `program` does on every case what is expected or what `reference` does.

    `compared` is what two runs must have in common.
    """
    wrong: list[ValidationError] = []
    doubts: list[str] = []
    for number, case in enumerate(cases, start=1):
        report = compared.of(run_program(program, case, limits=limits))
        if case.expected is not None and not case.expected.differences(report.outcome):
            continue
        judgement = _verdict_on(program, reference, case, report, limits, compared)
        if judgement.error is not None:
            wrong.append(judgement.error)
            if len(wrong) == _EXPLAINED or report.stopped_by is not None:
                return Finding.fail(wrong, f"{len(wrong)} of the first {number} inputs differ")
        elif judgement.doubt:
            doubts.append(judgement.doubt)
    if wrong:
        return Finding.fail(wrong, f"{len(wrong)} of {len(cases)} inputs differ")
    if doubts:
        return Finding.unknown(f"{len(doubts)} of {len(cases)} inputs: {doubts[0]}")
    return Finding.ok(f"{len(cases)} inputs")


def compare_built(
    building: AbstractContextManager[Path],
    reference: Reference,
    cases: Sequence[RunCase],
    *,
    limits: RunLimits,
    compared: Compared = Compared.RESULTS,
    builds: str = "build",
) -> Finding:
    """Return what `compare_behaviour` finds of the program that `building` lends.

    It may not come to be: the machine may be in trouble, the reference may not be better.
    `builds` is the word for what making it does.
    """
    try:
        with building as program:
            return compare_behaviour(program, reference, cases, limits=limits, compared=compared)
    except BenchmarkInitError as error:
        if trouble := machine_trouble(error):
            return Finding.unknown(f"the program was not made or not run: {trouble}")
        refusal = str(error)
    try:
        reference.run(cases[0])
    except BenchmarkInitError as error:
        return Finding.unknown(f"the unoptimised program does not {builds} either: {error}")
    return Finding.fail([ValidationError(f"the program does not {builds}", {"error": refusal})])


def _verdict_on(
    program: Path,
    reference: Reference,
    case: RunCase,
    found: RunReport,
    limits: RunLimits,
    compared: Compared,
) -> _Judgement:
    """Tell a program that is wrong from one that is flaky or never was right."""
    wanted = compared.of(reference.reports(case)[0])
    if wanted.stopped_by is not None:
        return _Judgement(
            doubt=f"{case.name}: the reference passes its limit of {wanted.stopped_by}"
        )
    if found.stopped_by == "time" and wanted.seconds > _SLACK * limits.seconds:
        return _Judgement(doubt=f"{case.name}: the reference comes near the time limit itself")
    if _same_behaviour(wanted, found) and case.expected is None:
        return _Judgement()
    doubt = _flaky(reference, case, compared)
    if doubt:
        return _Judgement(doubt=doubt)
    if _same_behaviour(wanted, found):
        return _Judgement(doubt=f"{case.name}: the reference does not give what is recorded either")
    volatile = _volatile(wanted, found)
    if volatile:
        return _Judgement(doubt=f"{case.name}: differs only in what looks like {volatile}")
    again = compared.of(run_program(program, case, limits=limits))
    return _Judgement(_describe_difference(case, wanted, found, again))


def _flaky(reference: Reference, case: RunCase, compared: Compared) -> str:
    """Return in what the reference differs from run to run; empty if it repeats itself."""
    runs = reference.reports(case, at_least=_REPEATS, apart=_APART)
    reports = [compared.of(run) for run in runs]
    for report in reports[1:]:
        if not _same_behaviour(reports[0], report):
            kind = _volatile(reports[0], report)
            words = f", in {kind}" if kind else ""
            return f"{case.name}: flaky, the reference differs from run to run{words}"
    return ""


def _same_behaviour(one: RunReport, other: RunReport) -> bool:
    return (one.exit_status, one.stdout, one.stderr, one.stopped_by, one.files) == (
        other.exit_status, other.stdout, other.stderr, other.stopped_by, other.files,
    )  # fmt: skip


def _volatile(one: RunReport, other: RunReport) -> str | None:
    """Return what all of the outputs differ in, if it is a time or an address."""
    if one.exit_status != other.exit_status or one.files.keys() != other.files.keys():
        return None
    pairs = [(one.stdout, other.stdout), (one.stderr, other.stderr)]
    pairs += [(one.files[name], other.files[name]) for name in one.files]
    kinds = [differs_only_in_volatile_words(*pair) for pair in pairs if pair[0] != pair[1]]
    return kinds[0] if kinds and None not in kinds else None


def _describe_difference(
    case: RunCase, wanted: RunReport, found: RunReport, again: RunReport
) -> ValidationError:
    facts: dict[str, object] = {
        "case": case.name,
        "differs in": ", ".join(_differing_parts(wanted, found)),
    }
    if found.stopped_by is not None:
        facts["passed its limit of"] = found.stopped_by
    if wanted.exit_status != found.exit_status:
        facts["exit status"] = f"expected {wanted.exit_status}, found {found.exit_status}"
    if wanted.stdout != found.stdout:
        facts["output"] = describe_difference(wanted.stdout, found.stdout)
    if wanted.stderr != found.stderr:
        facts["messages"] = describe_difference(wanted.stderr, found.stderr)
    if not _same_behaviour(found, again):
        facts["and"] = "it does something else on every run"
    return ValidationError("the program does something else", facts)


def _differing_parts(wanted: RunReport, found: RunReport) -> Iterator[str]:
    if wanted.exit_status != found.exit_status:
        yield "exit status"
    if wanted.stdout != found.stdout:
        yield "standard output"
    if wanted.stderr != found.stderr:
        yield "standard error"
    for name in sorted({*wanted.files, *found.files}):
        if wanted.files.get(name) != found.files.get(name):
            yield f"file {name}"
