# SPDX-License-Identifier: MIT
"""Which members of its archives does a program need?

A linker takes the members that define what is still missing, and no others: they may need
what is not there, or define what the program has already.
"""

import re
from collections.abc import Iterable, Sequence

from compiler_gym.envs.llvm._tool import run_tool

__all__ = ["needed_members", "symbols_of"]

_NAME = r'(?:"[^"]*"|[\w.$-]+)'
_FUNCTION = re.compile(rf"^(define|declare) ([^@]*)@({_NAME})\(", re.MULTILINE)
_OTHER = re.compile(rf"^@({_NAME}) = (.*)$", re.MULTILINE)
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2})")
_LOCAL = {"internal", "private"}
_BECOMES_A_CALL = re.compile(r"llvm\.(memcpy|memmove|memset)\.")


def needed_members(
    modules: Sequence[bytes],
    archives: Sequence[Sequence[bytes]],
    *,
    wanted: Iterable[str] = ("main",),
    timeout: float = 300,
) -> list[bytes]:
    """Return the modules of `archives` that `modules` need, and those that these need.

    Of several that define a symbol, the first is taken. `wanted` is what is missing without
    any module saying so.
    """
    members = [member for archive in archives for member in archive]
    if not members:
        return []
    texts = run_tool("symbols", [*modules, *members], timeout=timeout)
    read = [[set(part.split("\n")) - {""} for part in text.decode().split("\0")] for text in texts]
    defined, missing = set[str](), set(wanted)
    for defines, needs in read[: len(modules)]:
        defined |= defines
        missing |= needs
    left = dict(enumerate(read[len(modules) :]))
    taken: set[int] = set()
    while True:
        found = next((n for n, (defines, _) in left.items() if defines & (missing - defined)), None)
        if found is None:
            return [members[number] for number in sorted(taken)]
        defines, needs = left.pop(found)
        defined |= defines
        missing |= needs
        taken.add(found)


def symbols_of(text: str) -> tuple[set[str], set[str]]:
    """Return the names that the IR `text` defines for others, and those it needs of others.

    >>> defined, needed = symbols_of("@a = external global i32\\ndefine i32 @f() { ret i32 0 }")
    >>> defined, needed
    ({'f'}, {'a'})
    """
    defined, needed = set[str](), set[str]()
    for kind, words, name in _FUNCTION.findall(text):
        call = _BECOMES_A_CALL.match(name)
        if call:
            needed.add(call[1])
        elif not name.startswith("llvm.") and not _LOCAL & set(words.split()):
            external = kind == "declare" or "available_externally" in words
            weak = kind == "declare" and "extern_weak" in words
            (needed if external else defined).update([] if weak else [_plain(name)])
    for name, rest in _OTHER.findall(text):
        words = set(rest.split()[:4])
        if name.startswith("llvm.") or _LOCAL & words or "extern_weak" in words:
            continue
        external = words & {"external", "available_externally"}
        (needed if external else defined).add(_plain(name))
    return defined, needed - defined


def _plain(name: str) -> str:
    if not name.startswith('"'):
        return name
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), name[1:-1]).removeprefix("\1")
