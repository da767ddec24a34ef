# SPDX-License-Identifier: MIT
"""A program that is wrong on no recorded input is found out; a right one passes."""

import shutil
from collections.abc import Callable
from dataclasses import replace

import pytest

from compiler_gym.datasets import Benchmark, RunCase
from compiler_gym.validation import ValidationResult

from ..conftest import program, reason, verdicts
from .conftest import made

pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")
Validate = Callable[..., ValidationResult]
TRIES = 60


def against(right: Benchmark, wrong: Benchmark) -> Benchmark:
    """Return `wrong`, which ought to do what `right` does."""
    assert right.run is not None
    spec = replace(right.run, reference=right.contents, generated=TRIES)
    return Benchmark("benchmark://user-v0/wrong", wrong.contents, sources=right.sources, run=spec)


@pytest.mark.parametrize(
    "wrong", [{"rare": "6"}, {"deep": "number & 30"}], ids=["a rare number", "an option"]
)
def test_a_bug_that_recorded_inputs_miss_is_found(
    validated: Validate, right: Benchmark, wrong: dict[str, str]
) -> None:
    result = validated(against(right, made(**wrong)), rungs=("run", "generated"))
    assert verdicts(result) == {"replay": "ok", "run": "ok", "generated": "failed"}
    assert "generated/" in result.error_details


def test_a_right_program_passes_and_says_how_much_was_seen(
    validated: Validate, right: Benchmark
) -> None:
    result = validated(
        against(right, right), "sroa", "instcombine", "gvn", "simplifycfg", rungs=("generated",)
    )
    assert verdicts(result)["generated"] == "ok", result
    assert f"of {TRIES} generated inputs" in reason(result, "generated")
    assert "edges, the known inputs alone" in reason(result, "generated")


def test_messages_count_too(validated: Validate) -> None:
    source = "#include <stdio.h>\nint main(int n, char **v) { fputs(WORD, stderr); return n; }"
    right, wrong = (
        program(source.replace("WORD", f'"{word}"'), RunCase(("1",))) for word in ("so", "thus")
    )
    result = validated(against(right, wrong), rungs=("run", "generated"))
    assert verdicts(result) == {"replay": "ok", "run": "ok", "generated": "failed"}
    assert "standard error" in result.error_details


def test_without_the_source_a_difference_is_not_a_verdict(
    validated: Validate, right: Benchmark
) -> None:
    benchmark = against(right, made(rare="6"))
    benchmark = Benchmark(benchmark.uri, benchmark.contents, run=benchmark.run)
    result = validated(benchmark, rungs=("generated",))
    assert result.okay()
    assert reason(result, "generated").startswith("undefined behaviour cannot be ruled out")


def test_a_program_that_must_get_no_other_inputs_gets_none(
    validated: Validate, right: Benchmark
) -> None:
    benchmark = against(right, made(rare="6"))
    assert benchmark.run is not None
    benchmark.run = replace(benchmark.run, generated=0)
    assert verdicts(validated(benchmark, rungs=("generated",))) == {"replay": "ok"}


def test_a_program_without_input_is_not_asked(validated: Validate) -> None:
    result = validated(program("int main(void) { return 3; }"), rungs=("generated",))
    assert verdicts(result) == {"replay": "ok"}


def test_a_program_that_is_never_sound_is_unknown(validated: Validate) -> None:
    source = "int main(int n, char **v) { int a[2] = {0, 0}; return a[n + 2] * 0; }"
    benchmark = program(source, RunCase(("1",)), generated=30)
    result = validated(benchmark, rungs=("generated",))
    assert verdicts(result)["generated"] == "unknown"
    assert "can be compared" in reason(result, "generated")
