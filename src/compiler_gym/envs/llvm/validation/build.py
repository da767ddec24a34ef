# SPDX-License-Identifier: MIT
"""Make programs of modules: code generation and linking, without any pass of the middle end.

What a validation runs must be the module as it is. Clang's code generator is given
the module with its passes switched off; the reference is the unchanged module at
``-O0``.
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
"""Generate code for the module and change nothing in it."""
REFERENCE = ("-O0",)
"""The plainest code there is."""

_LINK_SECONDS = 300.0
_MOST_REFERENCES = 32


def link_program(
    module: bytes, output: Path, *, link: Sequence[str] = (), flags: Sequence[str] = AS_IT_IS
) -> Path:
    """Write the program of `module` to `output`; raise `BenchmarkInitError` with clang's words."""
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
    """Lend the program of `module`, in a directory that is removed afterwards."""
    with scratch_directory("build") as directory:
        yield link_program(module, Path(directory) / "program", link=link, flags=flags)


def build_reference(benchmark: Benchmark, spec: RunSpec) -> Reference:
    """Return the program of the unchanged `benchmark`, built when it is first run."""
    contents = spec.reference or benchmark.contents
    return _reference(contents, tuple(spec.link), spec.time_limit)


def run_tool(
    command: Sequence[str],
    *,
    seconds: float = _LINK_SECONDS,
    folder: Path | None = None,
    visible: Sequence[str] = (),
) -> "subprocess.CompletedProcess[bytes]":
    """Run a tool of LLVM; raise `BenchmarkInitError` with its words if it fails.

    One that makes code or reads source names the `folder` it works in: it reads no other file
    of the user's but those that are `visible`.
    """
    try:
        if folder is not None and shutil.which(command[0]) and not _is_of_python(command):
            found = [str(shutil.which(command[0])), *command[1:]]
            done = run_tool_boxed(found, folder=folder, seconds=seconds, visible=visible)
        else:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False
            )
    except subprocess.TimeoutExpired as late:
        raise BenchmarkTimeoutError(f"{command[0]} did not finish within {seconds:g} s") from late
    except OSError as error:
        raise BenchmarkInitError(f"cannot run {command[0]}: {error.strerror}") from error
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip()[:2000]
        raise BenchmarkInitError(f"{Path(command[0]).name} failed:\n{words}")
    return done


def _is_of_python(command: Sequence[str]) -> bool:
    """Return whether it is the clang of a Python package, which needs a home and a cache."""
    return command[0] == sys.executable


def paths_in(link: Sequence[str]) -> list[str]:
    """Return the files and folders that a linker is told of."""
    words = [word.removeprefix("-L").removeprefix("-Wl,-rpath,") for word in link]
    return [word for word in words if os.path.isabs(word) and os.path.exists(word)]


def find_opt() -> str:
    """Return LLVM's own ``opt``; raise `EnvironmentNotSupported` with what to install."""
    return require_tool("opt")


def other_machine(benchmark: Benchmark) -> str:
    """Return the machine that the address of `benchmark` makes it for, unless it runs here."""
    asked = BenchmarkUri.from_string(str(benchmark.uri)).parameters.get("target", "")
    return "" if asked.split("-")[0] in ("", "x86_64", "amd64") else asked


_lock = threading.Lock()


@functools.lru_cache(maxsize=_MOST_REFERENCES)
def _reference(contents: bytes, link: tuple[str, ...], seconds: float) -> Reference:
    directory = KeptDirectory("reference")

    def build() -> Path:
        with _lock:
            return link_program(contents, directory.path / "program", link=link, flags=REFERENCE)

    return Reference(build, RunLimits(seconds=seconds))
