# SPDX-License-Identifier: MIT
"""Wrong programs are reported, right ones are not, and what cannot be told is unknown."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

import compiler_gym
from compiler_gym.core import CompilerEnvState
from compiler_gym.datasets import Benchmark, BundledPrograms, RunCase, RunSpec
from compiler_gym.envs.llvm import LlvmEnv, make_benchmark_from_source
from compiler_gym.envs.llvm.validation import QUICK
from compiler_gym.envs.llvm.validation.runs import compare_module
from compiler_gym.envs.llvm.validation.sanitizers import SANITIZERS, reports_of
from compiler_gym.validation import ValidationResult, Verdict

MakeEnv = Callable[..., LlvmEnv]
ASAN, _, MSAN = SANITIZERS
pytestmark = pytest.mark.skipif(shutil.which("clang-22") is None, reason="needs clang-22")


def program(source: str, *cases: RunCase, **options: object) -> Benchmark:
    spec = RunSpec(cases or (RunCase(),), **options)  # type: ignore[arg-type]  # varied by the tests
    return make_benchmark_from_source(source, lang="c", run=spec)


@pytest.fixture(scope="module")
def validated() -> Iterator[Callable[..., ValidationResult]]:
    """Return a function that runs a few actions on a program and validates the end."""
    with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount") as env:
        assert isinstance(env, LlvmEnv)

        def validate(
            benchmark: str | Benchmark, *names: str, rungs: Iterable[str] | None = None
        ) -> ValidationResult:
            env.reset(benchmark=benchmark)
            env.multistep([env.action_space[name] for name in names])
            return env.validate(rungs=rungs)

        yield validate


def reason(result: ValidationResult, name: str) -> str:
    rung = result.rung(name)
    assert rung is not None, name
    return rung.reason


def verdicts(result: ValidationResult) -> dict[str, str]:
    return {rung.name: rung.verdict.value for rung in result.rungs}


def test_every_rung_is_reported_and_the_bundled_program_passes(
    validated: Callable[..., ValidationResult],
) -> None:
    result = validated("cbench-v1/bitcount", "sroa", "instcombine", "simplifycfg")
    assert verdicts(result) == {
        **dict.fromkeys(("replay", "verify", "run", "more", "asan", "ubsan", "msan"), "ok"),
        "alive": "ok" if shutil.which("alive-tv") else "unknown",
    }
    assert result.okay()
    assert result.benchmark_semantics_validated
    assert reason(result, "run") == "22 inputs"
    assert result.walltime >= sum(rung.seconds for rung in result.rungs) > 0


def test_a_module_that_does_something_else_is_reported() -> None:
    right = program('int puts(const char *); int main() { puts("right"); }')
    wrong = program('int puts(const char *); int main() { puts("wrong"); }')
    finding = compare_module(right, wrong.contents)
    assert finding.verdict is Verdict.FAILED
    assert "expected 'right', found 'wrong'" in str(finding.errors[0])


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
        ('int main(void) { for (;;) __asm__ volatile(""); }', "passes its limit of time"),
    ],
)
def test_programs_that_cannot_be_compared_are_unknown(
    validated: Callable[..., ValidationResult], source: str, words: str
) -> None:
    result = validated(program(source, time_limit=0.5), "sroa", rungs=("run",))
    assert result.okay()
    assert words in reason(result, "run")


def test_undefined_behaviour_of_the_program_itself_is_no_finding(
    validated: Callable[..., ValidationResult],
) -> None:
    source = "int main(int n, char **v) { int a[2] = {0, 0}; return a[n + 2] * 0; }"
    result = validated(program(source), rungs=("asan", "ubsan"))
    assert result.okay()
    assert "not clean itself" in reason(result, "asan")
    assert "not clean itself" in reason(result, "ubsan")


@pytest.mark.parametrize(
    ("sanitizer", "source"),
    [
        (ASAN, "int main(int n, char **v) { volatile int a[4] = {1}; return a[n + 3] & 0; }"),
        (
            MSAN,
            "int main(int n, char **v) { volatile int a[4]; a[0] = 1;"
            'if (a[n]) __asm__ volatile(""); return 0; }',
        ),
    ],
    ids=["asan", "msan"],
)
def test_a_sanitizer_sees_what_the_output_does_not_show(sanitizer, source: str) -> None:  # type: ignore[no-untyped-def]
    module = program(source).contents
    ((case, report),) = reports_of(sanitizer, module, [RunCase()], ())
    assert case.name == "default"
    assert "Sanitizer:" in report


def test_missing_tools_are_named(
    validated: Callable[..., ValidationResult], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = shutil.which
    monkeypatch.setattr(
        shutil, "which", lambda name, *a: None if name == "opt-22" else known(name, *a)
    )
    source = "int main(void) { return 7; }"
    result = validated(program(source), rungs=("asan",))
    assert "needs opt-22: install it with `apt install llvm-22`" in reason(result, "asan")


def test_a_compiler_without_sanitizers_is_said(
    validated: Callable[..., ValidationResult], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clang = tmp_path / "clang-22"
    clang.write_text(
        '#!/bin/sh\ncase "$*" in *-fsanitize=*) echo "cannot find libclang_rt" >&2; exit 1;; esac\n'
        f'exec {shutil.which("clang-22")} "$@"\n'
    )
    clang.chmod(0o755)
    benchmark = program("int main(void) { return 8; }")
    monkeypatch.setenv("COMPILER_GYM_CLANG", str(clang))
    result = validated(benchmark, rungs=("asan", "ubsan", "run"))
    for name in ("asan", "ubsan"):
        assert "`apt install libclang-rt-22-dev`: cannot find" in reason(result, name)
    assert verdicts(result) == {"replay": "ok", "run": "ok", "asan": "unknown", "ubsan": "unknown"}


FAKE_ALIVE = """#!/bin/sh
line=----------------------------------------
echo $line; echo 'define i32 @f(i32 %0) {'; echo '=>'; echo "$ALIVE_SAYS"
"""


@pytest.mark.parametrize(
    ("says", "actions", "verdict"),
    [
        ("Transformation seems to be correct!", ("sroa",), "ok"),
        (
            "Transformation doesn't verify!\nERROR: Value mismatch\nExample: %0 = 3",
            ("sroa",),
            "failed",
        ),
        ("Transformation doesn't verify!\nERROR: Value mismatch", ("inline",), "unknown"),
        ("ERROR: Timeout", ("sroa",), "unknown"),
        ("ERROR: Unsupported instruction: fence", ("sroa",), "unknown"),
    ],
)
def test_proofs_are_counted_and_only_a_counterexample_fails(
    validated: Callable[..., ValidationResult], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    says: str, actions: tuple[str, ...], verdict: str,
) -> None:  # fmt: skip
    tool = tmp_path / "alive-tv"
    tool.write_text(FAKE_ALIVE)
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("ALIVE_SAYS", says)
    result = validated("cbench-v1/crc32", *actions, rungs=("alive",))
    assert verdicts(result)["alive"] == verdict, result
    assert result.okay() == (verdict != "failed")


@pytest.mark.skipif(shutil.which("csmith") is None, reason="needs csmith")
def test_checksums_of_a_generated_program_agree(validated: Callable[..., ValidationResult]) -> None:
    result = validated("generator://csmith-v0/7", "sroa", "gvn", rungs=("checksums",))
    assert verdicts(result) == {"replay": "ok", "checksums": "ok"}
    assert "-O0, -O1, -O2, -O3, -Oz" in reason(result, "checksums")


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


BUNDLED = sorted(BundledPrograms().benchmark_uris())


@pytest.mark.parametrize("uri", BUNDLED, ids=lambda uri: uri.rpartition("/")[2])
def test_every_bundled_program_passes_on_at_least_twenty_inputs(
    validated: Callable[..., ValidationResult], uri: str
) -> None:
    result = validated(
        uri, "sroa", "early-cse", "licm", "inline", "gvn", "simplifycfg", rungs=QUICK
    )
    assert result.okay(), result.error_details
    assert verdicts(result) == {"replay": "ok", "verify": "ok", "run": "ok"}
    assert int(reason(result, "run").split()[0]) >= 20


def test_states_are_validated_in_parallel() -> None:
    make = lambda: compiler_gym.make("llvm-ic-v0")  # noqa: E731 - one line
    states = [
        CompilerEnvState(f"cbench-v1/{name}", "sroa,instcombine")
        for name in ("crc32", "sha", "qsort", "bitcount")
    ]
    results = list(compiler_gym.validate_states(make, states, nproc=2, inorder=True))
    assert [r.state for r in results] == states
    assert all(result.benchmark_semantics_validated for result in results)
