# SPDX-License-Identifier: MIT
"""The behaviour of programs, and output that differs by times and addresses."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from compiler_gym.datasets import ExpectedOutput, RunCase, RunLimits, RunSpec
from compiler_gym.validation import (
    Compared,
    Finding,
    Reference,
    Verdict,
    choose_cases,
    compare_behaviour,
    run_program,
)
from compiler_gym.validation.behaviour import (
    describe_difference,
    differs_only_in_volatile_words,
)

LIMITS = RunLimits(seconds=60.0)
Compare = Callable[..., Finding]


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """Return a function that compares two scripts on cases."""

    def script(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    def run(
        right: str,
        changed: str,
        *cases: RunCase,
        limits: RunLimits = LIMITS,
        compared: Compared = Compared.RESULTS,
    ) -> Finding:
        reference = Reference(lambda: script("reference", right), limits)
        program = script("program", changed)
        return compare_behaviour(
            program, reference, cases or (RunCase(),), limits=limits, compared=compared
        )

    return run


def test_the_same_behaviour_is_fine(compare: Compare) -> None:
    cases = [RunCase((word,), name=word) for word in ("one", "two")]
    finding = compare("echo $1; exit 3", 'printf "%s\\n" $1; exit 3', *cases)
    assert (finding.verdict, finding.reason) == (Verdict.OK, "2 inputs")


@pytest.mark.parametrize(
    ("right", "changed", "words"),
    [
        ("echo 1", "echo 2", "line 1: expected '1', got '2'"),
        ("exit 0", "exit 4", "expected 0, got 4"),
        ("exit 0", "kill -SEGV $$", "expected 0, got -11"),
        ("echo 1 > out", "echo 2 > out", "file out"),
        ("echo 1 > out", "true", "file out"),
        ("true", "sleep 9", "time"),
    ],
)
def test_a_difference_is_a_failure_and_says_in_what(
    compare: Compare, right: str, changed: str, words: str
) -> None:
    limits = RunLimits(seconds=1.5) if "sleep" in changed else LIMITS
    finding = compare(right, changed, RunCase(outputs=("out",)), limits=limits)
    assert finding.verdict is Verdict.FAILED
    assert words in str(finding.errors[0])


def test_recorded_outputs_need_no_reference(tmp_path: Path, compare: Compare) -> None:
    case = RunCase(expected=ExpectedOutput.of(stdout=b"1\n"))
    assert compare("exit 9", "echo 1", case).verdict is Verdict.OK
    assert not (tmp_path / "reference").exists()


def test_a_reference_that_never_gave_what_is_recorded_says_nothing(compare: Compare) -> None:
    case = RunCase(expected=ExpectedOutput.of(stdout=b"1\n"))
    finding = compare("echo 2", "echo 2", case)
    assert finding.verdict is Verdict.UNKNOWN
    assert "does not give the recorded result" in finding.reason


@pytest.mark.parametrize(
    ("right", "kind"),
    [
        ("date +%N", ""),
        ("cat /proc/sys/kernel/random/uuid", ""),
        ('printf "0x%s\\n" $(head -c 6 /dev/urandom | od -An -tx1 | tr -d " ")', "in an address"),
    ],
)
def test_a_flaky_program_is_not_judged(compare: Compare, right: str, kind: str) -> None:
    finding = compare(right, right)
    assert finding.verdict is Verdict.UNKNOWN
    assert "flaky, the reference differs between runs" in finding.reason
    assert kind in finding.reason


def test_a_program_that_computes_with_a_clock_of_seconds_is_not_judged(compare: Compare) -> None:
    # The other one reads it as if it had run five seconds later.
    finding = compare("echo $(($(date +%s) * 7))", "echo $((($(date +%s) + 5) * 7))")
    assert finding.verdict is Verdict.UNKNOWN
    assert "flaky, the reference differs between runs" in finding.reason


def test_an_output_that_differs_by_the_clock_alone_is_not_judged(compare: Compare) -> None:
    now = int(time.time())
    finding = compare(f"echo started {now}", f"echo started {now + 3}")
    assert finding.verdict is Verdict.UNKNOWN
    assert "the only difference looks like a time" in finding.reason


def test_a_program_that_became_random_is_a_failure(compare: Compare) -> None:
    finding = compare("echo 1", "cat /proc/sys/kernel/random/uuid")
    assert finding.verdict is Verdict.FAILED
    assert "differently on every run" in str(finding.errors[0])


def test_a_reference_that_does_not_end_says_nothing(compare: Compare) -> None:
    finding = compare("sleep 9", "true", limits=RunLimits(seconds=0.2))
    assert finding.verdict is Verdict.UNKNOWN
    assert "the reference exceeds its limit of time" in finding.reason


def test_one_wrong_input_among_many_is_found(compare: Compare) -> None:
    cases = [RunCase((str(i),), name=str(i)) for i in range(9)]
    finding = compare("echo $1", "[ $1 = 7 ] && echo 8 || echo $1", *cases)
    assert finding.verdict is Verdict.FAILED
    assert [error.data["case"] for error in finding.errors] == ["7"]


def test_the_shortest_cases_are_chosen_and_spread(compare: Compare) -> None:
    cases = tuple(RunCase(name=str(i), size="test" if i < 10 else "ref") for i in range(20))
    assert [case.name for case in choose_cases(RunSpec(cases), most=5)] == list("02468")
    assert len(choose_cases(RunSpec((RunCase(size="ref"),)))) == 1


def test_a_program_may_tell_where_it_lies(compare: Compare) -> None:
    case = RunCase(outputs=("out",))
    finding = compare('echo "$0"; echo "$0" > out', 'printf "%s\\n" "$0"; echo "$0" > out', case)
    assert finding.verdict is Verdict.OK, finding


def test_its_own_path_is_replaced_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "here"
    path.write_text('#!/bin/sh\necho "$0 x" >&2\n')
    path.chmod(0o755)
    assert run_program(path, RunCase(), limits=LIMITS).stderr == b"program x\n"


@pytest.mark.parametrize(
    ("compared", "verdict"),
    [(Compared.RESULTS, Verdict.OK), (Compared.EVERYTHING, Verdict.FAILED)],
)
def test_messages_count_where_they_are_requested(
    compare: Compare, compared: Compared, verdict: Verdict
) -> None:
    finding = compare("echo 1; echo so >&2", "echo 1; echo thus >&2", compared=compared)
    assert finding.verdict is verdict
    if compared is Compared.EVERYTHING:
        assert "standard error" in str(finding.errors[0])
        assert "expected 'so', got 'thus'" in str(finding.errors[0])


def test_messages_that_differ_from_run_to_run_are_ignored(compare: Compare) -> None:
    text = "echo 1; head -c 8 /dev/urandom | od -An -tx1 >&2"
    finding = compare(text, text, compared=Compared.EVERYTHING)
    assert finding.verdict is Verdict.UNKNOWN
    assert "flaky" in finding.reason


def test_two_cases_of_one_name_are_two_cases(tmp_path: Path) -> None:
    path = tmp_path / "program"
    path.write_text("#!/bin/sh\ncat; echo $1\n")
    path.chmod(0o755)
    reference = Reference(lambda: path, LIMITS)
    cases = (RunCase(("1",)), RunCase(("2",)), RunCase(("2",), stdin=b"3\n"))
    said = [reference.reports(case)[0].stdout for case in cases]
    assert said == [b"1\n", b"2\n", b"3\n2\n"]


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        (b"p 0x7f0012345678 3\n", b"p 0x55d0deadbeef 3\n", "an address"),
        (b"at 12:30:01\n", b"at 12:30:02\n", "a time"),
        (b"Sat Nov 21 11:27:23 2026", b"Sat Nov 21 11:27:24 2026", "a time"),
        (b"2026-11-21 7", b"2026-11-22 7", "a time"),
        (b"0x7f0012345678 12:30", b"0x7f0012345679 12:31", "a time and an address"),
    ],
)
def test_times_and_addresses_are_recognised(one: bytes, other: bytes, kind: str) -> None:
    assert differs_only_in_volatile_words(one, other) == kind


def test_seconds_since_1970_are_a_time_while_they_are_near_to_now() -> None:
    now = int(time.time())
    one, other, old = (b"seed %d" % moment for moment in (now, now - 5, now // 2))
    assert differs_only_in_volatile_words(one, other) == "a time"
    assert differs_only_in_volatile_words(one, old) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"same", b"same"),
        (b"1", b"2"),
        (b"0x12", b"0x13"),
        (b"1234567890", b"1234567891"),
        (b"crc 0x1234567890123456789", b"crc 0x1234567890123456780"),
        (b"12:30:01 3", b"12:30:02 4"),
        (b"0x7f0012345678\n", b"0x7f0012345678"),
        (b"\xff\x00", b"\xff\x01"),
    ],
)
def test_other_differences_stay_differences(one: bytes, other: bytes) -> None:
    assert differs_only_in_volatile_words(one, other) is None


@pytest.mark.parametrize(
    ("wanted", "found", "words"),
    [
        (b"1\n2\n", b"1\n3\n", "line 2: expected '2', got '3'"),
        (b"1\n2\n", b"1\n", "expected 2 lines, got 1"),
        (b"1\r\n", b"1\n", "the line endings differ"),
        (b"\xff", b"x" * 99, rf"line 1: expected '\\xff', got '{'x' * 60}...'"),
    ],
)
def test_a_difference_is_described_in_a_line(wanted: bytes, found: bytes, words: str) -> None:
    assert describe_difference(wanted, found) == words.replace(r"\\xff", "\\\\xff")
