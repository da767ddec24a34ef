# SPDX-License-Identifier: MIT
"""Programs for the engine's tests, compiled once a session with Debian's clang."""

import shutil
import subprocess
from pathlib import Path

import pytest

SOURCES = sorted((Path(__file__).parent / "programs").glob("*.c*"))
CSMITH_SEEDS = (3, 5, 8, 11)
FLAGS = ("-emit-llvm", "-c", "-w", "-I/usr/include/csmith")
UNOPTIMISED = ("-O2", "-Xclang", "-disable-llvm-passes")


def need(tool: str) -> str:
    """Return the path of `tool`, or skip the test."""
    path = shutil.which(tool)
    if path is None:
        pytest.skip(f"needs {tool}")
    return path


def compile_program(source: Path, *flags: str) -> bytes:
    """Return the bitcode clang makes of a source file."""
    command = [need("clang-22"), *FLAGS, *flags, str(source), "-o", "-"]
    return subprocess.run(command, check=True, capture_output=True, timeout=60).stdout


@pytest.fixture(scope="session")
def sources(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Source files by name: ours, and random ones where csmith is installed."""
    found = {path.stem: path for path in SOURCES}
    if shutil.which("csmith") and Path("/usr/include/csmith/csmith.h").exists():
        folder = tmp_path_factory.mktemp("csmith")
        for seed in CSMITH_SEEDS:
            path = folder / f"csmith{seed}.c"
            command = ["csmith", "--seed", str(seed), "--max-funcs", "4", "--output", str(path)]
            subprocess.run(command, check=True, timeout=60, cwd=folder)
            found[path.stem] = path
    return found


@pytest.fixture(scope="session")
def corpus(sources: dict[str, Path]) -> dict[str, bytes]:
    """Bitcode by program name, ready to be optimised."""
    return {name: compile_program(path, *UNOPTIMISED) for name, path in sources.items()}
