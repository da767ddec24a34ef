# SPDX-License-Identifier: MIT
"""A build from whatever somebody names: a command, sources, bitcode, a compilation database."""

import json
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compiler_gym.builds.command_line import (
    IR_SUFFIXES,
    SOURCE_LANGUAGES,
    CompilerCommand,
    Mode,
)
from compiler_gym.builds.shell import shell_text
from compiler_gym.errors import BenchmarkInitError, ProjectError
from compiler_gym.files import read_regular

__all__ = ["build_asked"]

_DATABASE = "compile_commands.json"


def build_asked(words: Sequence[str], project: Path) -> tuple[str, ...]:
    """Return the command that builds what `words` name, to be run in a copy of `project`.

    A command stands for itself. Files of C, C++ or IR become one program, named after the first;
    what follows them are words for the compiler. A ``compile_commands.json`` says how each
    source is compiled, and all are linked into ``program``; what follows is for the linker.
    Raises `ProjectError` for a file that is not there or a database that cannot be read.
    """
    first = Path(words[0])
    if first.name == _DATABASE:
        return ("/bin/sh", "-e", "-c", _of_database(project / first, project, words[1:]))
    if first.suffix not in (*SOURCE_LANGUAGES, *IR_SUFFIXES):
        return tuple(words)
    named = [word for word in words if Path(word).suffix in (*SOURCE_LANGUAGES, *IR_SUFFIXES)]
    for name in named:
        if not (project / name).is_file():
            raise ProjectError(f"no such file: {project / name}")
        if not (project / name).resolve().is_relative_to(project.resolve()):
            raise ProjectError(f"{name} lies outside {project}: go to the folder that holds it")
    languages = {SOURCE_LANGUAGES.get(Path(name).suffix, "") for name in named}
    driver = "c++" if any(language.startswith("c++") for language in languages) else "cc"
    return (driver, *words, "-o", first.stem)


def _of_database(path: Path, project: Path, more: Sequence[str]) -> str:
    """Return the text of a shell that runs what a compilation database lists, and links it."""
    try:
        entries: Any = json.loads(read_regular(path))
    except OSError as error:
        raise ProjectError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise ProjectError(f"{path} is no compilation database: {error}") from error
    if not isinstance(entries, list) or not entries:
        raise ProjectError(f"{path} is no compilation database: expected a list of commands")
    lines: list[str] = []
    objects: list[str] = []
    is_cxx = False
    for entry in entries:  # pyright: ignore[reportUnknownVariableType]  # checked by _command
        command = _command(entry, path)  # pyright: ignore[reportUnknownArgumentType]
        if command.mode is not Mode.OBJECT:
            continue
        is_cxx = is_cxx or command.is_cxx
        driver = "c++" if command.is_cxx else "cc"
        place = {str(project): "ROOT"}
        words = shell_text([driver, *command.words[1:]], place)
        lines.append(f"(cd {shell_text([str(command.cwd)], place)} && {words})")
        objects += [
            os.path.relpath(command.output_of(source), project) for source in command.sources
        ]
    link = ["c++" if is_cxx else "cc", *objects, *more, "-o", "program"]
    return "\n".join(["ROOT=$PWD", *lines, shlex.join(link)])


def _command(entry: object, path: Path) -> CompilerCommand:
    if not isinstance(entry, Mapping):
        raise ProjectError(f"{path} is no compilation database: found {entry!r:.100}")
    fields: Mapping[str, Any] = entry  # pyright: ignore[reportUnknownVariableType]
    try:
        cwd = path.parent / fields.get("directory", ".")
        if "arguments" in fields:
            return CompilerCommand.parse([str(word) for word in fields["arguments"]], cwd)
        return CompilerCommand.from_text(str(fields["command"]), cwd)
    except (KeyError, TypeError) as error:
        raise ProjectError(f"{path} is no compilation database: {error!r}") from error
    except BenchmarkInitError as error:
        raise ProjectError(f"{path}: {error}") from error
