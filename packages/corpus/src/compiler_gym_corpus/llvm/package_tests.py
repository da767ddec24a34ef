# SPDX-License-Identifier: MIT
"""Validate a linked program with the tests of its package.

The optimised module is linked and replaces the program in the built tree; then the package's tests
run there, in a sandbox with the system it was built in. Tests that pass with a broken program, or
fail with the unoptimised one, are useless: both are checked once before the first verdict.
"""

import os
import tempfile
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.datasets import PackageTest
from compiler_gym.envs.llvm.toolchain import tool_name
from compiler_gym.envs.llvm.validation import AS_IT_IS
from compiler_gym.errors import ValidationUnavailableError
from compiler_gym.sandbox import BUILD_FOLDER, BoxReport, RootedPlace, RunLimits, run_rooted
from compiler_gym.validation import ValidationError
from compiler_gym_corpus.llvm.packages import unit_compiler
from compiler_gym_corpus.packages import BuiltPackage, lend_tree

__all__ = ["PackageTests"]

_SECONDS = 600.0
_LIMITS = RunLimits(_SECONDS, 0, 1 << 30, 512, 4 << 30, 4096)
_NEVER_WORKS = b"#!/bin/sh\nexit 99\n"
_MODULE = "compiler_gym.bc"
_MOST_OUTPUT = 600
_ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


@dataclass(frozen=True, slots=True)
class PackageTests:
    """A validation callback that runs the tests of the program's package."""

    folder: Path
    """The folder of built packages."""
    test: PackageTest

    _checked: ClassVar[dict[tuple[str, str, bytes], str]] = {}
    """The reason why the tests of a program are useless, or an empty string."""
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __call__(self, env: Any) -> Iterable[ValidationError]:
        """Return the failures of the package's tests with the program of `env`.

        Raises `ValidationUnavailableError` if they cannot be run or are useless.
        """
        with self._lock, lend_tree(self.folder, self.test, unit_compiler.packages) as package:
            key = (self.test.package, self.test.file, env.benchmark.contents)
            if key not in self._checked:
                self._checked[key] = self._find_flaw(package, env.benchmark.contents)
            if self._checked[key]:
                raise ValidationUnavailableError(self._checked[key])
            return self._test_program(package, env.observation["Bitcode"].tobytes())

    def _find_flaw(self, package: BuiltPackage, contents: bytes) -> str:
        subject = f"the tests of {self.test.package}"
        with self._program(package) as program:
            _replace_program(program, _NEVER_WORKS)
            if not self._run(package)[0]:
                return f"{subject} pass without {self.test.file}: they do not run it"
        failures = self._test_program(package, contents)
        return f"{subject} fail with the unoptimised program: {failures[0]}" if failures else ""

    def _test_program(self, package: BuiltPackage, module: bytes) -> list[ValidationError]:
        """Return the errors of the program linked from `module`."""
        with self._program(package) as program:
            linked = package.work / "program"
            output = self._link(package, module)
            if output:
                return [ValidationError("the program does not link", {"error": output})]
            _replace_program(program, linked.read_bytes())
            failure, output = self._run(package)
            if program.read_bytes() != linked.read_bytes():
                raise ValidationUnavailableError(
                    f"the tests of {self.test.package} rebuild {self.test.file}, so they do not "
                    "run the optimised program"
                )
        if not failure:
            return []
        facts = {"package": self.test.package, "tests": failure, "output": output}
        return [ValidationError("the tests of the package fail", facts)]

    def _link(self, package: BuiltPackage, module: bytes) -> str:
        """Link `module` as ``program`` and return clang's output if that fails."""
        (package.work / _MODULE).write_bytes(module)
        (package.work / "program").unlink(missing_ok=True)
        driver = tool_name("clang++" if self.test.language == "c++" else "clang")
        command = [f"/usr/bin/{driver}", *AS_IT_IS, "-Wno-override-module", "-x", "ir"]
        command += [f"{BUILD_FOLDER}/{_MODULE}", "-x", "none", *self.test.libraries]
        command += ["-o", f"{BUILD_FOLDER}/program"]
        report, output = _step(package, command, package.inside)
        if report.exit_status == 0 and (package.work / "program").is_file():
            return ""
        return output or f"clang exited with status {report.exit_status}"

    def _run(self, package: BuiltPackage) -> tuple[str, str]:
        """Run the tests; return the failure, or an empty string, and the end of their output."""
        directory = os.path.normpath(f"{package.inside}/{self.test.folder}")
        report, output = _step(package, self.test.command, directory)
        if report.stopped_by is not None:
            return f"exceeded their limit of {report.stopped_by}", output
        status = report.exit_status
        return (f"exited with status {status}" if status else ""), output

    @contextmanager
    def _program(self, package: BuiltPackage) -> Generator[Path]:
        """Yield the file of the program in the tree, and restore it at the end."""
        path = package.tree / self.test.file
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(os.path.realpath(package.tree)) or not real.is_file():
            raise ValidationUnavailableError(
                f"{self.test.file} is missing from the built tree of {self.test.package}"
            )
        original = real.read_bytes()
        try:
            yield real
        finally:
            _replace_program(real, original)


def _replace_program(program: Path, contents: bytes) -> None:
    """Replace the program but keep its timestamps, so that make rebuilds nothing."""
    status = program.stat()
    program.unlink()
    program.write_bytes(contents)
    program.chmod(0o755)
    os.utime(program, ns=(status.st_atime_ns, status.st_mtime_ns))


def _step(package: BuiltPackage, command: Sequence[str], directory: str) -> tuple[BoxReport, str]:
    with tempfile.TemporaryFile() as output:
        report = run_rooted(
            command,
            RootedPlace(package.root, package.work, directory),
            limits=_LIMITS,
            environment=_ENVIRONMENT,
            output=output.fileno(),
        )
        size = output.seek(0, os.SEEK_END)
        output.seek(max(0, size - _MOST_OUTPUT))
        return report, output.read().decode(errors="replace").strip()
