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
from collections.abc import Mapping, Sequence
from pathlib import Path

from compiler_gym.builds import CompilerCommand, Mode
from compiler_gym.errors import PlanError
from compiler_gym.paths import cache_path
from compiler_gym.version import __version__

__all__ = [
    "RECORDING_FOLDER",
    "become_known_compiler",
    "keep_templates",
    "kept_file",
    "words_with_recipe",
]

RECORDING_FOLDER = "COMPILER_GYM_CC_OUTPUT"
"""The variable that asks to keep what is compiled, and names where."""
Templates = Mapping[str, tuple[list[str], list[str]]]
"""What comes before the arguments of a call of each kind, and what behind them."""
_MARK = "-DCOMPILER_GYM_MARK"
_USUAL: Mapping[Mode, Sequence[str]] = {
    Mode.OBJECT: ("-c", "x.c"),
    Mode.PROGRAM: ("x.c",),
    Mode.NOTHING: (),
}
"""A call of each kind; one for assembly is as one that makes nothing."""
_KEPT = tuple(mode.value for mode in (Mode.OBJECT, Mode.NOTHING, Mode.PROGRAM))
"""In which order the compiled driver finds them."""


def become_known_compiler(
    verb: str, name: str, arguments: Sequence[str], *, kept_as: str = ""
) -> None:
    """Become the compiler where all is known that this takes; otherwise return, and do nothing.

    What is known is kept under the name of the recipe, or as `kept_as`.
    """
    if os.environ.get(RECORDING_FOLDER) or "--" in arguments or "-r" in arguments:
        return
    command = _command_of(verb, arguments)
    if command.is_set_apart:
        return
    templates = _kept_templates(kept_file(kept_as or name, command.is_cxx))
    if templates is not None:
        words = _with_arguments(templates, command)
        os.execvp(words[0], words)


def words_with_recipe(
    verb: str, name: str, arguments: Sequence[str], *, kept_as: str = ""
) -> list[str]:
    """Return the command that a call of ``cc`` or ``cxx`` with `arguments` becomes.

    It is kept under the name of the recipe, or as `kept_as`. Raises `UnknownNameError` for a
    recipe that there is not, and `PlanError` for one of another machine.
    """
    command = _command_of(verb, arguments)
    if "--" in arguments or "-r" in arguments or command.is_set_apart:
        return _made_anew(name, command)
    templates = _templates(name, command.is_cxx)
    keep_templates(kept_file(kept_as or name, command.is_cxx), templates)
    return _with_arguments(templates, command)


def _command_of(verb: str, arguments: Sequence[str]) -> CompilerCommand:
    return CompilerCommand.parse(["cc" if verb == "cc" else "c++", *arguments], Path.cwd())


def _with_arguments(templates: Templates, command: CompilerCommand) -> list[str]:
    mode = command.mode if command.mode in _USUAL else Mode.NOTHING
    before, after = templates[mode.value]
    return [*before, *command.words[1:], *after]


def _made_anew(name: str, command: CompilerCommand) -> list[str]:
    from compiler_gym.tuning import recipe_named, tuner_named

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
    for mode, usual in _USUAL.items():
        driver = "c++" if is_cxx else "cc"
        words = _made_anew(name, CompilerCommand.parse([driver, _MARK, *usual]))
        at = words.index(_MARK)
        found[mode.value] = words[:at], words[at + 1 + len(usual) :]
    return found


def kept_file(name: str, is_cxx: bool) -> Path:
    """Return the file that keeps what comes of the recipe, or of `kept_as`, `name`."""
    told = [__version__, name, "c++" if is_cxx else "cc"]
    told += [os.environ.get(which, "") for which in ("PATH", "COMPILER_GYM_CLANG")]
    digest = hashlib.sha256(os.fsencode("".join(f"{word}\0" for word in told))).hexdigest()
    return cache_path(f"recipe-words/{digest}")


def _kept_templates(kept: Path) -> Templates | None:
    """Return what was kept, None where it is damaged or something changed that it came from."""
    try:
        files, *words = _lists_in(kept.read_bytes())
        is_same = files == _identities(files[::2]) and kept.stat().st_uid == os.geteuid()
        pairs = zip(words[::2], words[1::2], strict=True)
        return dict(zip(_KEPT, pairs, strict=True)) if is_same else None
    except (OSError, ValueError):
        return None


def keep_templates(kept: Path, templates: Templates) -> None:
    """Write `templates` to the file `kept`, where that can be done."""
    from compiler_gym.files import write_whole
    from compiler_gym.tuning import recipe_files

    files = [*map(str, recipe_files()), templates[Mode.OBJECT.value][0][0]]
    lists = [_identities(files), *(words for kind in _KEPT for words in templates[kind])]
    text = "".join(f"{word}\0" for words in lists for word in (*words, ""))
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
