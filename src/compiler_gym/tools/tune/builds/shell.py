# SPDX-License-Identifier: MIT
"""Shell commands and comments, with variables instead of folders, and the user's build command."""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from compiler_gym.builds import IR_SUFFIXES, SOURCE_LANGUAGES, Mode, read_database
from compiler_gym.errors import BenchmarkInitError, ProjectError

_CONTROLS = {
    number: ascii(chr(number))[1:-1]
    for number in (*range(32), *range(127, 160), 0x2028, 0x2029)
    if number != 10
}
_DATABASE = "compile_commands.json"


def shell_text(words: Sequence[str], folders: Mapping[str, str]) -> str:
    """Return a command in which each of `folders` is replaced by its variable.

    >>> shell_text(["cc", "-I/tree/a b", "x.c"], {"/tree": "ROOT"})
    'cc -I"$ROOT"\\'/a b\\' x.c'
    """
    return " ".join(_word(word, folders) for word in words)


def shell_comment(text: str) -> str:
    """Return `text` as comment lines for a shell, safely for any text.

    >>> print(shell_comment("make\\nrm -rf x\\r\\x1b"))
    # make
    #   rm -rf x\\r\\x1b
    """
    return "\n#   ".join(f"# {text}".split("\n")).translate(_CONTROLS)


def _word(word: str, folders: Mapping[str, str]) -> str:
    if not folders:
        return shlex.quote(word)
    longest = sorted(folders, key=len, reverse=True)
    pattern = re.compile(f"({'|'.join(map(re.escape, longest))})(?![^/=])")
    pieces = [piece for piece in pattern.split(word) if piece]
    return "".join(
        f'"${folders[piece]}"' if piece in folders else shlex.quote(piece) for piece in pieces
    ) or shlex.quote(word)


def build_asked(words: Sequence[str], project: Path) -> tuple[str, ...]:
    """Return the command that builds what the arguments `words` name, in a copy of `project`.

    A command is returned unchanged. C, C++ or IR files are compiled to one program, named after the
    first; other arguments are compiler flags. The commands of a ``compile_commands.json`` are run,
    and their objects linked into ``program``; further arguments are linker flags.
    Raises `ProjectError` if a file is missing or the database cannot be read.
    """
    first = Path(words[0])
    if first.name == _DATABASE:
        try:
            shell = _script_from_database(project / first, project, words[1:])
        except BenchmarkInitError as error:
            raise ProjectError(str(error)) from error
        return ("/bin/sh", "-e", "-c", shell)
    if first.suffix not in (*SOURCE_LANGUAGES, *IR_SUFFIXES):
        return tuple(words)
    names = [word for word in words if Path(word).suffix in (*SOURCE_LANGUAGES, *IR_SUFFIXES)]
    for name in names:
        if not (project / name).is_file():
            raise ProjectError(f"no such file: {project / name}")
        if not (project / name).resolve().is_relative_to(project.resolve()):
            raise ProjectError(f"{name} is outside {project}: run this in the folder of {name}")
    languages = {SOURCE_LANGUAGES.get(Path(name).suffix, "") for name in names}
    driver = "c++" if any(language.startswith("c++") for language in languages) else "cc"
    return (driver, *words, "-o", first.stem)


def _script_from_database(path: Path, project: Path, linker_flags: Sequence[str]) -> str:
    """Return a shell script that runs the commands of a compilation database, and links."""
    lines: list[str] = []
    objects: list[str] = []
    is_cxx = False
    for _, _, command in read_database(path):
        if command.mode is not Mode.OBJECT:
            continue
        is_cxx = is_cxx or command.is_cxx
        driver = "c++" if command.is_cxx else "cc"
        folders = {str(project): "ROOT"}
        words = shell_text([driver, *command.words[1:]], folders)
        lines.append(f"(cd {shell_text([str(command.cwd)], folders)} && {words})")
        objects += [
            os.path.relpath(command.find_output(source), project) for source in command.sources
        ]
    if not lines:
        raise ProjectError(f"{path} has no command that compiles a source to an object")
    link = ["c++" if is_cxx else "cc", *objects, *linker_flags, "-o", "program"]
    return "\n".join(["ROOT=$PWD", *lines, shlex.join(link)])
