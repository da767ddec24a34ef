# SPDX-License-Identifier: MIT
"""Compute the commands of ``compiler-gym cc --recipe``, and cache them between calls.

The compiler's tuner, which checks a recipe, takes most of a second to load. The resulting flags
depend only on whether a call compiles or links, except for rare calls whose arguments interact with
the recipe's. They are cached until the recipe's file, the compiler or PATH changes.
"""

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from compiler_gym.builds import QUESTION_MARKS, SET_APART, CompilerCommand, Mode
from compiler_gym.errors import PlanError
from compiler_gym.files import cache_path
from compiler_gym.tools.tune.builds import find_compiled_driver
from compiler_gym.version import __version__

__all__ = [
    "RECORDING_FOLDER",
    "find_kept_file",
    "keep_templates",
    "parse_command",
    "run_known_compiler",
    "run_with_recipe",
    "tell",
    "words_with_recipe",
]

RECORDING_FOLDER = "COMPILER_GYM_CC_OUTPUT"
"""The environment variable that turns on recording and names the folder."""
Templates = Mapping[str, tuple[list[str], list[str]]]
"""The text before and after the arguments of a call, for each kind of call."""
_MARK = "-DCOMPILER_GYM_MARK"
_OBJECT, _NOTHING, _PROGRAM, _QUESTION = "object", "nothing", "program", "question"
_USUAL: Mapping[str, Sequence[str]] = {
    _OBJECT: ("-c", "x.c"),
    _NOTHING: (),
    _PROGRAM: ("x.c",),
    _QUESTION: ("x.c", "-oconftest"),
}
"""An example of each kind of call, in the order in which the compiled driver reads them. Calls for
assembly count as `_NOTHING`; a test of the compiler, `_QUESTION`, is linked without the recipe."""


def run_known_compiler(
    verb: str, name: str, arguments: Sequence[str], *, kept_as: str = ""
) -> int | None:
    """Run a call with cached templates, and return its exit status; None without them.

    They are cached under the name of the recipe, or as `kept_as`.
    """
    command = parse_command(verb, arguments)
    kind = _usual_kind(command)
    if os.environ.get(RECORDING_FOLDER) or kind is None:
        return None
    templates = _read_kept(find_kept_file(kept_as or name, command.is_cxx))
    if templates is None:
        return None
    return _run_compiler(verb, command, _with_arguments(templates, kind, command), templates)


def run_with_recipe(verb: str, name: str, arguments: Sequence[str], *, kept_as: str = "") -> int:
    """Run a call with a recipe, and return its exit status; see `words_with_recipe`."""
    command = parse_command(verb, arguments)
    words = words_with_recipe(verb, name, arguments, kept_as=kept_as)
    templates = _templates(name, command.is_cxx) if _usual_kind(command) == _PROGRAM else None
    return _run_compiler(verb, command, words, templates)


def words_with_recipe(
    verb: str, name: str, arguments: Sequence[str], *, kept_as: str = ""
) -> list[str]:
    """Return the command to run for a call of ``cc`` or ``cxx`` with `arguments`.

    It is cached under the name of the recipe, or as `kept_as`. Raises `UnknownNameError` for an
    unknown recipe, and `PlanError` for one for another machine.
    """
    command = parse_command(verb, arguments)
    kind = _usual_kind(command)
    if kind is None:
        return _make_anew(name, command)
    templates = _templates(name, command.is_cxx)
    keep_templates(find_kept_file(kept_as or name, command.is_cxx), templates)
    return _with_arguments(templates, kind, command)


def tell(verb: str, text: str) -> None:
    """Print a message to standard error, with the name of the command."""
    sys.stderr.write(f"compiler-gym {verb}: {text}\n")


def _run_compiler(
    verb: str, command: CompilerCommand, words: list[str], templates: Templates | None
) -> int:
    """Run `words` for the call `command`, and return the exit status.

    If linking with the recipe fails, link without it, which works because objects also contain
    machine code.
    """
    if templates is not None and _usual_kind(command) == _PROGRAM:
        result = subprocess.run(words, check=False, stderr=subprocess.PIPE)
        if result.returncode == 0:
            sys.stderr.write(result.stderr.decode(errors="replace"))
            return 0
        words = _with_arguments(templates, _QUESTION, command)
        status = subprocess.run(words, check=False).returncode
        if status == 0:
            tell(verb, f"{command.output or 'a.out'}: linked without the recipe, which failed")
        return status
    if command.mode is Mode.PROGRAM and command.other_linker and not command.is_question:
        output, linker = command.output or "a.out", command.other_linker
        tell(verb, f"{output}: linked with {linker}, without the recipe, which needs lld")
    if command.mode is Mode.OBJECT:
        option = "--compile-quietly" if command.is_question else "--compile"
        words = [find_compiled_driver(verb), option, *words]
    if os.environ.get(RECORDING_FOLDER):
        return subprocess.run(words, check=False).returncode
    sys.stderr.flush()
    os.execvp(words[0], words)


