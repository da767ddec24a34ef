# SPDX-License-Identifier: MIT
"""Remembers the module from which each object file was made.

The module is recorded when its object is made, and found again by the bytes of the object,
wherever it was moved to or archived. Objects of unknown origin are not decompiled: they
are linked unchanged.
"""

import hashlib
from pathlib import Path

from compiler_gym.builds import find_bitcode, is_archive, iterate_members
from compiler_gym.files import write_whole
from compiler_gym.files.paths import cache_path

__all__ = ["find_modules", "remember_object", "remember_output"]

_MOST_OUTPUTS = 10_000
_outputs: dict[Path, bytes] = {}


def remember_object(path: Path, module: bytes) -> None:
    """Note that the object file `path` was made of `module`."""
    try:
        write_whole(_find_cached(path.read_bytes()), module)
    except OSError:
        # Without a cache the object is one of unknown origin.
        pass


def remember_output(path: Path, module: bytes) -> None:
    """Note that a command which was not run would make `path` of `module`."""
    if len(_outputs) >= _MOST_OUTPUTS:
        _outputs.clear()
    _outputs[path.absolute()] = module


def find_modules(path: Path) -> list[bytes] | None:
    """Return the modules that an object or archive was made of, or None if unknown.

    An archive is known if every object in it is.
    """
    try:
        data = path.read_bytes()
    except OSError:
        made = _outputs.get(path.absolute())
        return None if made is None else [made]
    if not is_archive(path):
        module = _find_module(data)
        return None if module is None else [module]
    found = [None if member is None else _find_module(member) for member in iterate_members(data)]
    known = [module for module in found if module is not None]
    return known if known and len(known) == len(found) else None


def _find_module(data: bytes) -> bytes | None:
    if (bitcode := find_bitcode(data)) is not None:
        return bitcode
    try:
        return _find_cached(data).read_bytes()
    except OSError:
        return None


def _find_cached(data: bytes) -> Path:
    digest = hashlib.sha256(data).hexdigest()
    return cache_path("llvm-objects") / digest[:2] / f"{digest[2:]}.bc"
