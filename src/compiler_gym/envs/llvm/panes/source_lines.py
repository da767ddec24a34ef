# SPDX-License-Identifier: MIT
"""Maps the lines of IR or assembly to source lines, and removes that information from the text.

A program built with line tables holds it in metadata (IR) or directives (assembly), which would
clutter the text.
"""

import re
from collections.abc import Iterator

from compiler_gym.core import PaneText

__all__ = ["read_assembly", "read_ir"]

_USE = re.compile(r",? !dbg !(\d+)")
_DEFINITION = re.compile(r"^!(\d+) = (?:distinct )?!(DI\w+|\{)(.*)$")
_FIELD = re.compile(r"\b(line|scope|file|filename): (!?\d+|\"[^\"]*\")")
_DEBUG_METADATA = re.compile(r"^!(\d+ = (distinct )?!DI|llvm\.dbg\.cu)")
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)")
_FILE_DIRECTIVE = re.compile(r"^\s*\.file\s+(\d+)\s+(.*)$")
_QUOTED = re.compile(r'"([^"]*)"')
_SECTION = re.compile(r"^\s*\.(section|text|data|bss)\b(.*)$")
_PASTED_SOURCE = ("-", "<stdin>")
"""What clang calls a source that it was given as text: the one that people see beside it."""
_TEMPORARY = re.compile(r"^\.L(func_begin|tmp|debug_\w+|info_string|cu_begin|sec_end)\d*:")


def read_ir(text: str) -> PaneText:
    """Return IR as it is without line tables, and the lines that they name."""
    if "!dbg" not in text:
        return PaneText(text)
    locations = _Locations(text)
    shown: list[str] = []
    lines: dict[int, int] = {}
    for line in text.split("\n"):
        if _DEBUG_METADATA.match(line):
            continue
        found = _USE.search(line)
        shown.append(_USE.sub("", line) if found else line)
        source = locations.find_line(found[1]) if found else 0
        if source:
            lines[len(shown)] = source
    return PaneText("\n".join(shown), lines)


def read_assembly(text: str) -> PaneText:
    """Return assembly without debug sections and line directives, and the lines that they name."""
    if ".loc" not in text:
        return PaneText(text)
    own = {number for number, name in _number_files(text) if name in _PASTED_SOURCE}
    shown: list[str] = []
    lines: dict[int, int] = {}
    source = 0
    for line in _without_debug_sections(text):
        if found := _LOC.match(line):
            source = int(found[2]) if found[1] in own else 0
        elif not (_FILE_DIRECTIVE.match(line) or _TEMPORARY.match(line)):
            shown.append(line)
            if line.endswith(":") and not line.startswith("."):
                source = 0
            elif source and line.startswith("\t") and not line.startswith("\t."):
                lines[len(shown)] = source
    return PaneText("\n".join(shown), lines)


class _Locations:
    """The debug metadata of a module, as far as it says where code comes from."""

    def __init__(self, text: str) -> None:
        self._fields: dict[str, dict[str, str]] = {}
        for line in text[text.find("\n!") :].split("\n"):
            if found := _DEFINITION.match(line):
                self._fields[found[1]] = dict(_FIELD.findall(found[3]))

    def find_line(self, number: str) -> int:
        """Return the line that a location is at, or 0 where that is not in the program's file."""
        location = self._fields.get(number, {})
        file = self._find_file(location.get("scope", ""))
        return int(location.get("line", 0)) if self._name(file) in _PASTED_SOURCE else 0

    def _find_file(self, scope: str) -> str:
        for _ in range(1000):
            fields = self._fields.get(scope.lstrip("!"), {})
            if "file" in fields or "scope" not in fields:
                return fields.get("file", "")
            scope = fields["scope"]
        return ""

    def _name(self, file: str) -> str:
        return self._fields.get(file.lstrip("!"), {}).get("filename", "").strip('"')


def _number_files(text: str) -> Iterator[tuple[str, str]]:
    """Yield the number and the last name of each file."""
    for line in text.split("\n"):
        if found := _FILE_DIRECTIVE.match(line):
            names = _QUOTED.findall(found[2])
            yield found[1], names[-1] if names else ""


def _without_debug_sections(text: str) -> Iterator[str]:
    is_debug = False
    for line in text.split("\n"):
        if found := _SECTION.match(line):
            is_debug = ".debug_" in found[2]
        if not is_debug:
            yield line
