# SPDX-License-Identifier: MIT
"""The packages of a corpus, each in one version, and what they are all built against.

Two machines with one lock build the same bitcode: sources, headers and compiler are the same.
"""

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import tomli_w

from compiler_gym.errors import DatasetInitError
from compiler_gym.files import read_regular, write_whole

__all__ = ["LockedPackage", "PackageLock", "find_lock", "read_lock", "write_lock"]


@dataclass(frozen=True, slots=True)
class LockedPackage:
    """One source package."""

    name: str
    version: str = ""
    """Empty where any will do."""
    sha256: str = ""
    """Of its ``.dsc``, which names the digests of all its archives; empty where any will do."""

    def __post_init__(self) -> None:
        if not _is_package_name(self.name) or "/" in self.version or "\0" in self.version:
            raise DatasetInitError(
                f"expected the name of a source package, found {self.name!r} {self.version!r}: "
                "names have lower-case letters, digits and + - ."
            )

    @property
    def folder(self) -> str:
        """The name of the folder that its result lies in."""
        return f"{self.name}_{self.version or 'any'}".replace(":", "%3a")

    @property
    def tree(self) -> str:
        """The name of the folder that it is unpacked to, which no Makefile stumbles over."""
        version = self.version.partition(":")[2] or self.version
        return f"{self.name}-{version.rpartition('-')[0] or version or 'source'}".replace("~", ".")


@dataclass(frozen=True, slots=True)
class PackageLock:
    """What a corpus is built of."""

    mirrors: tuple[str, ...]
    """Where packages are fetched: ``URL SUITE COMPONENT``."""
    packages: tuple[LockedPackage, ...]
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """Every package that any of them is built against, and its version; empty: the newest."""


def find_lock(named: str) -> Path:
    """Return the file that `named` means: a lock that comes with this library, or a path."""
    path = Path(named).expanduser()
    if os.sep in named or not named or path.exists():
        return path
    bundled = Path(__file__).with_name(f"{named}.toml")
    return bundled if bundled.is_file() else path


def read_lock(path: Path) -> PackageLock:
    """Return the lock in the file `path`; raise `DatasetInitError` where it is none."""
    try:
        read = tomllib.loads(read_regular(path).decode())
        return msgspec.convert(read, PackageLock)
    except (OSError, ValueError, msgspec.ValidationError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DatasetInitError(
            f"expected a lock of packages in {path}: {reason}: `compiler-gym datasets build debian "
            "--packages FILE` writes one"
        ) from error


def write_lock(path: Path, lock: PackageLock) -> None:
    """Write `lock` to the file `path`."""
    fields: dict[str, Any] = msgspec.to_builtins(lock)
    ordered = {name: fields[name] for name in ("mirrors", "versions", "packages")}
    ordered["versions"] = dict(sorted(ordered["versions"].items()))
    write_whole(path, tomli_w.dumps(ordered).encode())


def _is_package_name(name: str) -> bool:
    letters = set("abcdefghijklmnopqrstuvwxyz0123456789")
    return len(name) > 1 and name[0] in letters and set(name) <= letters | set("+-.")
