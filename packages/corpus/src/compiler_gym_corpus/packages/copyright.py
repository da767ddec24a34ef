# SPDX-License-Identifier: MIT
"""Read the licence of each file from a machine-readable ``debian/copyright``."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Licences", "paragraphs"]

_MOST_SHOWN = 200
_COMMON = re.compile(r"/usr/share/common-licenses/([A-Za-z][\w.-]*\w)")


@dataclass(frozen=True, slots=True)
class Licences:
    """The licences of the files of a package.

    >>> text = "Files: *\\nLicense: MIT\\n text\\n\\nFiles: src/*.c\\nLicense: Zlib\\n"
    >>> licences = Licences.read(text)
    >>> licences.of("src/a.c"), licences.of("b.c"), licences.whole
    ('Zlib', 'MIT', 'MIT and Zlib')
    """

    rows: tuple[tuple[re.Pattern[str], str], ...]

    @classmethod
    def read(cls, text: str) -> "Licences":
        """Parse `text`.

        If it is not machine-readable but names a single common licence, all files have that.
        """
        rows = [
            (
                re.compile("|".join(map(_pattern, fields["Files"].split()))),
                _licence_name(fields["License"]),
            )
            for fields in paragraphs(text)
            if fields.get("Files") and fields.get("License")
        ]
        common = set(_COMMON.findall(text))
        if not rows and len(common) == 1:
            rows = [(re.compile(".*"), common.pop())]
        return cls(tuple(rows))

    def of(self, file: str) -> str:
        """Return the licence of a file: that of the last paragraph that matches it."""
        matches = (licence for pattern, licence in reversed(self.rows) if pattern.fullmatch(file))
        return next(matches, "")

    @property
    def whole(self) -> str:
        """The licences of all files except the packaging."""
        packaging = re.compile(r"debian/")
        names = [licence for pattern, licence in self.rows if not packaging.match(pattern.pattern)]
        return " and ".join(dict.fromkeys(names))[:_MOST_SHOWN]


def paragraphs(text: str) -> Iterator[dict[str, str]]:
    """Yield the fields of each paragraph of a control file."""
    fields: dict[str, str] = {}
    name = ""
    for line in [*text.splitlines(), ""]:
        if not line.strip():
            if fields:
                yield fields
            fields, name = {}, ""
        elif line[0] in " \t":
            if name:
                fields[name] += f"\n{line.strip()}"
        elif ":" in line and not line.startswith("#"):
            name, _, value = line.partition(":")
            name = name.strip().capitalize()
            fields[name] = value.strip()


def _licence_name(licence: str) -> str:
    return licence.split("\n")[0].strip()[:_MOST_SHOWN]


def _pattern(glob: str) -> str:
    """Return the regular expression of a glob, in which ``*`` also matches slashes."""
    return re.escape(glob).replace(r"\*", ".*").replace(r"\?", ".").removeprefix(r"\./")
