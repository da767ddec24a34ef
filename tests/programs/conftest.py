# SPDX-License-Identifier: MIT
"""Compile each bundled program once per session and lend the binaries to the tests."""

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.loading import load_script

PROGRAMS = Path(__file__).resolve().parents[2] / "programs"

Compile = Callable[..., Path]
"""`compile(name, compiler=..., flags=...)` returns the path of a fresh or remembered binary."""


cases = load_script(PROGRAMS / "_cases.py", "_cases")
build = load_script(PROGRAMS / "build.py", "programs_build")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker here too, so that this folder can be tested alone."""
    config.addinivalue_line("markers", "slow: takes more than a second")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for `program` every folder with a program.toml."""
    if "program" in metafunc.fixturenames:
        names = [path.parent.name for path in sorted(PROGRAMS.glob("*/program.toml"))]
        metafunc.parametrize("program", names, indirect=True, ids=names)


@pytest.fixture
def program(request: pytest.FixtureRequest) -> Any:
    """One bundled program, loaded from its folder."""
    return cases.Program.load(PROGRAMS / request.param)


@pytest.fixture(scope="session")
def compile(tmp_path_factory: pytest.TempPathFactory) -> Compile:
    """A function that compiles a program by name and remembers the binary."""
    folder = tmp_path_factory.mktemp("programs")
    known: dict[tuple[str, str, tuple[str, ...]], Path] = {}

    def compile_once(
        name: str, *, compiler: str = "clang-22", flags: Sequence[str] = ("-O1",)
    ) -> Path:
        need(compiler)
        key = (name, compiler, tuple(flags))
        if key not in known:
            program = cases.Program.load(PROGRAMS / name)
            output = folder / f"{name}-{len(known)}"
            known[key] = build.compile_program(program, output, compiler=compiler, flags=flags)
        return known[key]

    return compile_once


def need(tool: str, package: str | None = None) -> str:
    """Return the path of `tool`, or skip the test with the package to install."""
    found = shutil.which(tool)
    if found is None:
        pytest.skip(f"needs {package or tool}")
    return found


@dataclass(frozen=True)
class Execute:
    """Run a compiled program by name in the test's own folder."""

    compile: Compile
    folder: Path

    def __call__(
        self, name: str, *arguments: str | Path, stdin: bytes = b"", status: int = 0
    ) -> bytes:
        """Return standard output; fail unless the program exits with `status`."""
        command = [str(self.compile(name)), *map(str, arguments)]
        done = subprocess.run(
            command, input=stdin, cwd=self.folder, capture_output=True, check=False, timeout=60
        )
        assert done.returncode == status, done.stderr.decode(errors="replace")
        return done.stdout


@pytest.fixture
def execute(compile: Compile, tmp_path: Path) -> Execute:
    """Run programs with `tmp_path` as their working folder."""
    return Execute(compile, tmp_path)


@pytest.fixture
def tool(tmp_path: Path) -> Callable[..., bytes]:
    """Run somebody else's tool in `tmp_path`; skip the test where it is not installed."""

    def run_tool(
        name: str, *arguments: str | Path, stdin: bytes = b"", package: str | None = None
    ) -> bytes:
        command = [need(name, package), *map(str, arguments)]
        done = subprocess.run(
            command, input=stdin, cwd=tmp_path, capture_output=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout

    return run_tool
