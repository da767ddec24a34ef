# SPDX-License-Identifier: MIT
"""Run the optimised program under sanitizers, on inputs on which the unoptimised one is clean.

The address and memory sanitizers instrument the optimised module itself. Correct optimisations can
trigger false reports (with a sanitizer, clang marks functions so that LLVM avoids these), so a
report counts only if the same actions on a module with clang's marks also lead to a report. The
undefined-behaviour sanitizer is part of clang: its checks are compiled in from source, and the
actions are replayed on the result.
"""

import functools
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.builds import SOURCE_LANGUAGES
from compiler_gym.datasets import Benchmark, RunCase, RunLimits, RunReport, run_contained
from compiler_gym.envs.llvm.programs.source import EMIT_FLAGS
from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.envs.llvm.toolchain.engine import run_engine
from compiler_gym.envs.llvm.toolchain.tools import name_package
from compiler_gym.envs.llvm.validation.build import build_program, find_opt, run_tool
from compiler_gym.envs.llvm.validation.runs import make_module
from compiler_gym.errors import BenchmarkInitError, CompilerGymError, EnvironmentNotSupported
from compiler_gym.files import scratch_directory
from compiler_gym.validation import Finding, Subject, ValidationError, choose_cases

__all__ = [
    "SANITIZERS",
    "Sanitizer",
    "check_sanitizer",
    "collect_reports",
    "compile_for_sanitizer",
    "instrument",
    "runtime_needed",
]

MOST_CASES = 6
"""The most inputs per sanitizer: each run takes many times as long as a normal one."""

_SANITIZER_SLOWDOWN = 6
_KEPT_BUILDS = 64


@dataclass(frozen=True, slots=True)
class Sanitizer:
    """One of clang's sanitizers."""

    name: str
    flag: str
    """The flag that links its run-time library and, from source, compiles its checks in."""
    mark: str
    """The text that identifies its reports."""
    attribute: str = ""
    """The attribute of functions that it instruments; empty if it needs the source."""
    instrument: str = ""
    """The pass that adds its checks."""


SANITIZERS = (
    Sanitizer("asan", "-fsanitize=address", "AddressSanitizer:", "sanitize_address", "asan"),
    Sanitizer("ubsan", "-fsanitize=undefined", "runtime error:"),
    Sanitizer("msan", "-fsanitize=memory", "MemorySanitizer:", "sanitize_memory", "msan"),
)

_ENVIRONMENT = {
    "ASAN_OPTIONS": "exitcode=99:detect_leaks=0:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=0",
    "MSAN_OPTIONS": "exitcode=99:allocator_may_return_null=1",
}


def check_sanitizer(sanitizer: Sanitizer, subject: Subject) -> Finding:
    """Return whether `sanitizer` reports nothing on inputs where the unoptimised code is clean."""
    with runtime_needed():
        return _sanitizer_finding(sanitizer, subject)


@contextmanager
def runtime_needed() -> Generator[None]:
    """Turn a failed link of a sanitizer's run-time library into installation advice.

    Raises `EnvironmentNotSupported`.
    """
    try:
        yield
    except BenchmarkInitError as error:
        if "clang_rt" not in str(error):
            raise
        reason = str(error).strip().splitlines()[-1]
        raise EnvironmentNotSupported(
            "clang's run-time libraries not found; install them with "
            f"`apt install {name_package('clang_rt')}`: {reason}"
        ) from error


def _sanitizer_finding(sanitizer: Sanitizer, subject: Subject) -> Finding:
    spec = subject.benchmark.run
    if spec is None or not spec.cases:
        return Finding.unknown("the benchmark does not describe how to run this program")
    cases = choose_cases(spec, most=MOST_CASES)
    clean = [case for case in cases if not _reference_reports(sanitizer, subject.benchmark, case)]
    if not clean:
        return Finding.unknown("the unoptimised program already has reports")
    if not sanitizer.attribute:
        module = _replay(subject, compile_for_sanitizer(sanitizer, subject.benchmark))
        return _finding_of_reports(_reports(sanitizer, module, clean, spec.link), clean)
    reports = collect_reports(sanitizer, make_module(subject), clean, spec.link)
    if not reports:
        return Finding.ok(f"{len(clean)} inputs")
    module = _replay(subject, compile_for_sanitizer(sanitizer, subject.benchmark))
    confirmed = collect_reports(sanitizer, module, [case for case, _ in reports], spec.link)
    if confirmed:
        return _finding_of_reports(confirmed, clean)
    return Finding.unknown(
        f"the report on {reports[0][0].name} disappears if the functions are marked for the "
        f"sanitizer from the start, so it may be false: {reports[0][1]}"
    )


def collect_reports(
    sanitizer: Sanitizer, module: bytes, cases: Sequence[RunCase], link: Sequence[str]
) -> list[tuple[RunCase, str]]:
    """Return the cases on which the instrumented `module` has a report, with the report."""
    return _reports(sanitizer, instrument(sanitizer, module), cases, link)


def _finding_of_reports(reports: list[tuple[RunCase, str]], cases: Sequence[RunCase]) -> Finding:
    if not reports:
        return Finding.ok(f"{len(cases)} inputs")
    errors = [
        ValidationError("a sanitizer reports an error", {"case": case.name, "report": report})
        for case, report in reports[:3]
    ]
    return Finding.fail(errors, f"{len(reports)} of {len(cases)} inputs have reports")


