# SPDX-License-Identifier: MIT
"""Run a build with stand-ins for its compilers, and read the commands that they record."""

import errno
import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from compiler_gym.builds import SCRIPT
from compiler_gym.errors import ProjectError
from compiler_gym.files import lines
from compiler_gym.sandbox import Printed, build_variables, run_in_own_session

WATCH = Path(SCRIPT)
"""The script that stands in for a compiler."""

_UNKNOWN = re.compile(r"(unknown|unsupported|unrecognized) (argument|command-line option|option)")
_C = ("cc", "gcc", "clang")
_CXX = ("c++", "g++", "clang++")
_MOST_LOGGED, _MOST_KEPT, _LONGEST_LINE = 64 << 20, 1 << 20, 1 << 12
"""Limits on the output of a build in bytes: in the log, in memory, and per displayed line."""
_READ_ONLY = "Read-only file system"


@dataclass(frozen=True, slots=True)
class Event:
    """One command of a build that wrote files."""

    words: tuple[str, ...]
    """The command, beginning with the real compiler."""
    cwd: Path
    made: Mapping[str, str]
    """The files that it wrote, as it names them, with the SHA-256 of their contents then."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The recorded commands of a build."""

    folder: Path
    """The folder for the stand-ins, the journal and the log."""
    tree: Path
    """The folder in which the build ran."""

    @property
    def journal(self) -> Path:
        """The path of the journal, with one line of JSON for each command."""
        return self.folder / "commands.jsonl"

    @property
    def log(self) -> Path:
        """The path of the build's output."""
        return self.folder / "build.log"

    def events(self) -> Iterator[Event]:
        """Yield the commands in the order in which they finished."""
        try:
            for line in lines(self.journal):
                yield msgspec.convert(line, Event, dec_hook=lambda kind, text: kind(text))
        except (ValueError, TypeError, OSError) as error:
            raise ProjectError(
                f"{self.journal} is damaged: {error}: build again in another folder"
            ) from error


def record_build(
    tree: Path,
    command: Sequence[str],
    folder: Path,
    *,
    compiler: Sequence[str],
    cxx_compiler: Sequence[str],
    also_named: Sequence[str] = (),
    on_line: Callable[[str], None] | None = None,
    poll: Callable[[], None] = lambda: None,
    wrap: Callable[[Sequence[str]], Sequence[str]] = lambda words: words,
) -> Recording:
    """Run `command` in `tree` with stand-ins that run `compiler` and `cxx_compiler`.

    The stand-ins are on PATH under the usual names of compilers, with or without a version, and
    those in `also_named`, and in CC and CXX. The build's standard input is closed. `wrap` turns the
    build's command into the one to run; `poll` is called regularly and may raise. Raises
    `ProjectError` with the last output of the build if it fails.
    """
    recording = Recording(folder, tree)
    compiler, cxx_compiler = _resolve_command(compiler), _resolve_command(cxx_compiler)
    shims = folder / "compilers"
    shims.mkdir(parents=True, exist_ok=True)
    recording.journal.unlink(missing_ok=True)
    for name in {*_names(_C), *also_named, Path(compiler[0]).name}:
        stand_in(shims / name, recording.journal, compiler)
    for name in {*_names(_CXX), Path(cxx_compiler[0]).name} - {Path(compiler[0]).name}:
        stand_in(shims / name, recording.journal, cxx_compiler)
    variables = build_variables() | {
        "PATH": f"{shims}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "CC": _as_word(shims / "cc"),
        "CXX": _as_word(shims / "c++"),
        "PWD": str(tree),
        **rust_variables(compiler),
    }
    watching = _Lines(on_line, poll)
    status = _run(command, wrap, tree, variables, recording.log, watching)
    if status:
        advice = _advice(watching.printed.text(), compiler)
        raise ProjectError(
            f"the build failed with status {status}: {shlex.join(command)}\n"
            f"{watching.printed.last_lines()}{advice}\n"
            f"The whole output is in {recording.log}"
        )
    return recording


def stand_in(
    path: Path,
    journal: str | Path,
    real: Sequence[str],
    *,
    python: str = sys.executable,
    watch: str | Path = WATCH,
    unrecorded: Sequence[str] = (),
) -> None:
    """Write the program `path`, which runs `real` and records its outputs in `journal`.

    All paths are those that the build sees, which differ in a container. A command that contains
    one of the strings `unrecorded` is run without recording, in a third of the time.
    """
    words = [python, "-I", "-S", str(watch), str(journal), str(len(real)), *real]
    patterns = "|".join(f"*{shlex.quote(text)}*" for text in unrecorded)
    only_run = f'case "$*" in {patterns}) exec {shlex.join(real)} "$@";; esac\n'
    path.write_text(f'#!/bin/sh\n{only_run if unrecorded else ""}exec {shlex.join(words)} "$@"\n')
    path.chmod(0o755)


