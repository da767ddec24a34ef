# SPDX-License-Identifier: MIT
"""Lock files: the exact versions of packages and of all their build dependencies.

Two machines with the same lock build the same bitcode, from the same sources, headers and compiler.
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
    """The exact version; empty for any."""
    sha256: str = ""
    """The sha256 of its ``.dsc``, which lists the digests of all its archives; empty for any."""

    def __post_init__(self) -> None:
        if not _is_package_name(self.name) or "/" in self.version or "\0" in self.version:
            raise DatasetInitError(
                f"{self.name!r} {self.version!r} is not a source package; names consist of "
                "lower-case letters, digits and + - ."
            )

    @property
    def folder(self) -> str:
        """The name of its result folder."""
        return f"{self.name}_{self.version or 'any'}".replace(":", "%3a")

    @property
    def tree(self) -> str:
        """The name of the folder it is unpacked to, without characters special to make."""
        version = self.version.partition(":")[2] or self.version
        return f"{self.name}-{version.rpartition('-')[0] or version or 'source'}".replace("~", ".")


@dataclass(frozen=True, slots=True)
class PackageLock:
    """The locked packages of a corpus."""

    mirrors: tuple[str, ...]
    """The package sources: ``URL SUITE COMPONENT``."""
    packages: tuple[LockedPackage, ...]
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    """The version of every build dependency; empty to use the newest."""


def find_lock(named: str) -> Path:
    """Return the lock file `named`: the name of one in this library, or a path."""
    path = Path(named).expanduser()
    if os.sep in named or not named or path.exists():
        return path
    bundled = Path(__file__).with_name(f"{named}.toml")
    return bundled if bundled.is_file() else path


def read_lock(path: Path) -> PackageLock:
    """Return the lock in the file `path`; raise `DatasetInitError` if it is invalid."""
    try:
        document = tomllib.loads(read_regular(path).decode())
        return msgspec.convert(document, PackageLock)
    except (OSError, ValueError, msgspec.ValidationError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DatasetInitError(
            f"cannot read the lock file {path}: {reason}; create one with `compiler-gym datasets "
            "build debian --packages FILE`"
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
