# SPDX-License-Identifier: MIT
"""Map the lines of IR or assembly to source lines, and remove debug information from the text.

Line tables are stored as metadata (IR) or directives (assembly), which would clutter the text.
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
"""Clang's names for a source read from standard input: the one displayed next to the output."""
_TEMPORARY = re.compile(r"^\.L(func_begin|tmp|debug_\w+|info_string|cu_begin|sec_end)\d*:")


def read_ir(text: str) -> PaneText:
    """Return IR without line tables, and the source line of each remaining line."""
    if "!dbg" not in text:
        return PaneText(text)
    locations = _Locations(text)
    shown: list[str] = []
    lines: dict[int, int] = {}
    for line in text.split("\n"):
        if _DEBUG_METADATA.match(line):
            continue
        match = _USE.search(line)
        shown.append(_USE.sub("", line) if match else line)
        source = locations.find_line(match[1]) if match else 0
        if source:
            lines[len(shown)] = source
    return PaneText("\n".join(shown), lines)


def read_assembly(text: str) -> PaneText:
    """Return assembly without debug sections and directives, and the source line of each line."""
    if ".loc" not in text:
        return PaneText(text)
    own = {number for number, name in _number_files(text) if name in _PASTED_SOURCE}
    shown: list[str] = []
    lines: dict[int, int] = {}
    source = 0
    for line in _without_debug_sections(text):
        if match := _LOC.match(line):
            source = int(match[2]) if match[1] in own else 0
        elif not (_FILE_DIRECTIVE.match(line) or _TEMPORARY.match(line)):
            shown.append(line)
            if line.endswith(":") and not line.startswith("."):
                source = 0
            elif source and line.startswith("\t") and not line.startswith("\t."):
                lines[len(shown)] = source
    return PaneText("\n".join(shown), lines)


class _Locations:
    """The debug metadata of a module that describes source locations."""

    def __init__(self, text: str) -> None:
        self._fields: dict[str, dict[str, str]] = {}
        for line in text[text.find("\n!") :].split("\n"):
            if match := _DEFINITION.match(line):
                self._fields[match[1]] = dict(_FIELD.findall(match[3]))

    def find_line(self, number: str) -> int:
        """Return the line of a location, or 0 if it is not in the program's own file."""
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
    """Yield the number and the file name in each ``.file`` directive."""
    for line in text.split("\n"):
        if match := _FILE_DIRECTIVE.match(line):
            names = _QUOTED.findall(match[2])
            yield match[1], names[-1] if names else ""


def _without_debug_sections(text: str) -> Iterator[str]:
    is_debug = False
    for line in text.split("\n"):
        if match := _SECTION.match(line):
            is_debug = ".debug_" in match[2]
        if not is_debug:
            yield line
