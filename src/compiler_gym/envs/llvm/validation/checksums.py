# SPDX-License-Identifier: MIT
"""Programs from csmith print a checksum of all global variables; all builds must agree on it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from compiler_gym.datasets import Benchmark, RunCase, RunLimits, RunReport, run_contained
from compiler_gym.envs.llvm.programs.collections.generators import CsmithBenchmark
from compiler_gym.envs.llvm.validation.build import build_program, link_program, run_tool
from compiler_gym.envs.llvm.validation.runs import make_module
from compiler_gym.errors import BenchmarkInitError
from compiler_gym.files import scratch_directory
from compiler_gym.validation import Finding, Subject, ValidationError

__all__ = ["check_checksums", "is_of_csmith"]

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Oz")
_INCLUDES = "/usr/include/csmith"


def is_of_csmith(subject: Subject) -> bool:
    """Return whether csmith generated the program."""
    return isinstance(subject.benchmark, CsmithBenchmark)


def check_checksums(subject: Subject) -> Finding:
    """Return whether the program prints the checksum on which its other builds agree."""
    benchmark = subject.benchmark
    limits = RunLimits(seconds=benchmark.run.time_limit if benchmark.run else 10.0)
    with scratch_directory("build") as directory:
        references = dict(_references(benchmark, Path(directory), limits))
    stopped = [name for name, ran in references.items() if ran.stopped_by is not None]
    if stopped:
        return Finding.unknown(
            f"the build at {stopped[0]} does not finish within {limits.seconds:g} s"
        )
    if len({(ran.stdout, ran.exit_status) for ran in references.values()}) > 1:
        sums = ", ".join(f"{name}: {_checksum(ran)}" for name, ran in references.items())
        return Finding.unknown(f"builds of the unchanged program disagree: {sums}")
    expected = next(iter(references.values()))
    with build_program(make_module(subject)) as program:
        actual = run_contained([program], RunCase(), limits=limits)
    if (actual.stdout, actual.exit_status) == (expected.stdout, expected.exit_status):
        return Finding.ok(f"{_checksum(expected)} at {', '.join(references)}")
    facts = {"expected": _checksum(expected), "found": _checksum(actual), "by": list(references)}
    if actual.stopped_by is not None:
        facts["passed its limit of"] = actual.stopped_by
    return Finding.fail([ValidationError("the checksum differs", facts)])


def _references(
    benchmark: Benchmark, folder: Path, limits: RunLimits
) -> Iterator[tuple[str, RunReport]]:
    for level in LEVELS:
        program = link_program(benchmark.contents, folder / f"program{level}", flags=(level,))
        yield level, run_contained([program], RunCase(), limits=limits)
    gcc = shutil.which("gcc")
    if gcc is not None and Path(_INCLUDES).is_dir():
        source, program = folder / "source.c", folder / "program-gcc"
        source.write_bytes(next(iter(benchmark.sources)).contents)
        try:
            run_tool([gcc, "-w", "-O1", f"-I{_INCLUDES}", str(source), "-o", str(program)])
        except BenchmarkInitError:
            return
        yield "gcc -O1", run_contained([program], RunCase(), limits=limits)


def _checksum(ran: RunReport) -> str:
    lines = ran.stdout.decode(errors="replace").split()
    return f"{lines[-1] if lines else 'nothing'}, exit status {ran.exit_status}"
