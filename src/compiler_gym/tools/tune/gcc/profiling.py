# SPDX-License-Identifier: MIT
"""What a run of a program says of it to GCC: one file of counts for each source, kept as one.

GCC finds the counts of a source by the name of its object. That name is made up here, so that a
profile fits wherever the program is built again.
"""

import hashlib
import io
import shutil
import tarfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from compiler_gym.errors import ProjectError
from compiler_gym.files import read_regular, write_whole
from compiler_gym.tools.tune.builds import Binary, Unit

__all__ = [
    "COUNTING",
    "counting_flags",
    "name_units",
    "pack",
    "profile_flags",
    "unit_words",
    "unpack",
]

COUNTING = "-fprofile-generate="
_USING = "-fprofile-use="
_FOLDER = "/program/"
"""Where objects are said to lie."""
_SUFFIX = ".gcda"
_MOST_BYTES = 256 << 20


def counting_flags(raw: Path) -> list[str]:
    """Return what makes a program count, and write its counts below the folder `raw`."""
    return [f"{COUNTING}{raw}", "-fprofile-update=prefer-atomic"]


def profile_flags(folder: Path) -> list[str]:
    """Return what uses the counts below `folder`; functions that have changed since have none."""
    return [f"{_USING}{folder}", "-Wno-coverage-mismatch"]


def name_units(binary: Binary) -> dict[Unit, str]:
    """Return a name for each source of `binary`, the same wherever the project lies."""
    found: dict[Unit, str] = {}
    counts = Counter[str]()
    for unit in binary.units:
        path = binary.name_unit(unit)
        # One source may be compiled more than once, with other flags.
        counts[path] += 1
        text = f"{counts[path]} {path}".encode(errors="surrogateescape")
        found[unit] = hashlib.sha256(text).hexdigest()[:16]
    return found


def unit_words(name: str, flags: Sequence[str]) -> list[str]:
    """Return what tells GCC that its object is called `name`, if `flags` count or use counts."""
    if not any(flag.startswith((COUNTING, _USING)) for flag in flags):
        return []
    return ["-dumpdir", _FOLDER, "-dumpbase", name, "-dumpbase-ext", ""]


def pack(raw: Path, output: Path) -> int:
    """Write the counts below the folder `raw` to one file; return of how many sources they are."""
    found = sorted(raw.rglob(f"*{_SUFFIX}"))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in found:
            member = tarfile.TarInfo(path.relative_to(raw).as_posix())
            member.size = path.stat().st_size
            archive.addfile(member, io.BytesIO(path.read_bytes()))
    if found:
        write_whole(output, packed.getvalue())
    return len(found)


def unpack(profile: Path, folder: Path) -> Path:
    """Write the counts in the file `profile` to files below `folder`, and return that.

    A profile may come from anybody: raises `ProjectError` for one that holds anything else.
    """
    try:
        data = read_regular(profile, most=_MOST_BYTES)
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            held = _counts_in(profile, archive)
    except (OSError, tarfile.TarError) as error:
        raise ProjectError(
            f"cannot read the profile {profile}: {error}: keep the folder profiles beside the plan"
        ) from error
    shutil.rmtree(folder, ignore_errors=True)
    for name, counts in held.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(counts)
    return folder


def _counts_in(profile: Path, archive: tarfile.TarFile) -> Mapping[str, bytes]:
    found: dict[str, bytes] = {}
    for member in archive:
        path = PurePosixPath(member.name)
        stream = archive.extractfile(member) if member.isreg() else None
        if stream is None or path.is_absolute() or ".." in path.parts or path.suffix != _SUFFIX:
            raise ProjectError(
                f"the profile {profile} holds {member.name!a}: expected GCC's counts ({_SUFFIX}) "
                "and nothing else: make the plan anew with `compiler-gym tune`"
            )
        found[member.name] = stream.read()
    return found
