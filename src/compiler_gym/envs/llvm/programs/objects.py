# SPDX-License-Identifier: MIT
"""Which module did an object file come from?

Whoever makes an object of a module says so here, and it is found again by the bytes of
the object, wherever it was moved to or archived. Objects of unknown origin are not
decompiled: they stay what they are.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from compiler_gym.files import write_whole
from compiler_gym.paths import cache_path

__all__ = ["is_archive", "modules_of", "remember_object", "remember_output"]

_BITCODE = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b")
_ARCHIVE = b"!<arch>\n"
_MOST_OUTPUTS = 10_000
_outputs: dict[Path, bytes] = {}


def remember_object(path: Path, module: bytes) -> None:
    """Note that the object file `path` was made of `module`."""
    try:
        write_whole(_kept_at(path.read_bytes()), module)
    except OSError:
        # Without a cache the object is one of unknown origin.
        pass


def remember_output(path: Path, module: bytes) -> None:
    """Note that a command which was not run would make `path` of `module`."""
    if len(_outputs) >= _MOST_OUTPUTS:
        _outputs.clear()
    _outputs[path.absolute()] = module


def modules_of(path: Path) -> list[bytes] | None:
    """Return the modules that an object or archive was made of, or None if unknown.

    An archive is known if every object in it is.
    """
    try:
        data = path.read_bytes()
    except OSError:
        made = _outputs.get(path.absolute())
        return None if made is None else [made]
    if not data.startswith(_ARCHIVE):
        module = _module_of(data)
        return None if module is None else [module]
    found = [None if member is None else _module_of(member) for member in _members(data)]
    known = [module for module in found if module is not None]
    return known if known and len(known) == len(found) else None


def is_archive(path: Path) -> bool:
    """Return whether the file `path` is an archive of objects."""
    try:
        with path.open("rb") as file:
            return file.read(len(_ARCHIVE)) == _ARCHIVE
    except OSError:
        return False


def _module_of(data: bytes) -> bytes | None:
    if data.startswith(_BITCODE):
        return data
    try:
        return _kept_at(data).read_bytes()
    except OSError:
        return None


def _kept_at(data: bytes) -> Path:
    digest = hashlib.sha256(data).hexdigest()
    return cache_path("llvm-objects") / digest[:2] / f"{digest[2:]}.bc"


def _members(data: bytes) -> Iterator[bytes | None]:
    """Yield the files in a Unix archive, less its tables; None where it is damaged."""
    position = len(_ARCHIVE)
    while position + 60 <= len(data):
        header = data[position : position + 60]
        digits = header[48:58].strip()
        size = int(digits) if digits.isdigit() else len(data)
        start = position + 60
        if start + size > len(data):
            yield None
            return
        if header[:16].rstrip() not in (b"/", b"//", b"/SYM64/"):
            yield data[start : start + size]
        position = start + size + size % 2
