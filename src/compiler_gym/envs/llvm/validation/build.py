# SPDX-License-Identifier: MIT
"""Build programs from modules: code generation and linking, without middle-end passes.

Validation must run the module unchanged, so clang generates code with its passes disabled. The
reference is the benchmark's own module at ``-O0``.
"""

import functools
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

from compiler_gym.datasets import Benchmark, BenchmarkUri, RunLimits, RunSpec
from compiler_gym.envs.llvm.toolchain.clang import clang_command
from compiler_gym.envs.llvm.toolchain.tools import require_tool
from compiler_gym.errors import (
    BenchmarkInitError,
    BenchmarkTimeoutError,
)
from compiler_gym.files import KeptDirectory, scratch_directory
from compiler_gym.sandbox import run_tool_boxed
from compiler_gym.validation import Reference

__all__ = [
    "AS_IT_IS",
    "REFERENCE",
    "build_program",
    "build_reference",
    "find_opt",
    "link_program",
    "other_machine",
    "paths_in",
    "run_tool",
]

AS_IT_IS = ("-O1", "-Xclang", "-disable-llvm-passes")
"""Flags that generate code without changing the module."""
REFERENCE = ("-O0",)
"""Flags for the reference: unoptimised code."""

_LINK_SECONDS = 300.0
_MOST_REFERENCES = 32


def link_program(
    module: bytes, output: Path, *, link: Sequence[str] = (), flags: Sequence[str] = AS_IT_IS
) -> Path:
    """Link `module` to `output`; raise `BenchmarkInitError` with clang's diagnostics."""
    source = output.with_suffix(".bc")
    source.write_bytes(module)
    words = [*clang_command(), *flags, "-Wno-override-module", "-x", "ir", str(source)]
    command = [*words, "-o", str(output), *(["-x", "none", *link] if link else [])]
    run_tool(command, folder=output.parent, visible=paths_in(link))
    return output


@contextmanager
def build_program(
    module: bytes, *, link: Sequence[str] = (), flags: Sequence[str] = AS_IT_IS
) -> Generator[Path]:
    """Yield the program of `module`, in a directory that is removed afterwards."""
    with scratch_directory("build") as directory:
        yield link_program(module, Path(directory) / "program", link=link, flags=flags)


def build_reference(benchmark: Benchmark, spec: RunSpec) -> Reference:
    """Return the program of the unchanged `benchmark`, built on its first run."""
    contents = spec.reference or benchmark.contents
    return _reference(contents, tuple(spec.link), spec.time_limit)


def run_tool(
    command: Sequence[str],
    *,
    seconds: float = _LINK_SECONDS,
    folder: Path | None = None,
    visible: Sequence[str] = (),
) -> "subprocess.CompletedProcess[bytes]":
    """Run a tool of LLVM; raise `BenchmarkInitError` with its output if it fails.

    With a `folder`, the tool runs in a sandbox and can read only that folder and the user's files
    in `visible`; use this for tools that compile or link.
    """
    try:
        if folder is not None and shutil.which(command[0]) and not _is_of_python(command):
            resolved = [str(shutil.which(command[0])), *command[1:]]
            result = run_tool_boxed(resolved, folder=folder, seconds=seconds, visible=visible)
        else:
            result = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
            )
    except subprocess.TimeoutExpired as error:
        raise BenchmarkTimeoutError(f"{command[0]} did not finish within {seconds:g} s") from error
    except OSError as error:
        raise BenchmarkInitError(f"cannot run {command[0]}: {error.strerror}") from error
    if result.returncode:
        stderr = result.stderr.decode(errors="replace").strip()[:2000]
        raise BenchmarkInitError(f"{Path(command[0]).name} failed:\n{stderr}")
    return result


def _is_of_python(command: Sequence[str]) -> bool:
    """Return whether this is the clang of a Python package, which needs a home and a cache."""
    return command[0] == sys.executable


def paths_in(link: Sequence[str]) -> list[str]:
    """Return the absolute files and folders in linker flags."""
    words = [word.removeprefix("-L").removeprefix("-Wl,-rpath,") for word in link]
    return [word for word in words if os.path.isabs(word) and os.path.exists(word)]


def find_opt() -> str:
    """Return LLVM's own ``opt``; raise `EnvironmentNotSupported` with installation advice."""
    return require_tool("opt")


def other_machine(benchmark: Benchmark) -> str:
    """Return the target in the address of `benchmark`; empty if its programs run here."""
    target = BenchmarkUri.from_string(str(benchmark.uri)).parameters.get("target", "")
    return "" if target.split("-")[0] in ("", "x86_64", "amd64") else target


_lock = threading.Lock()


@functools.lru_cache(maxsize=_MOST_REFERENCES)
def _reference(contents: bytes, link: tuple[str, ...], seconds: float) -> Reference:
    directory = KeptDirectory("reference")

    def build() -> Path:
        with _lock:
            return link_program(contents, directory.path / "program", link=link, flags=REFERENCE)

    return Reference(build, RunLimits(seconds=seconds))
