# SPDX-License-Identifier: MIT
"""The modules of a folder that ``compiler-gym datasets build`` wrote, by package.

All modules of a package are in the split of the package, so nothing is learned from a program
that judges. A sample depends on names alone: more packages change no other package's sample.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import msgspec

from compiler_gym.datasets import split_of_package
from compiler_gym.errors import InvalidParameterError

__all__ = ["CorpusModule", "list_modules"]


@dataclass(frozen=True, slots=True, order=True)
class CorpusModule:
    """A module of a package, before any pass."""

    package: str
    path: Path
    license: str = ""
    """The licence of its source or package, as the distribution states it; may be empty."""

    @property
    def split(self) -> str:
        """The split of its package."""
        return split_of_package(self.package)


class _Module(msgspec.Struct):
    sha256: str
    license: str


class _Result(msgspec.Struct):
    package: str
    license: str = ""
    modules: list[_Module] = []


def list_modules(corpus: Path, *, per_package: int, most_bytes: int) -> list[CorpusModule]:
    """Return at most `per_package` modules of each package, none with more bytes than `most_bytes`.

    Packages come in the order of their names, and modules in an order that only names decide.
    """
    modules: list[CorpusModule] = []
    for result in sorted(corpus.glob("packages/*/result.json")):
        built = msgspec.json.decode(result.read_bytes(), type=_Result)
        package, licenses = built.package, {part.sha256: part.license for part in built.modules}
        paths = sorted(result.parent.glob("modules/*.bc"), key=lambda path: _digest(package, path))
        small = [path for path in paths if path.stat().st_size <= most_bytes]
        modules += [
            CorpusModule(package, path, licenses.get(path.stem) or built.license)
            for path in small[:per_package]
        ]
    if not modules:
        raise InvalidParameterError(
            f"{corpus} contains no modules: pass a folder that `compiler-gym datasets build` wrote"
        )
    return modules


def _digest(package: str, path: Path) -> bytes:
    return hashlib.sha256(f"{package}/{path.name}".encode()).digest()
