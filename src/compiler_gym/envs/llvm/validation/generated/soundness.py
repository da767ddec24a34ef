# SPDX-License-Identifier: MIT
"""May an input be judged? Only if the unoptimised program does nothing undefined on it.

A compiler may do anything with undefined behaviour, so a difference on an input that shows
it is nobody's fault. The program is built once with the checks of addresses and of
undefined behaviour, and once with those of memory that was never written.
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
"""Arguments and results that were never written are reported, too."""
_INSTRUMENTED_SLOWDOWN = 20
_ASAN, _UBSAN, _MSAN = SANITIZERS
_BOTH = Sanitizer(
    "asan and ubsan", "-fsanitize=address,undefined,float-cast-overflow", "runtime error:"
)
_SANITIZER_MARKS = tuple(one.mark for one in SANITIZERS)


@dataclass(frozen=True, slots=True)
class SoundnessJudge:
    """The unoptimised program with checks in it."""

    programs: tuple[Path, ...]
    knows_source: bool
    """True if undefined behaviour is looked for, which needs the source; if not, addresses
    and memory that was never written are."""

    def is_sound(self, case: RunCase, found: RunReport, *, seconds: float) -> bool:
        """Return whether nothing is reported on `case`, and the checked builds do as `found`."""
        return all(self._agrees(program, case, found, seconds) for program in self.programs)

    def _agrees(self, program: Path, case: RunCase, found: RunReport, seconds: float) -> bool:
        limits = RunLimits(seconds=_INSTRUMENTED_SLOWDOWN * seconds, memory_bytes=0)
        ran = run_program(program, case, limits=limits, environment=_STRICT)
        said = ran.stderr.decode(errors="replace")
        if any(mark in said for mark in _SANITIZER_MARKS):
            return False
        return (ran.exit_status, ran.stdout, ran.stderr, ran.files, ran.stopped_by) == (
            found.exit_status, found.stdout, found.stderr, found.files, None,
        )  # fmt: skip


@contextmanager
def build_judge(benchmark: Benchmark, link: Sequence[str] = ()) -> Generator[SoundnessJudge]:
    """Lend the judge of the unchanged `benchmark`; its programs are removed afterwards."""
    with ExitStack() as stack:
        first, module = _instrument(benchmark)
        memory = instrument(_MSAN, compile_for_sanitizer(_MSAN, benchmark), *_STRICT_PASSES)
        programs = tuple(
            stack.enter_context(build_program(checked, link=(*link, one.flag)))
            for one, checked in ((first, module), (_MSAN, memory))
        )
        yield SoundnessJudge(programs, first is _BOTH)


def _instrument(benchmark: Benchmark) -> tuple[Sanitizer, bytes]:
    """Return the program with both checks if its source is there and can be compiled."""
    if benchmark.sources:
        try:
            return _BOTH, compile_for_sanitizer(_BOTH, benchmark)
        except BenchmarkInitError:
            pass  # it needs flags or headers that are not known
    return _ASAN, instrument(_ASAN, compile_for_sanitizer(_ASAN, benchmark))