def rust_variables(compiler: Sequence[str]) -> dict[str, str]:
    """Return the variables with which cargo passes whole programs to `compiler` as bitcode.

    They are the same for a build and for its tests, so that cargo does not build again. Only clang
    can read bitcode.
    """
    name = Path(compiler[0]).name
    if not name.startswith("clang"):
        return {}
    flags = ("-Clinker-plugin-lto", f"-Clinker={name}", "-Clink-arg=-fuse-ld=lld")
    return {
        "RUSTFLAGS": " ".join([*os.environ.get("RUSTFLAGS", "").split(), *flags]),
        "CARGO_PROFILE_RELEASE_LTO": "fat",
        "CARGO_PROFILE_RELEASE_CODEGEN_UNITS": "1",
    }


def compiler_variable(name: str) -> str:
    """Return the variable for a compiler called `name`: CC, CXX, or nothing for others.

    >>> compiler_variable("gcc-12"), compiler_variable("c++"), compiler_variable("make")
    ('CC', 'CXX', '')
    """
    plain = re.sub(r"-[\d.]+$", "", name)
    return "CC" if plain in _C else "CXX" if plain in _CXX else ""


def _resolve_command(words: Sequence[str]) -> list[str]:
    """Return the command with its full path: the build's PATH finds our stand-in instead."""
    program = shutil.which(words[0])
    if program is None:
        raise ProjectError(f"{words[0]} not found on PATH; it is needed to build the project")
    return [program, *words[1:]]


def _names(names: Sequence[str]) -> set[str]:
    """Return `names`, and those programs on PATH that add a version number to one."""
    versioned = re.compile(rf"({'|'.join(map(re.escape, names))})-[\d.]+")
    folders = map(Path, os.environ.get("PATH", os.defpath).split(os.pathsep))
    installed = (name for folder in folders for name in _list_readable(folder))
    return {*names, *filter(versioned.fullmatch, installed)}


def _list_readable(folder: Path) -> list[str]:
    """Return the names in `folder`; empty if it cannot be read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _as_word(path: Path) -> str:
    """Return text that needs no quotes in a Makefile: the path, or else only its name."""
    return str(path) if shlex.quote(str(path)) == str(path) else path.name


def _run(
    command: Sequence[str],
    wrap: Callable[[Sequence[str]], Sequence[str]],
    cwd: Path,
    variables: Mapping[str, str],
    log: Path,
    watching: "_Lines",
) -> int:
    """Run a build and return its status; an interrupt stops all of its processes."""
    try:
        _require_program(command[0], cwd, variables["PATH"])
        with log.open("wb") as file:

            def take(part: bytes) -> None:
                file.write(part[: max(_MOST_LOGGED - watching.printed.count, 0)])
                watching.take(part)

            process = run_in_own_session(
                wrap(command), cwd=cwd, environment=variables, takes=take, poll=watching.poll
            )
            if watching.printed.count > _MOST_LOGGED:
                file.write(f"\n[{_MOST_LOGGED:,} bytes above; the end follows]\n".encode())
                file.write(watching.printed.text()[-_MOST_KEPT:].encode())
            return process.status
    except OSError as error:
        raise ProjectError(
            f"cannot run {command[0]}: {error.strerror}: write the build command "
            "after `--`, such as `-- make` or `-- sh -c './configure && make'`"
        ) from error


def _require_program(name: str, cwd: Path, path: str) -> None:
    """Raise `OSError` if the program cannot be run, because a wrapper would hide the error."""
    if shutil.which(str(cwd / name) if os.sep in name else name, path=path) is None:
        number = errno.EACCES if (cwd / name).is_file() and os.sep in name else errno.ENOENT
        raise OSError(number, os.strerror(number), name)


class _Lines:
    """A forwarder for the output of a build, line by line, which stores the end."""

    def __init__(self, on_line: Callable[[str], None] | None, poll: Callable[[], None]) -> None:
        self.printed = Printed(_MOST_KEPT)
        self.poll = poll
        self._on_line = on_line
        self._rest = b""

    def take(self, part: bytes) -> None:
        """Process the next part of the output."""
        self.printed.add(part)
        *lines, tail = (self._rest + part).split(b"\n")
        self._rest = tail[-_LONGEST_LINE:]
        if self._on_line is not None:
            for line in lines:
                self._on_line(line[-_LONGEST_LINE:].decode(errors="replace").rstrip())


def _advice(output: str, compiler: Sequence[str]) -> str:
    """Return advice for a build that failed, if the cause is known; otherwise nothing."""
    if _READ_ONLY in output:
        return (
            "\nThe build runs in a copy and must not change the project itself: use relative "
            "paths in the build"
        )
    if not _UNKNOWN.search(output):
        return ""
    return (
        f"\nThe project is built with {Path(compiler[0]).name} here, which does not support every "
        "flag of other compilers: remove these flags, or choose a compiler with --compiler"
    )
