# SPDX-License-Identifier: MIT
"""What can be chosen of an import of programs, and what its archives may hold."""

from dataclasses import dataclass, field

from compiler_gym.options.declaring import Spelling, option

__all__ = ["ArchiveLimits", "ReadOptions"]

_SUFFIXES = (".bc", ".c", ".cc", ".cl", ".cpp", ".cxx", ".f90", ".ll", ".mlir", ".rs", ".swift")


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """What an archive may hold before it counts as hostile."""

    max_bytes: int = 1 << 38
    """Bytes of all files together."""
    max_files: int = 5_000_000
    """The number of files."""
    max_ratio: float = 250.0
    """How much larger the contents may be than the archive; programs reach about 20."""
    small: int = 1 << 26
    """Contents up to this size are accepted at any ratio."""

    def limit_bytes(self, archive_size: int) -> int:
        """Return how much an archive of `archive_size` bytes may unpack to."""
        return min(self.max_bytes, max(self.small, int(archive_size * self.max_ratio)))


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What counts as a program, and what is known of all of them."""

    suffixes: tuple[str, ...] = option(
        _SUFFIXES,
        "File suffix to include, such as .c; can be repeated",
        spelling=Spelling("suffix", type=list[str], read=tuple),
    )
    """The names of files in folders and archives that are programs; an empty one takes all."""
    max_bytes: int = 1 << 28
    """The size above which a program is not read."""
    license: str = option("", "Licence of programs that do not state one")
    """The licence of programs that do not name their own."""
    source: str = option("", "Origin of the programs")
    """Origin of the programs; their path or file if empty."""
    language: str = option("", "Language of the programs")
    """The language of programs that do not name their own."""
    limits: ArchiveLimits = field(default_factory=ArchiveLimits)
    """What an archive may hold."""
