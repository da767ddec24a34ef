# SPDX-License-Identifier: MIT
"""What ``compiler-gym cc --recipe`` runs in the place of a call, kept between the calls of a build.

A recipe is checked by its compiler's tuner, which takes most of a second to load. What comes of
it depends on whether a call compiles or links and, unless words go between those of the recipe or
ask for passes of their own, on nothing else of it: so it is kept, for as long as the recipe's file,
the compiler and PATH are the same.
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
"""The variable that asks to keep what is compiled, and names where."""
Templates = Mapping[str, tuple[list[str], list[str]]]
"""What comes before the arguments of a call of each kind, and what behind them."""
_MARK = "-DCOMPILER_GYM_MARK"
_OBJECT, _NOTHING, _PROGRAM, _QUESTION = "object", "nothing", "program", "question"
_USUAL: Mapping[str, Sequence[str]] = {
    _OBJECT: ("-c", "x.c"),
    _NOTHING: (),
    _PROGRAM: ("x.c",),
    _QUESTION: ("x.c", "-oconftest"),
}
"""A call of each kind, in the order in which the compiled driver reads them; one for assembly is as
one that makes nothing, and a question is linked without the recipe."""


def run_known_compiler(
    verb: str, name: str, arguments: Sequence[str], *, kept_as: str = ""
) -> int | None:
    """Do what a call asks for, where all is known that this takes; otherwise return None.

    What is known is kept under the name of the recipe, or as `kept_as`.
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
    """Do what a call asks for by a recipe, and return the status; see `words_with_recipe`."""
    command = parse_command(verb, arguments)
    words = words_with_recipe(verb, name, arguments, kept_as=kept_as)
    templates = _templates(name, command.is_cxx) if _usual_kind(command) == _PROGRAM else None
    return _run_compiler(verb, command, words, templates)


def words_with_recipe(
    verb: str, name: str, arguments: Sequence[str], *, kept_as: str = ""
) -> list[str]:
    """Return the command that a call of ``cc`` or ``cxx`` with `arguments` becomes.

    It is kept under the name of the recipe, or as `kept_as`. Raises `UnknownNameError` for a
    recipe that there is not, and `PlanError` for one of another machine.
    """
    command = parse_command(verb, arguments)
    kind = _usual_kind(command)
    if kind is None:
        return _make_anew(name, command)
    templates = _templates(name, command.is_cxx)
    keep_templates(find_kept_file(kept_as or name, command.is_cxx), templates)
    return _with_arguments(templates, kind, command)


def tell(verb: str, text: str) -> None:
    """Print a line of our own among what a build prints."""
    sys.stderr.write(f"compiler-gym {verb}: {text}\n")


def _run_compiler(
    verb: str, command: CompilerCommand, words: list[str], templates: Templates | None
) -> int:
    """Run `words`, which do what `command` asks for, and return the status.

    A link that fails by the recipe is made without it: objects hold machine code, too.
    """
    if templates is not None and _usual_kind(command) == _PROGRAM:
        done = subprocess.run(words, check=False, stderr=subprocess.PIPE)
        if done.returncode == 0:
            sys.stderr.write(done.stderr.decode(errors="replace"))
            return 0
        words = _with_arguments(templates, _QUESTION, command)
        status = subprocess.run(words, check=False).returncode
        if status == 0:
            tell(verb, f"{command.output or 'a.out'}: the recipe failed, linked without it")
        return status
    if command.mode is Mode.PROGRAM and command.other_linker and not command.is_question:
        made, linker = command.output or "a.out", command.other_linker
        tell(verb, f"{made}: linked without the recipe, by {linker}: only lld can apply it")
    if command.mode is Mode.OBJECT:
        option = "--compile-quietly" if command.is_question else "--compile"
        words = [find_compiled_driver(verb), option, *words]
    if os.environ.get(RECORDING_FOLDER):
        return subprocess.run(words, check=False).returncode
    sys.stderr.flush()
    os.execvp(words[0], words)


def _usual_kind(command: CompilerCommand) -> str | None:
    """Return the kind of call that `command` is; None for one that only its tuner understands."""
    arguments = command.words[1:]
    if command.is_rare:
        return None
    if command.mode is Mode.PROGRAM:
        # Files on the way to machine code are asked for: link-time optimisation makes none.
        is_plain = command.sources and any("-save-temps" in word for word in arguments)
        return _QUESTION if command.is_question or is_plain else _PROGRAM
    if command.mode is Mode.OBJECT:
        return _OBJECT
    asks_linker = any(word.startswith(("-Wl,", "-Xlinker")) for word in arguments)
    return None if asks_linker or command.uses_header else _NOTHING


