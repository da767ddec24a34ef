# SPDX-License-Identifier: MIT
"""The soundness of inputs: the unoptimised program must do nothing undefined on them.

A compiler may do anything with undefined behaviour, so a difference on such an input is not a bug.
The program is built once with the address and undefined-behaviour sanitizers, and once with the
memory sanitizer.
"""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.datasets import Benchmark, RunCase, RunLimits, RunReport
from compiler_gym.envs.llvm.validation.build import build_program
from compiler_gym.envs.llvm.validation.sanitizers import (
    SANITIZERS,
    Sanitizer,
    compile_for_sanitizer,
    instrument,
)
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.validation import run_program

__all__ = ["SoundnessJudge", "build_judge"]

_STRICT = {
    "ASAN_OPTIONS": "exitcode=99:detect_leaks=0:allocator_may_return_null=0"
    ":max_allocation_size_mb=512:strict_string_checks=1:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=0",
    "MSAN_OPTIONS": "exitcode=99:allocator_may_return_null=0:max_allocation_size_mb=512",
}
_STRICT_PASSES = ("-msan-eager-checks=1",)
"""Also reports uninitialised arguments and return values."""
_INSTRUMENTED_SLOWDOWN = 20
_ASAN, _UBSAN, _MSAN = SANITIZERS
_BOTH = Sanitizer(
    "asan and ubsan", "-fsanitize=address,undefined,float-cast-overflow", "runtime error:"
)
_SANITIZER_MARKS = tuple(sanitizer.mark for sanitizer in SANITIZERS)


@dataclass(frozen=True, slots=True)
class SoundnessJudge:
    """The unoptimised program, built with sanitizers."""

    programs: tuple[Path, ...]
    knows_source: bool
    """True if undefined behaviour is checked, which needs the source; otherwise only addresses
    and uninitialised memory are."""

    def is_sound(self, case: RunCase, found: RunReport, *, seconds: float) -> bool:
        """Return whether the checked builds report nothing on `case` and behave like `found`."""
        return all(self._agrees(program, case, found, seconds) for program in self.programs)

    def _agrees(self, program: Path, case: RunCase, expected: RunReport, seconds: float) -> bool:
        limits = RunLimits(seconds=_INSTRUMENTED_SLOWDOWN * seconds, memory_bytes=0)
        run = run_program(program, case, limits=limits, environment=_STRICT)
        stderr = run.stderr.decode(errors="replace")
        if any(mark in stderr for mark in _SANITIZER_MARKS):
            return False
        return (run.exit_status, run.stdout, run.stderr, run.files, run.stopped_by) == (
            expected.exit_status, expected.stdout, expected.stderr, expected.files, None,
        )  # fmt: skip


@contextmanager
def build_judge(benchmark: Benchmark, link: Sequence[str] = ()) -> Generator[SoundnessJudge]:
    """Yield the judge of the unchanged `benchmark`; its programs are removed afterwards."""
    with ExitStack() as stack:
        first, module = _instrument(benchmark)
        memory = instrument(_MSAN, compile_for_sanitizer(_MSAN, benchmark), *_STRICT_PASSES)
        programs = tuple(
            stack.enter_context(build_program(checked, link=(*link, sanitizer.flag)))
            for sanitizer, checked in ((first, module), (_MSAN, memory))
        )
        yield SoundnessJudge(programs, first is _BOTH)


def _instrument(benchmark: Benchmark) -> tuple[Sanitizer, bytes]:
    """Return the program with both sanitizers if its source is available and compiles."""
    if benchmark.sources:
        try:
            return _BOTH, compile_for_sanitizer(_BOTH, benchmark)
        except BenchmarkInitError:
            pass  # the source needs unknown flags or headers
    return _ASAN, instrument(_ASAN, compile_for_sanitizer(_ASAN, benchmark))
