# SPDX-License-Identifier: MIT
"""What a linker put where: read from the map that lld writes beside a linked file.

A map costs nothing, changes no byte of what is linked, and knows the functions of a file that
has no symbols left. GNU ld's knows no sizes: there, the same file linked with symbols lies beside.
What has neither has no functions to show.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.builds import function_sizes

__all__ = [
    "LinkedFunction",
    "bytes_by_file",
    "map_beside",
    "read_linked_functions",
    "symbols_beside",
]

_OUTPUT, _INPUT, _SYMBOL = 0, 8, 16
"""How far lld indents an output section, an input section and a symbol."""


@dataclass(frozen=True, slots=True)
class LinkedFunction:
    """A function of a linked file."""

    name: str
    size: int
    """Bytes."""
    file: str
    """The object that it comes from, as the linker names it; empty where only symbols are known."""


@dataclass(frozen=True, slots=True)
class _Line:
    size: int
    indent: int
    text: str


def map_beside(linked: Path) -> Path:
    """Return where the map of `linked` lies, if there is one."""
    return linked.with_name(f"{linked.name}.map")


def symbols_beside(linked: Path) -> Path:
    """Return where `linked` lies with its symbols, if it was linked once more with them."""
    return linked.with_name(f"{linked.name}.symbols")


def read_linked_functions(linked: Path) -> list[LinkedFunction]:
    """Return the functions of `linked` that have a size; none where nothing is known of them."""
    symbols = symbols_beside(linked)
    if symbols.is_file():
        return [LinkedFunction(name, size, "") for name, size in function_sizes(symbols).items()]
    found: list[LinkedFunction] = []
    file = ""
    for line in _text_lines(map_beside(linked)):
        if line.indent == _INPUT:
            file = _find_file(line.text)
        elif line.indent == _SYMBOL and line.size:
            found.append(LinkedFunction(line.text, line.size, file))
    return found


def bytes_by_file(linked: Path) -> dict[str, int]:
    """Return how much of the section ``.text`` of `linked` each object is, by its map."""
    found: dict[str, int] = {}
    for line in _text_lines(map_beside(linked)):
        if line.indent == _INPUT:
            file = _find_file(line.text)
            found[file] = found.get(file, 0) + line.size
    return found


def _find_file(text: str) -> str:
    return text.rpartition(":(")[0] or text


def _text_lines(path: Path) -> Iterator[_Line]:
    """Yield the lines below ``.text``."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    if not lines or not lines[0].rstrip().endswith("Symbol"):
        return  # another linker's map
    start = lines[0].find("Out")
    is_text = False
    for line in lines[1:]:
        text = line[start:]
        indent = len(text) - len(text.lstrip())
        if indent == _OUTPUT:
            is_text = text == ".text"
        elif is_text:
            yield _Line(int(line.split(maxsplit=3)[2], 16), indent, text.strip())
