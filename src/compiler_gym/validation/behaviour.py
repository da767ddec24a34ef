# SPDX-License-Identifier: MIT
"""Run a program on its inputs and compare it with a reference build.

Nothing is compiled here: the caller passes a built program and a function that builds the
reference, which is called only if it is needed. A difference counts only if the reference itself
is deterministic: a program that prints the time is *flaky*, and its result is unknown.
"""

import hashlib
import os
import re
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
from compiler_gym.validation.result import ValidationError, machine_trouble

_DAY = 86_400.0
_ADDRESS = re.compile(rb"0x[0-9a-fA-F]{8,16}|\b[0-9a-f]{12}\b")
_CLOCK = re.compile(
    rb"\b\d{4}-\d\d-\d\d\b|\b\d{1,2}:\d\d(:\d\d(\.\d+)?)?\b"
    rb"|\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +(\d{1,2} +)?(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|"
    rb"Oct|Nov|Dec)[a-z]*( +\d{1,2})?( +\d{4})?\b"
)
_UNIX_TIME = re.compile(rb"\b\d{10}(?:\d{3}|\d{6}|\d{9})?\b")
_MOST_QUOTED = 60


def differs_only_in_volatile_words(one: bytes, other: bytes) -> str | None:
    """Return the kind of a harmless difference, ``an address`` or ``a time``, or None.

    >>> differs_only_in_volatile_words(b"at 0x7f0012345678", b"at 0x7ffe9abcdef0")
    'an address'
    >>> differs_only_in_volatile_words(b"17 apples", b"18 apples") is None
    True
    """
    if one == other:
        return None
    if _ADDRESS.sub(b"@", one) == _ADDRESS.sub(b"@", other):
        return "an address"
    if _without_times(one) == _without_times(other):
        return "a time"
    both = [_ADDRESS.sub(b"@", _without_times(text)) for text in (one, other)]
    return "a time and an address" if both[0] == both[1] else None


def describe_difference(wanted: bytes, found: bytes) -> str:
    r"""Return the first difference of two outputs, in one line.

    >>> describe_difference(b"1\n2\n", b"1\n3\n")
    "line 2: expected '2', got '3'"
    """
    expected_lines, lines = wanted.splitlines(), found.splitlines()
    for number, (line, other) in enumerate(zip(expected_lines, lines, strict=False), start=1):
        if line != other:
            return f"line {number}: expected {_quote(line)}, got {_quote(other)}"
    if len(expected_lines) == len(lines):
        return "the line endings differ"
    return f"expected {len(expected_lines)} lines, got {len(lines)}"


def _without_times(text: bytes) -> bytes:
    return _UNIX_TIME.sub(_mask_current_time, _CLOCK.sub(b"#", text))


def _mask_current_time(match: re.Match[bytes]) -> bytes:
    """Return a mark in place of a Unix time, in any unit, within a day of now."""
    digits = match.group()
    seconds = int(digits) / 10 ** (len(digits) - 10)
    return b"#" if abs(seconds - time.time()) < _DAY else digits


def _quote(line: bytes) -> str:
    text = line.decode(errors="backslashreplace")
    return repr(text if len(text) <= _MOST_QUOTED else f"{text[:_MOST_QUOTED]}...")


class Compared(Enum):
    """The parts of two runs that must be equal."""

    RESULTS = "results"
    """The exit status, standard output and files."""
    EVERYTHING = "everything"
    """Standard error as well."""

    def of(self, report: RunReport) -> RunReport:
        """Return `report` without the parts that are not compared."""
        return report if self is Compared.EVERYTHING else replace(report, stderr=b"")


MOST_CASES = 64
"""The largest number of inputs that one comparison tries."""

_REPEATS = 3
_APART = 1.1
"""Seconds between the first and the last repeat: enough for a clock of whole seconds to move."""
_EXPLAINED = 3
"""Number of wrong inputs after which the comparison stops; one on which it hangs is enough."""
_OWN_NAME = b"program"
_SLACK = 0.25
"""A time limit of which the reference uses this share cannot prove that a program hangs."""


@dataclass(slots=True)
class Reference:
    """The trusted build and the reports of its runs."""

    build: Callable[[], Path]
    """Builds the program and returns its path; called at most once."""
    limits: RunLimits = field(default_factory=RunLimits)
    _program: Path | None = None
    _reports: dict[str, list[RunReport]] = field(default_factory=dict[str, list[RunReport]])
    _first: dict[str, float] = field(default_factory=dict[str, float])
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def reports(self, case: RunCase, *, at_least: int = 1, apart: float = 0.0) -> list[RunReport]:
        """Return the reports of the reference on `case`, from `at_least` runs.

        If several runs are new, the last starts `apart` seconds after the first of all.
        """
        with self._lock:
            key = _hash_contents(case)
            reports = self._reports.setdefault(key, [])
            while len(reports) < at_least:
                if reports and len(reports) == at_least - 1:
                    time.sleep(max(self._first[key] + apart - time.monotonic(), 0.0))
                reports.append(self.run(case))
                self._first.setdefault(key, time.monotonic())
            return list(reports)

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
    """Return a hash of the program's input: two cases may have the same name."""
    files = [
        (name, str(content) if isinstance(content, Path) else hashlib.sha256(content).hexdigest())
        for name, content in sorted(case.files.items())
    ]
    text = repr((case.argv, case.outputs, files)).encode() + case.stdin
    return hashlib.sha256(text).hexdigest()