def _usual_kind(command: CompilerCommand) -> str | None:
    """Return the kind of the call `command`; None if only the tuner can handle it."""
    arguments = command.words[1:]
    if command.is_rare:
        return None
    if command.mode is Mode.PROGRAM:
        # -save-temps needs intermediate files, which link-time optimisation does not write.
        is_plain = command.sources and any("-save-temps" in word for word in arguments)
        return _QUESTION if command.is_question or is_plain else _PROGRAM
    if command.mode is Mode.OBJECT:
        return _OBJECT
    asks_linker = any(word.startswith(("-Wl,", "-Xlinker")) for word in arguments)
    return None if asks_linker or command.uses_header else _NOTHING


def parse_command(verb: str, arguments: Sequence[str]) -> CompilerCommand:
    """Parse a call of ``cc`` or ``cxx`` with `arguments`."""
    return CompilerCommand.parse(["cc" if verb == "cc" else "c++", *arguments], Path.cwd())


def _with_arguments(templates: Templates, kind: str, command: CompilerCommand) -> list[str]:
    before, after = templates[kind]
    return [*before, *command.words[1:], *after]


def _make_anew(name: str, command: CompilerCommand) -> list[str]:
    from compiler_gym.tools.tune import recipe_named, tuner_named

    recipe = recipe_named(name)
    if recipe.known.machine != platform.machine():
        raise PlanError(
            f"the recipe {recipe.name} is for {recipe.known.machine}, but this machine is "
            f"{platform.machine()}: search for decisions with `compiler-gym tune`"
        )
    tuner = tuner_named(recipe.compiler.partition(" ")[0])
    return list(tuner.command_with(recipe.plan, command))


def _templates(name: str, is_cxx: bool) -> Templates:
    templates: dict[str, tuple[list[str], list[str]]] = {}
    for kind, usual in _USUAL.items():
        driver = "c++" if is_cxx else "cc"
        words = _make_anew(name, CompilerCommand.parse([driver, _MARK, *usual]))
        at = words.index(_MARK)
        templates[kind] = words[:at], words[at + 1 + len(usual) :]
    return templates


def find_kept_file(name: str, is_cxx: bool) -> Path:
    """Return the cache file for the recipe `name` (or `kept_as`)."""
    parts = [__version__, name, "c++" if is_cxx else "cc"]
    parts += [os.environ.get(variable, "") for variable in ("PATH", "COMPILER_GYM_CLANG")]
    digest = hashlib.sha256(os.fsencode("".join(f"{word}\0" for word in parts))).hexdigest()
    return cache_path(f"recipe-words/{digest}")


def _read_kept(kept: Path) -> Templates | None:
    """Return the cached templates; None if they are missing, damaged or out of date."""
    try:
        files, set_apart, marks, *words = _lists_in(kept.read_bytes())
        is_same = files == _identities(files[::2]) and (*set_apart,) == SET_APART
        is_own = (*marks,) == QUESTION_MARKS and kept.stat().st_uid == os.geteuid()
        pairs = zip(words[::2], words[1::2], strict=True)
        return dict(zip(_USUAL, pairs, strict=True)) if is_same and is_own else None
    except (OSError, ValueError):
        return None


def keep_templates(kept: Path, templates: Templates) -> None:
    """Write `templates` to the file `kept`, if possible."""
    from compiler_gym.files import write_whole
    from compiler_gym.tools.tune import recipe_files

    files = [*map(str, recipe_files()), templates[_OBJECT][0][0]]
    words = (words for kind in _USUAL for words in templates[kind])
    lists = [_identities(files), SET_APART, QUESTION_MARKS, *words]
    text = "".join(f"{word}\0" for each in lists for word in (*each, ""))
    try:
        write_whole(kept, os.fsencode(text))
    except OSError:
        pass  # without a cache, the next call is only slower


def _lists_in(data: bytes) -> list[list[str]]:
    """Split data into lists that each end with an empty string, as the compiled driver does."""
    *words, end = os.fsdecode(data).split("\0")
    if end or words[-1:] != [""]:
        raise ValueError("unterminated list")
    lists: list[list[str]] = [[]]
    for word in words[:-1]:
        if word:
            lists[-1].append(word)
        else:
            lists.append([])
    return lists


def _identities(files: Sequence[str]) -> list[str]:
    """Return each file, followed by text that changes when it is replaced or written."""
    identities: list[str] = []
    for name in files:
        status = os.stat(name)
        times = (
            part for ns in (status.st_mtime_ns, status.st_ctime_ns) for part in divmod(ns, 10**9)
        )
        facts = (status.st_dev, status.st_ino, status.st_size, *times)
        identities += [name, "".join(f"{fact} " for fact in facts)]
    return identities
