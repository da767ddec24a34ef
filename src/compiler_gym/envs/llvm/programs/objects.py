# SPDX-License-Identifier: MIT
"""A record of the module from which each object file was made.

The module is recorded when its object is created and looked up using the bytes of the object, so
objects can be moved or archived. Objects of unknown origin are linked unchanged.
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
    """Record that the object file `path` was made from `module`."""
    try:
        write_whole(_find_cached(path.read_bytes()), module)
    except OSError:
        # Without a cache, the object simply has an unknown origin.
        pass


def remember_output(path: Path, module: bytes) -> None:
    """Record that a command that was not run would make `path` from `module`."""
    if len(_outputs) >= _MOST_OUTPUTS:
        _outputs.clear()
    _outputs[path.absolute()] = module


def find_modules(path: Path) -> list[bytes] | None:
    """Return the modules from which an object or archive was made, or None if unknown.

    An archive is known if all of its objects are.
    """
    try:
        data = path.read_bytes()
    except OSError:
        output = _outputs.get(path.absolute())
        return None if output is None else [output]
    if not is_archive(path):
        module = _find_module(data)
        return None if module is None else [module]
    members = [None if member is None else _find_module(member) for member in iterate_members(data)]
    modules = [module for module in members if module is not None]
    return modules if modules and len(modules) == len(members) else None


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
