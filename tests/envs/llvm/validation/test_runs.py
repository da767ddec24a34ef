# SPDX-License-Identifier: MIT
"""A program that does something else is found, and what cannot be told is unknown."""

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from compiler_gym.core import env as environment
from compiler_gym.datasets import Benchmark, RunCase, RunSpec
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.validation.runs import (
    FURTHER,
    check_fresh,
    compare_module,
    more_cases,
)
from compiler_gym.validation import Subject, ValidationResult, Verdict
from tests.stand_ins import stand_in

from .conftest import program, reason, verdicts

MakeEnv = Callable[..., LlvmEnv]
pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


def test_a_module_that_does_something_else_is_reported() -> None:
    right = program('int puts(const char *); int main() { puts("right"); }')
    wrong = program('int puts(const char *); int main() { puts("wrong"); }')
    finding = compare_module(right, wrong.contents)
    assert finding.verdict is Verdict.FAILED
    assert "expected 'right', got 'wrong'" in str(finding.errors[0])


def test_a_module_that_does_not_link_is_reported() -> None:
    right = program("int main() { return 0; }")
    finding = compare_module(right, program("int f(void) { return 0; }").contents)
    assert finding.verdict is Verdict.FAILED
    assert "the program does not build" in str(finding.errors[0])


def test_a_program_that_never_linked_is_unknown(validated: Callable[..., ValidationResult]) -> None:
    result = validated(program("int missing(void); int main() { return missing(); }"), "sroa")
    assert result.okay()
    assert "does not build either" in reason(result, "run")


def test_a_program_of_which_nothing_is_known_is_unknown(
    validated: Callable[..., ValidationResult], tmp_path: Path
) -> None:
    (tmp_path / "a.c").write_text("int main(void) { return 3; }")
    result = validated(f"file://{tmp_path}/a.c", "sroa")
    assert verdicts(result)["run"] == verdicts(result)["asan"] == "unknown"
    assert not result.benchmark_semantics_validated
    assert result.okay()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ('#include <stdio.h>\nint main(void) { printf("%p\\n", (void *)stdout); }', "flaky"),
        (
            "#include <stdio.h>\n#include <time.h>\nint main(void) { struct timespec t;"
            'clock_gettime(0, &t); printf("%ld\\n", t.tv_nsec); }',
            "flaky",
        ),
        ('int main(void) { for (;;) __asm__ volatile(""); }', "exceeds its limit of time"),
    ],
)
def test_programs_that_cannot_be_compared_are_unknown(
    validated: Callable[..., ValidationResult], source: str, words: str
) -> None:
    result = validated(program(source, time_limit=0.5), "sroa", rungs=("run",))
    assert result.okay()
    assert words in reason(result, "run")


def test_invalid_ir_is_found_at_its_step(
    monkeypatch: pytest.MonkeyPatch, make_env: MakeEnv
) -> None:
    from compiler_gym.errors import InvalidIrError

    env = make_env(benchmark="cbench-v1/crc32")
    env.reset()
    env.multistep([env.action_space["sroa"], env.action_space["gvn"]])
    asked: list[str] = []

    def refuse(self: LlvmEnv, key: str, value: str) -> str:
        asked.append(key)
        if len(asked) == 2:
            raise InvalidIrError("Instruction does not dominate all uses!")
        return "valid"

    monkeypatch.setattr(LlvmEnv, "send_param", refuse)
    result = env.validate(rungs=("verify",))
    assert asked == ["llvm.verify"] * 2
    assert "step=2, action='gvn', verifier='Instruction does not dominate" in result.error_details


def test_programs_with_runs_can_be_validated_by_their_benchmark(make_env: MakeEnv) -> None:
    env = make_env()
    env.reset(benchmark="cbench-v1/crc32")
    assert env.benchmark is not None
    assert env.benchmark.is_validatable()
    assert env.benchmark.validate(env) == []
    benchmark = program('int puts(const char *); int main() { puts("a"); }')
    other = program('int puts(const char *); int main() { puts("b"); }')
    env.reset(benchmark=Benchmark(benchmark.uri, other.contents, run=RunSpec(
        (RunCase(),), reference=benchmark.contents
    )))  # fmt: skip
    assert len(list(env.benchmark.ivalidate(env))) == 1


def test_further_inputs_are_made_and_then_the_longer_ones_taken() -> None:
    sized = tuple(RunCase(name=size, size=size) for size in ("test", "small", "ref"))
    spec = RunSpec(sized, more=lambda number: RunCase(name=f"made {number}"))
    names = [case.name for case in more_cases(spec, range(2))]
    assert names == ["made 0", "made 1", "small", "ref"]
    assert len(more_cases(spec)) == FURTHER + 2
    assert [case.name for case in more_cases(RunSpec(sized))] == ["small", "ref"]


def test_a_program_without_cases_is_not_run() -> None:
    benchmark = Benchmark("benchmark://user-v0/1", b"", run=RunSpec(()))
    assert compare_module(benchmark, b"").verdict is Verdict.UNKNOWN


def test_validating_says_nothing_of_rewards_that_it_does_not_ask_for(
    caplog: pytest.LogCaptureFixture, validated: Callable[..., ValidationResult]
) -> None:
    environment._say_once.cache_clear()  # pyright: ignore[reportPrivateUsage]  # once a process
    assert validated(program("int main() { return 0; }"), "sroa").okay()
    assert "no reward" not in caplog.text


def test_a_program_that_knows_the_inputs_by_heart_is_found_on_fresh_ones() -> None:
    head = (
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int n, char **a) { int x = atoi(a[1]);"
    )
    right = program(
        head + 'printf("%d\\n", x * 6); }',
        RunCase(("12",)),
        more=stand_in(lambda number: RunCase((str(number % 1000),))),
    )
    learnt = program(head + 'puts(x == 12 ? "72" : "6"); }')
    assert compare_module(right, learnt.contents).verdict is Verdict.OK
    for contents, verdict in ((right.contents, Verdict.OK), (learnt.contents, Verdict.FAILED)):
        module = SimpleNamespace(observation={"Bitcode": np.frombuffer(contents, np.int8)})
        subject = SimpleNamespace(benchmark=right, env=module)
        assert check_fresh(cast("Subject", subject)).verdict is verdict


def test_fresh_inputs_are_others_every_time() -> None:
    asked: list[int] = []

    def more(number: int) -> RunCase:
        asked.append(number)
        return RunCase()

    right = program("int main(void) { return 0; }", more=more)
    module = SimpleNamespace(observation={"Bitcode": np.frombuffer(right.contents, np.int8)})
    for _ in range(2):
        check_fresh(cast("Subject", SimpleNamespace(benchmark=right, env=module)))
    assert len(set(asked)) == len(asked)
    assert min(asked) >= FURTHER