def _reports(
    sanitizer: Sanitizer, module: bytes, cases: Sequence[RunCase], link: Sequence[str]
) -> list[tuple[RunCase, str]]:
    reports: list[tuple[RunCase, str]] = []
    with build_program(module, link=(*link, sanitizer.flag)) as program:
        for case in cases:
            report = _report_in(sanitizer, _run_case(program, case))
            if report:
                reports.append((case, report))
    return reports


def _run_case(program: Path, case: RunCase) -> RunReport:
    limits = RunLimits(seconds=10.0 * _SANITIZER_SLOWDOWN, memory_bytes=0)
    return run_contained([program], case, limits=limits, environment=_ENVIRONMENT)


def _report_in(sanitizer: Sanitizer, run: RunReport) -> str:
    lines = run.stderr.decode(errors="replace").splitlines()
    return next((line.strip() for line in lines if sanitizer.mark in line), "")


@functools.lru_cache(maxsize=_KEPT_BUILDS)
def _clean_cache(sanitizer: Sanitizer, contents: bytes) -> dict[str, str]:
    return {}


def _reference_reports(sanitizer: Sanitizer, benchmark: Benchmark, case: RunCase) -> str:
    """Return the sanitizer's report on the unoptimised program; empty if it is clean."""
    cached = _clean_cache(sanitizer, benchmark.contents)
    if case.name not in cached:
        module = compile_for_sanitizer(sanitizer, benchmark)
        assert benchmark.run is not None
        # Run all cases at once: building costs more than running.
        cases = choose_cases(benchmark.run, most=MOST_CASES)
        reports = collect_reports if sanitizer.attribute else _reports
        texts = dict.fromkeys([c.name for c in cases], "")
        texts |= {c.name: text for c, text in reports(sanitizer, module, cases, benchmark.run.link)}
        cached.update(texts)
    return cached[case.name]


def _replay(subject: Subject, module: bytes) -> bytes:
    """Return `module` after the actions of `subject`."""
    uri = subject.benchmark.uri
    query = "&".join(f"{key}={value}" for key, value in uri.parameters.items())
    program = Benchmark.from_file_contents(
        f"benchmark://user-v0/sanitized{'?' if query else ''}{query}", module
    )
    with subject.make_env() as env:
        env.observation_space = env.reward_space = None
        env.reset(benchmark=program, action_space=subject.env.action_space)
        _, _, _, truncated, info = env.multistep(subject.actions)
        if truncated and "error" in info:
            error: CompilerGymError = info["error"]
            raise error
        return env.observation["Bitcode"].tobytes()


def compile_for_sanitizer(sanitizer: Sanitizer, benchmark: Benchmark) -> bytes:
    """Return the unoptimised module, prepared for `sanitizer` as clang would do it."""
    return _mark_contents(sanitizer, benchmark.contents, tuple(benchmark.sources))


@functools.lru_cache(maxsize=_KEPT_BUILDS)
def _mark_contents(
    sanitizer: Sanitizer, contents: bytes, sources: tuple[tuple[str, bytes], ...]
) -> bytes:
    if not sanitizer.attribute:
        return _from_source(sanitizer, sources)
    return _opt(contents, "forceattrs", f"-force-attribute={sanitizer.attribute}")


def instrument(sanitizer: Sanitizer, module: bytes, *options: str) -> bytes:
    """Return `module` with the checks of `sanitizer`, using further `options` of opt."""
    force = f"-force-attribute={sanitizer.attribute}"
    return _opt(module, f"forceattrs,{sanitizer.instrument}", force, *options)


def _opt(module: bytes, passes: str, *options: str) -> bytes:
    with scratch_directory("build") as directory:
        source, target = Path(directory, "in.bc"), Path(directory, "out.bc")
        source.write_bytes(module)
        run_tool([find_opt(), f"-passes={passes}", *options, str(source), "-o", str(target)])
        return target.read_bytes()


def _from_source(sanitizer: Sanitizer, sources: Sequence[tuple[str, bytes]]) -> bytes:
    """Return the module of `sources`, in their original layout, with the sanitizer's checks."""
    with scratch_directory("build") as directory:
        root = Path(directory)
        for name, contents in sources:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(contents)
        names = [name for name, _ in sources if Path(name).suffix in SOURCE_LANGUAGES]
        if not names:
            raise BenchmarkInitError("the benchmark does not include its sources")
        modules = [_compile(root, name, sanitizer) for name in names]
    return modules[0] if len(modules) == 1 else run_engine("link", modules)[0]


def _compile(root: Path, name: str, sanitizer: Sanitizer) -> bytes:
    """Return the module of one source file, trying C11 if the default standard fails."""
    target = root / f"{name}.bc"
    includes = [f"-I{folder}" for folder in (root, Path("/usr/include/csmith")) if folder.is_dir()]
    checks = [sanitizer.flag, "-fno-sanitize-recover=all"]
    words = [*clang_command(), *includes, *checks, "-ffp-contract=off", str(root / name)]
    try:
        run_tool([*words, *EMIT_FLAGS, "-o", str(target)], folder=root)
    except BenchmarkInitError:
        if not name.endswith(".c"):
            raise
        run_tool([*words, "-std=c11", *EMIT_FLAGS, "-o", str(target)], folder=root)
    return target.read_bytes()
