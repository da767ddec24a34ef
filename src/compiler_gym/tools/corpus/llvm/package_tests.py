# SPDX-License-Identifier: MIT
"""Check a linked program by the tests of the package that it comes from.

The program is made of the optimised module, put in its place in the tree that was kept after the
build, and the package's own tests are run there, in the system that it was built in and in
a sandbox. Tests that pass without the program, or that fail with the unoptimised one, say nothing:
both are tried once before the first verdict.
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
from compiler_gym.tools.corpus.llvm.packages import unit_compiler
from compiler_gym.tools.corpus.packages import BuiltPackage, lend_tree
from compiler_gym.validation import ValidationError

__all__ = ["PackageTests"]

_SECONDS = 600.0
_LIMITS = RunLimits(_SECONDS, 0, 1 << 30, 512, 4 << 30, 4096)
_NEVER_WORKS = b"#!/bin/sh\nexit 99\n"
_MODULE = "compiler_gym.bc"
_KEPT_WORDS = 600
_ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}


@dataclass(frozen=True, slots=True)
class PackageTests:
    """A validation callback: it is called with the environment and returns what is wrong."""

    folder: Path
    """The folder of built packages."""
    test: PackageTest

    _checked: ClassVar[dict[tuple[str, str, bytes], str]] = {}
    """Why the tests of a program say nothing, or an empty text where they do."""
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __call__(self, env: Any) -> Iterable[ValidationError]:
        """Return what the package's tests find wrong with the program that `env` holds.

        Raises `ValidationUnavailableError` where they cannot be run or say nothing.
        """
        with self._lock, lend_tree(self.folder, self.test, unit_compiler.packages) as place:
            key = (self.test.package, self.test.file, env.benchmark.contents)
            if key not in self._checked:
                self._checked[key] = self._why_they_say_nothing(place, env.benchmark.contents)
            if self._checked[key]:
                raise ValidationUnavailableError(self._checked[key])
            return self._test_program(place, env.observation["Bitcode"].tobytes())

    def _why_they_say_nothing(self, place: BuiltPackage, contents: bytes) -> str:
        whose = f"the tests of {self.test.package}"
        with self._program(place) as program:
            _put(program, _NEVER_WORKS)
            if not self._run(place)[0]:
                return f"{whose} pass without {self.test.file}: they do not run it"
        found = self._test_program(place, contents)
        return f"{whose} fail with the unoptimised program: {found[0]}" if found else ""

    def _test_program(self, place: BuiltPackage, module: bytes) -> list[ValidationError]:
        """Return what is wrong with the program of `module`."""
        with self._program(place) as program:
            made = place.work / "program"
            words = self._make(place, module)
            if words:
                return [ValidationError("the program does not link", {"error": words})]
            _put(program, made.read_bytes())
            failed, words = self._run(place)
            if program.read_bytes() != made.read_bytes():
                raise ValidationUnavailableError(
                    f"the tests of {self.test.package} make {self.test.file} again: they do not "
                    "run the optimised program"
                )
        if not failed:
            return []
        facts = {"package": self.test.package, "tests": failed, "output": words}
        return [ValidationError("the tests of the package fail", facts)]

    def _make(self, place: BuiltPackage, module: bytes) -> str:
        """Make ``program`` of `module`, and return clang's words if it refuses."""
        (place.work / _MODULE).write_bytes(module)
        (place.work / "program").unlink(missing_ok=True)
        driver = tool_name("clang++" if self.test.language == "c++" else "clang")
        words = [f"/usr/bin/{driver}", *AS_IT_IS, "-Wno-override-module", "-x", "ir"]
        words += [f"{BUILD_FOLDER}/{_MODULE}", "-x", "none", *self.test.libraries]
        words += ["-o", f"{BUILD_FOLDER}/program"]
        report, said = _step(place, words, place.inside)
        if report.exit_status == 0 and (place.work / "program").is_file():
            return ""
        return said or f"clang ended with {report.exit_status}"

    def _run(self, place: BuiltPackage) -> tuple[str, str]:
        """Run the tests; return how they failed, or nothing, and what they said at the end."""
        directory = os.path.normpath(f"{place.inside}/{self.test.folder}")
        report, said = _step(place, self.test.command, directory)
        if report.stopped_by is not None:
            return f"passed their limit of {report.stopped_by}", said
        return (f"ended with {report.exit_status}" if report.exit_status else ""), said

    @contextmanager
    def _program(self, place: BuiltPackage) -> Generator[Path]:
        """Lend the file of the program in the tree, and put it back as it was."""
        path = place.tree / self.test.file
        real = Path(os.path.realpath(path))
        if not real.is_relative_to(os.path.realpath(place.tree)) or not real.is_file():
            raise ValidationUnavailableError(
                f"expected {self.test.file} in the built tree of {self.test.package}, found none"
            )
        before = real.read_bytes()
        try:
            yield real
        finally:
            _put(real, before)


def _put(program: Path, contents: bytes) -> None:
    """Write the program with the times that it had: what depends on it is not made again."""
    known = program.stat()
    program.unlink()
    program.write_bytes(contents)
    program.chmod(0o755)
    os.utime(program, ns=(known.st_atime_ns, known.st_mtime_ns))


def _step(place: BuiltPackage, words: Sequence[str], directory: str) -> tuple[BoxReport, str]:
    with tempfile.TemporaryFile() as printed:
        report = run_rooted(
            words,
            RootedPlace(place.root, place.work, directory),
            limits=_LIMITS,
            environment=_ENVIRONMENT,
            output=printed.fileno(),
        )
        size = printed.seek(0, os.SEEK_END)
        printed.seek(max(0, size - _KEPT_WORDS))
        return report, printed.read().decode(errors="replace").strip()
