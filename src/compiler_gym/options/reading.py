# SPDX-License-Identifier: MIT
"""The options of an import of programs, and the limits of archives."""

from dataclasses import dataclass, field

from compiler_gym.options.declaring import Spelling, option

_SUFFIXES = (".bc", ".c", ".cc", ".cl", ".cpp", ".cxx", ".f90", ".ll", ".mlir", ".rs", ".swift")


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """The limits above which an archive counts as hostile."""

    max_bytes: int = 1 << 38
    """Total bytes of all files."""
    max_files: int = 5_000_000
    """The number of files."""
    max_ratio: float = 250.0
    """The largest ratio of contents to archive size; programs reach about 20."""
    small: int = 1 << 26
    """Contents up to this size are accepted at any ratio."""

    def limit_bytes(self, archive_size: int) -> int:
        """Return how many bytes an archive of `archive_size` bytes may contain."""
        return min(self.max_bytes, max(self.small, int(archive_size * self.max_ratio)))


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The files that count as programs, and properties of all of them."""

    suffixes: tuple[str, ...] = option(
        _SUFFIXES,
        "File suffix to include, such as .c; can be repeated",
        spelling=Spelling("suffix", type=list[str]),
    )
    """Suffixes of programs in folders and archives; an empty one matches all files."""
    max_bytes: int = 1 << 28
    """The size above which programs are skipped."""
    license: str = option("", "Licence of programs that do not state one")
    """The licence of programs that do not name their own."""
    source: str = option("", "Origin of the programs")
    """Origin of the programs; their path or file if empty."""
    language: str = option("", "Language of the programs")
    """The language of programs that do not name their own."""
    limits: ArchiveLimits = field(default_factory=ArchiveLimits)
    """The limits of archives."""
