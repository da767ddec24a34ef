# SPDX-License-Identifier: MIT
"""Read a machine-readable ``debian/copyright``: which licence is each file under?"""

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
        """Return what `text` says.

        Of one that is not machine-readable, the common licence that it names, if it names one.
        """
        rows = [
            (
                re.compile("|".join(map(_pattern, found["Files"].split()))),
                _name_of_licence(found["License"]),
            )
            for found in paragraphs(text)
            if found.get("Files") and found.get("License")
        ]
        named = set(_COMMON.findall(text))
        if not rows and len(named) == 1:
            rows = [(re.compile(".*"), named.pop())]
        return cls(tuple(rows))

    def of(self, file: str) -> str:
        """Return the licence of a file: that of the last paragraph which names it."""
        named = (licence for pattern, licence in reversed(self.rows) if pattern.fullmatch(file))
        return next(named, "")

    @property
    def whole(self) -> str:
        """The licences of all files, less those of the packaging."""
        packaging = re.compile(r"debian/")
        named = [licence for pattern, licence in self.rows if not packaging.match(pattern.pattern)]
        return " and ".join(dict.fromkeys(named))[:_MOST_SHOWN]


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


def _name_of_licence(licence: str) -> str:
    return licence.split("\n")[0].strip()[:_MOST_SHOWN]


def _pattern(glob: str) -> str:
    """Return the expression of a pattern, in which ``*`` matches a slash, too."""
    return re.escape(glob).replace(r"\*", ".*").replace(r"\?", ".").removeprefix(r"\./")
