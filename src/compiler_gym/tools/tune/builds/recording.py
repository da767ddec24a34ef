# SPDX-License-Identifier: MIT
"""Run a build with stand-ins for its compilers, and read what they wrote down."""

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

from compiler_gym.errors import ProjectError
from compiler_gym.files import lines
from compiler_gym.sandbox import Printed, build_variables, run_in_own_session

__all__ = ["WATCH", "Event", "Recording", "compiler_variable", "record_build", "stand_in"]

WATCH = Path(__file__).with_name("watch.py")
"""The script that stands in for a compiler."""

_UNKNOWN = re.compile(r"(unknown|unsupported|unrecognized) (argument|command-line option|option)")
_C = ("cc", "gcc", "clang")
_CXX = ("c++", "g++", "clang++")
_MOST_LOGGED, _MOST_KEPT, _LONGEST_LINE = 64 << 20, 1 << 20, 1 << 12
"""Bytes of what a build prints: on the disk, in memory, and of one line that is shown."""
_READ_ONLY = "Read-only file system"


@dataclass(frozen=True, slots=True)
class Event:
    """One command of a build that made something."""

    words: tuple[str, ...]
    """The command that was run, the real compiler first."""
    cwd: Path
    made: Mapping[str, str]
    """The files that it made, as it names them, with the SHA-256 of their contents then."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What a build ran."""

    folder: Path
    """Where stand-ins, journal and log lie."""
    tree: Path
    """Where the build ran."""

    @property
    def journal(self) -> Path:
        """One line of JSON for each command."""
        return self.folder / "commands.jsonl"

    @property
    def log(self) -> Path:
        """What the build printed."""
        return self.folder / "build.log"

    def events(self) -> Iterator[Event]:
        """Yield what was run, in the order in which it ended."""
        try:
            for read in lines(self.journal):
                yield msgspec.convert(read, Event, dec_hook=lambda kind, text: kind(text))
        except (ValueError, TypeError, OSError) as error:
            raise ProjectError(
                f"what the build ran is damaged: {error}: build again, in another folder"
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

    They are on PATH under the names that compilers have there, with a version or without, and
    those `also_named`, and in CC and CXX. The build's standard input is closed. `wrap` makes the
    command that is run of the build, and `poll` is called now and then, and may raise. Raises
    `ProjectError` with the end of what the build printed when it fails.
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
    """Write the program `path`, which runs `real` and notes in `journal` what that made.

    Places are those that the build sees: in a system of its own, `python` and `watch` too. A
    command with one of the texts `unrecorded` in it is only run, which takes a third of the time.
    """
    words = [python, "-I", "-S", str(watch), str(journal), str(len(real)), *real]
    patterns = "|".join(f"*{shlex.quote(text)}*" for text in unrecorded)
    only_run = f'case "$*" in {patterns}) exec {shlex.join(real)} "$@";; esac\n'
    path.write_text(f'#!/bin/sh\n{only_run if unrecorded else ""}exec {shlex.join(words)} "$@"\n')
    path.chmod(0o755)


def compiler_variable(name: str) -> str:
    """Return the variable that names a compiler called `name`: CC, CXX, or nothing for others.

    >>> compiler_variable("gcc-12"), compiler_variable("c++"), compiler_variable("make")
    ('CC', 'CXX', '')
    """
    plain = re.sub(r"-[\d.]+$", "", name)
    return "CC" if plain in _C else "CXX" if plain in _CXX else ""


def _resolve_command(words: Sequence[str]) -> list[str]:
    """Return the command with its program's place: on the build's PATH its name is ours."""
    found = shutil.which(words[0])
    if found is None:
        raise ProjectError(f"expected {words[0]} on PATH to build the project with")
    return [found, *words[1:]]


def _names(names: Sequence[str]) -> set[str]:
    """Return `names`, and those that PATH has of them with the number of a version behind."""
    versioned = re.compile(rf"({'|'.join(map(re.escape, names))})-[\d.]+")
    folders = map(Path, os.environ.get("PATH", os.defpath).split(os.pathsep))
    found = (name for folder in folders for name in _list_readable(folder))
    return {*names, *filter(versioned.fullmatch, found)}


def _list_readable(folder: Path) -> list[str]:
    """Return the names in `folder`; none where PATH names what this user cannot read."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _as_word(path: Path) -> str:
    """Return what a Makefile may write without quotes: the name, where the path needs them."""
    return str(path) if shlex.quote(str(path)) == str(path) else path.name


def _run(
    command: Sequence[str],
    wrap: Callable[[Sequence[str]], Sequence[str]],
    cwd: Path,
    variables: Mapping[str, str],
    log: Path,
    watching: "_Lines",
) -> int:
    """Run a build to its end; an interrupt ends it, and all that it started, first."""
    try:
        _require_program(command[0], cwd, variables["PATH"])
        with log.open("wb") as kept:

            def take(part: bytes) -> None:
                kept.write(part[: max(_MOST_LOGGED - watching.printed.count, 0)])
                watching.take(part)

            ended = run_in_own_session(
                wrap(command), cwd=cwd, environment=variables, takes=take, poll=watching.poll
            )
            if watching.printed.count > _MOST_LOGGED:
                kept.write(f"\n[{_MOST_LOGGED:,} bytes are here, and the end]\n".encode())
                kept.write(watching.printed.text()[-_MOST_KEPT:].encode())
            return ended.status
    except OSError as error:
        raise ProjectError(
            f"cannot run {command[0]}: {error.strerror}: give the build after `--`, "
            "for example `-- make`, or `-- sh -c './configure && make'`"
        ) from error


def _require_program(name: str, cwd: Path, path: str) -> None:
    """Raise the `OSError` of a program that cannot be run: what wraps it would say it its way."""
    if shutil.which(str(cwd / name) if os.sep in name else name, path=path) is None:
        number = errno.EACCES if (cwd / name).is_file() and os.sep in name else errno.ENOENT
        raise OSError(number, os.strerror(number), name)


class _Lines:
    """Hands on what a build prints, line by line, and keeps a little of it."""

    def __init__(self, on_line: Callable[[str], None] | None, poll: Callable[[], None]) -> None:
        self.printed = Printed(_MOST_KEPT)
        self.poll = poll
        self._on_line = on_line
        self._rest = b""

    def take(self, part: bytes) -> None:
        """Take what was printed next."""
        self.printed.add(part)
        *lines, rest = (self._rest + part).split(b"\n")
        self._rest = rest[-_LONGEST_LINE:]
        if self._on_line is not None:
            for line in lines:
                self._on_line(line[-_LONGEST_LINE:].decode(errors="replace").rstrip())


def _advice(said: str, compiler: Sequence[str]) -> str:
    """Return what to do where the compiler does not know what another one does."""
    if _READ_ONLY in said:
        return (
            "\nThe build runs in a copy, and may not change the project itself: let it name "
            "files from where it runs and not by their whole paths"
        )
    if not _UNKNOWN.search(said):
        return ""
    return (
        f"\nThe project is built with {Path(compiler[0]).name} here, which does not know every "
        "flag of other compilers: leave these flags out, or choose with --compiler"
    )
