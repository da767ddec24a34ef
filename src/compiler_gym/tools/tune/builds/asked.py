# SPDX-License-Identifier: MIT
"""A build from whatever somebody names: a command, sources, bitcode, a compilation database."""

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

from compiler_gym.builds import IR_SUFFIXES, SOURCE_LANGUAGES, Mode, read_database
from compiler_gym.errors import BenchmarkInitError, ProjectError
from compiler_gym.tools.tune.builds.shell import shell_text

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
        try:
            shell = _of_database(project / first, project, words[1:])
        except BenchmarkInitError as error:
            raise ProjectError(str(error)) from error
        return ("/bin/sh", "-e", "-c", shell)
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
    lines: list[str] = []
    objects: list[str] = []
    is_cxx = False
    for _, _, command in read_database(path):
        if command.mode is not Mode.OBJECT:
            continue
        is_cxx = is_cxx or command.is_cxx
        driver = "c++" if command.is_cxx else "cc"
        place = {str(project): "ROOT"}
        words = shell_text([driver, *command.words[1:]], place)
        lines.append(f"(cd {shell_text([str(command.cwd)], place)} && {words})")
        objects += [
            os.path.relpath(command.find_output(source), project) for source in command.sources
        ]
    if not lines:
        raise ProjectError(f"{path} lists no command that makes an object of a source")
    link = ["c++" if is_cxx else "cc", *objects, *more, "-o", "program"]
    return "\n".join(["ROOT=$PWD", *lines, shlex.join(link)])