def choose_cases(spec: RunSpec, *, most: int = MOST_CASES) -> Sequence[RunCase]:
    """Return the cases to compare on: the smallest size class, or all cases without one."""
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
    """Run `program` on `case`, replacing its own path in the output with ``program``.

    Each build lies in a different directory, which must not count as a difference.
    """
    report = run_contained([program], case, limits=limits, environment=environment)
    path = os.fsencode(program)
    return replace(
        report,
        stdout=report.stdout.replace(path, _OWN_NAME),
        stderr=report.stderr.replace(path, _OWN_NAME),
        files={name: content.replace(path, _OWN_NAME) for name, content in report.files.items()},
    )


def compare_behaviour(
    program: Path,
    reference: Reference,
    cases: Sequence[RunCase],
    *,
    limits: RunLimits,
    compared: Compared = Compared.RESULTS,
) -> Finding:
    """Compare `program` with the expected outcome of every case, or with `reference`.

    `compared` selects the parts of two runs that must be equal.
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
    """Return the result of `compare_behaviour` for the program that `building` lends.

    If it cannot be built, the machine may be in trouble, or the reference may fail as well.
    `builds` is the verb for building it, used in messages.
    """
    try:
        with building as program:
            return compare_behaviour(program, reference, cases, limits=limits, compared=compared)
    except BenchmarkInitError as error:
        if trouble := machine_trouble(error):
            return Finding.unknown(f"the program was not built or not run: {trouble}")
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
    report: RunReport,
    limits: RunLimits,
    compared: Compared,
) -> _Judgement:
    """Distinguish a wrong program from one that is flaky or was never right."""
    expected = compared.of(reference.reports(case)[0])
    if expected.stopped_by is not None:
        return _Judgement(
            doubt=f"{case.name}: the reference exceeds its limit of {expected.stopped_by}"
        )
    if report.stopped_by == "time" and expected.seconds > _SLACK * limits.seconds:
        return _Judgement(doubt=f"{case.name}: the reference itself comes near the time limit")
    if _same_behaviour(expected, report) and case.expected is None:
        return _Judgement()
    doubt = _flaky(reference, case, compared)
    if doubt:
        return _Judgement(doubt=doubt)
    if _same_behaviour(expected, report):
        return _Judgement(doubt=f"{case.name}: the reference does not give the recorded result")
    volatile = _volatile(expected, report)
    if volatile:
        return _Judgement(doubt=f"{case.name}: the only difference looks like {volatile}")
    repeat = compared.of(run_program(program, case, limits=limits))
    return _Judgement(_describe_difference(case, expected, report, repeat))


def _flaky(reference: Reference, case: RunCase, compared: Compared) -> str:
    """Return a description of how the reference varies between runs; empty if it does not."""
    runs = reference.reports(case, at_least=_REPEATS, apart=_APART)
    reports = [compared.of(run) for run in runs]
    for report in reports[1:]:
        if not _same_behaviour(reports[0], report):
            kind = _volatile(reports[0], report)
            detail = f", in {kind}" if kind else ""
            return f"{case.name}: flaky, the reference differs between runs{detail}"
    return ""


def _same_behaviour(first: RunReport, second: RunReport) -> bool:
    return (first.exit_status, first.stdout, first.stderr, first.stopped_by, first.files) == (
        second.exit_status,
        second.stdout,
        second.stderr,
        second.stopped_by,
        second.files,
    )


def _volatile(first: RunReport, second: RunReport) -> str | None:
    """Return the kind of difference if all outputs differ only in times or addresses."""
    if first.exit_status != second.exit_status or first.files.keys() != second.files.keys():
        return None
    pairs = [(first.stdout, second.stdout), (first.stderr, second.stderr)]
    pairs += [(first.files[name], second.files[name]) for name in first.files]
    kinds = [differs_only_in_volatile_words(*pair) for pair in pairs if pair[0] != pair[1]]
    return kinds[0] if kinds and None not in kinds else None


def _describe_difference(
    case: RunCase, expected: RunReport, report: RunReport, repeat: RunReport
) -> ValidationError:
    facts: dict[str, object] = {
        "case": case.name,
        "differs in": ", ".join(_differing_parts(expected, report)),
    }
    if report.stopped_by is not None:
        facts["exceeded its limit of"] = report.stopped_by
    if expected.exit_status != report.exit_status:
        facts["exit status"] = f"expected {expected.exit_status}, got {report.exit_status}"
    if expected.stdout != report.stdout:
        facts["output"] = describe_difference(expected.stdout, report.stdout)
    if expected.stderr != report.stderr:
        facts["messages"] = describe_difference(expected.stderr, report.stderr)
    if not _same_behaviour(report, repeat):
        facts["and"] = "it behaves differently on every run"
    return ValidationError("the program behaves differently", facts)


def _differing_parts(expected: RunReport, report: RunReport) -> Iterator[str]:
    if expected.exit_status != report.exit_status:
        yield "exit status"
    if expected.stdout != report.stdout:
        yield "standard output"
    if expected.stderr != report.stderr:
        yield "standard error"
    for name in sorted({*expected.files, *report.files}):
        if expected.files.get(name) != report.files.get(name):
            yield f"file {name}"