def parse_command(verb: str, arguments: Sequence[str]) -> CompilerCommand:
    """Return the call of ``cc`` or ``cxx`` with `arguments`, taken apart."""
    return CompilerCommand.parse(["cc" if verb == "cc" else "c++", *arguments], Path.cwd())


def _with_arguments(templates: Templates, kind: str, command: CompilerCommand) -> list[str]:
    before, after = templates[kind]
    return [*before, *command.words[1:], *after]


def _make_anew(name: str, command: CompilerCommand) -> list[str]:
    from compiler_gym.tools.tune import recipe_named, tuner_named

    recipe = recipe_named(name)
    if recipe.known.machine != platform.machine():
        raise PlanError(
            f"the recipe {recipe.name} is for {recipe.known.machine}, and this machine is "
            f"{platform.machine()}: `compiler-gym tune` finds one for it"
        )
    tuner = tuner_named(recipe.compiler.partition(" ")[0])
    return list(tuner.command_with(recipe.plan, command))


def _templates(name: str, is_cxx: bool) -> Templates:
    found: dict[str, tuple[list[str], list[str]]] = {}
    for kind, usual in _USUAL.items():
        driver = "c++" if is_cxx else "cc"
        words = _make_anew(name, CompilerCommand.parse([driver, _MARK, *usual]))
        at = words.index(_MARK)
        found[kind] = words[:at], words[at + 1 + len(usual) :]
    return found


def find_kept_file(name: str, is_cxx: bool) -> Path:
    """Return the file that keeps what comes of the recipe, or of `kept_as`, `name`."""
    told = [__version__, name, "c++" if is_cxx else "cc"]
    told += [os.environ.get(which, "") for which in ("PATH", "COMPILER_GYM_CLANG")]
    digest = hashlib.sha256(os.fsencode("".join(f"{word}\0" for word in told))).hexdigest()
    return cache_path(f"recipe-words/{digest}")


def _read_kept(kept: Path) -> Templates | None:
    """Return what was kept, None where it is damaged or something changed that it came from."""
    try:
        files, set_apart, marks, *words = _lists_in(kept.read_bytes())
        is_same = files == _identities(files[::2]) and (*set_apart,) == SET_APART
        is_own = (*marks,) == QUESTION_MARKS and kept.stat().st_uid == os.geteuid()
        pairs = zip(words[::2], words[1::2], strict=True)
        return dict(zip(_USUAL, pairs, strict=True)) if is_same and is_own else None
    except (OSError, ValueError):
        return None


def keep_templates(kept: Path, templates: Templates) -> None:
    """Write `templates` to the file `kept`, where that can be done."""
    from compiler_gym.files import write_whole
    from compiler_gym.tools.tune import recipe_files

    files = [*map(str, recipe_files()), templates[_OBJECT][0][0]]
    words = (words for kind in _USUAL for words in templates[kind])
    lists = [_identities(files), SET_APART, QUESTION_MARKS, *words]
    text = "".join(f"{word}\0" for each in lists for word in (*each, ""))
    try:
        write_whole(kept, os.fsencode(text))
    except OSError:
        pass  # the next call takes as long as this one


def _lists_in(data: bytes) -> list[list[str]]:
    """Return lists of words, each ended by an empty word; the compiled driver reads them, too."""
    *words, rest = os.fsdecode(data).split("\0")
    if rest or words[-1:] != [""]:
        raise ValueError("expected lists that end")
    lists: list[list[str]] = [[]]
    for word in words[:-1]:
        if word:
            lists[-1].append(word)
        else:
            lists.append([])
    return lists


def _identities(files: Sequence[str]) -> list[str]:
    """Return each file, and behind it what changes when it is replaced or written to."""
    found: list[str] = []
    for name in files:
        known = os.stat(name)
        times = (
            part for ns in (known.st_mtime_ns, known.st_ctime_ns) for part in divmod(ns, 10**9)
        )
        facts = (known.st_dev, known.st_ino, known.st_size, *times)
        found += [name, "".join(f"{fact} " for fact in facts)]
    return found
