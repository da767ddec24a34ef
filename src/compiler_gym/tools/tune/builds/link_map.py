# SPDX-License-Identifier: MIT
"""Read the contents of a linked file from the map that lld writes next to it.

A map is free, does not change the linked file, and lists the functions even of a stripped file.
Without a map, the functions are unknown.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_OUTPUT, _INPUT, _SYMBOL = 0, 8, 16
"""The indentation in lld's maps of an output section, an input section and a symbol."""


@dataclass(frozen=True, slots=True)
class LinkedFunction:
    """A function of a linked file."""

    name: str
    size: int
    """The size in bytes."""
    file: str
    """The object that contains it, as the linker names it; empty without a map."""


@dataclass(frozen=True, slots=True)
class _Line:
    size: int
    indent: int
    text: str


def map_beside(linked: Path) -> Path:
    """Return the path of the map of `linked`, which may not exist."""
    return linked.with_name(f"{linked.name}.map")


def read_linked_functions(linked: Path) -> list[LinkedFunction]:
    """Return the functions of `linked` that have a size; empty if they are unknown."""
    functions: list[LinkedFunction] = []
    file = ""
    for line in _text_lines(map_beside(linked)):
        if line.indent == _INPUT:
            file = _find_file(line.text)
        elif line.indent == _SYMBOL and line.size:
            functions.append(LinkedFunction(line.text, line.size, file))
    return functions


def bytes_by_file(linked: Path) -> dict[str, int]:
    """Return the bytes in ``.text`` of `linked` from each object, according to its map."""
    sizes: dict[str, int] = {}
    for line in _text_lines(map_beside(linked)):
        if line.indent == _INPUT:
            file = _find_file(line.text)
            sizes[file] = sizes.get(file, 0) + line.size
    return sizes


def _find_file(text: str) -> str:
    return text.rpartition(":(")[0] or text


def _text_lines(path: Path) -> Iterator[_Line]:
    """Yield the lines of the section ``.text``."""
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
