# SPDX-License-Identifier: MIT
"""Run a build with stand-ins for its compilers, and read what they wrote down."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.builds.sessions import in_own_session
from compiler_gym.errors import ProjectError

__all__ = ["Event", "Recording", "record_build"]

_UNKNOWN = re.compile(r"(unknown|unsupported|unrecognized) (argument|command-line option|option)")
_C = ("cc", "gcc", "clang")
_CXX = ("c++", "g++", "clang++")
_SHOWN_LINES = 25


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
            lines = self.journal.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        except OSError:
            return
        for line in lines:
            read = json.loads(line)
            yield Event(tuple(read["words"]), Path(read["cwd"]), read["made"])


def record_build(
    tree: Path,
    command: Sequence[str],
    folder: Path,
    *,
    compiler: Sequence[str],
    cxx_compiler: Sequence[str],
    also_named: Sequence[str] = (),
    on_line: Callable[[str], None] | None = None,
) -> Recording:
    """Run `command` in `tree` with stand-ins that run `compiler` and `cxx_compiler`.

    They are on PATH under the names that compilers have there, with a version or without, and
    those `also_named`, and in CC and CXX. The build's standard input is closed. Raises
    `ProjectError` with the end of what the build printed when it fails.
    """
    recording = Recording(folder, tree)
    compiler, cxx_compiler = _found(compiler), _found(cxx_compiler)
    shims = folder / "compilers"
    shims.mkdir(parents=True, exist_ok=True)
    recording.journal.unlink(missing_ok=True)
    for name in {*_names(_C), *also_named, Path(compiler[0]).name}:
        _stand_in(shims / name, recording.journal, compiler)
    for name in {*_names(_CXX), Path(cxx_compiler[0]).name} - {Path(compiler[0]).name}:
        _stand_in(shims / name, recording.journal, cxx_compiler)
    variables = os.environ | {
        "PATH": f"{shims}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "CC": str(shims / "cc"),
        "CXX": str(shims / "c++"),
        "PWD": str(tree),
    }
    status = _run(command, tree, variables, recording.log, on_line)
    if status:
        raise ProjectError(
            f"the build failed with status {status}: {shlex.join(command)}\n"
            f"{_end_of(recording.log)}{_advice(recording.log, compiler)}\n"
            f"The whole output is in {recording.log}"
        )
    return recording


def _found(words: Sequence[str]) -> list[str]:
    """Return the command with its program's place: on the build's PATH its name is ours."""
    found = shutil.which(words[0])
    if found is None:
        raise ProjectError(f"expected {words[0]} on PATH to build the project with")
    return [found, *words[1:]]


def _names(names: Sequence[str]) -> set[str]:
    """Return `names`, and those that PATH has of them with the number of a version behind."""
    versioned = re.compile(rf"({'|'.join(map(re.escape, names))})-[\d.]+")
    folders = map(Path, os.environ.get("PATH", os.defpath).split(os.pathsep))
    found = (name for folder in folders if folder.is_dir() for name in os.listdir(folder))
    return {*names, *filter(versioned.fullmatch, found)}


def _stand_in(path: Path, journal: Path, real: Sequence[str]) -> None:
    watch = Path(__file__).with_name("watch.py")
    words = [sys.executable, "-I", "-S", str(watch), str(journal), str(len(real)), *real]
    path.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    path.chmod(0o755)


def _run(
    command: Sequence[str],
    cwd: Path,
    variables: Mapping[str, str],
    log: Path,
    on_line: Callable[[str], None] | None,
) -> int:
    """Run a build to its end; an interrupt ends it, and all that it started, first."""
    try:
        with (
            log.open("w", errors="replace") as kept,
            in_own_session(
                command, cwd=cwd, env=variables, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace",
            ) as build,
        ):  # fmt: skip
            assert build.stdout is not None
            for line in build.stdout:
                kept.write(line)
                if on_line is not None:
                    on_line(line.rstrip())
            return build.wait()
    except OSError as error:
        raise ProjectError(
            f"cannot run {command[0]}: {error.strerror}: give the build after `--`, "
            "for example `-- make`, or `-- sh -c './configure && make'`"
        ) from error


def _advice(log: Path, compiler: Sequence[str]) -> str:
    """Return what to do where the compiler does not know what another one does."""
    if not _UNKNOWN.search(log.read_text(errors="replace")):
        return ""
    return (
        f"\nThe project is built with {Path(compiler[0]).name} here, which does not know every "
        "flag of other compilers: leave these flags out, or choose with --compiler"
    )


def _end_of(log: Path) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-_SHOWN_LINES:])
