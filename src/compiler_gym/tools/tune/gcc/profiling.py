# SPDX-License-Identifier: MIT
"""Record GCC profiles: pack the count files of all sources into one file, and unpack it.

GCC finds the counts of a source by the name of its object. The names are generated here, so that a
profile matches in whichever folder the program is built again.
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
"""The folder that GCC is given for its objects' names."""
_SUFFIX = ".gcda"
_MOST_BYTES = 256 << 20


def counting_flags(raw: Path) -> list[str]:
    """Return the flags that make a program write its counts to the folder `raw`."""
    return [f"{COUNTING}{raw}", "-fprofile-update=prefer-atomic"]


def profile_flags(folder: Path) -> list[str]:
    """Return the flags that use the counts in `folder`, and ignore those of changed functions."""
    return [f"{_USING}{folder}", "-Wno-coverage-mismatch"]


def name_units(binary: Binary) -> dict[Unit, str]:
    """Return a name for each source of `binary`, independent of the project's location."""
    names: dict[Unit, str] = {}
    counts = Counter[str]()
    for unit in binary.units:
        path = binary.name_unit(unit)
        # A source can be compiled several times with different flags.
        counts[path] += 1
        text = f"{counts[path]} {path}".encode(errors="surrogateescape")
        names[unit] = hashlib.sha256(text).hexdigest()[:16]
    return names


def unit_words(name: str, flags: Sequence[str]) -> list[str]:
    """Return the flags that name the object `name`, if `flags` write or use counts."""
    if not any(flag.startswith((COUNTING, _USING)) for flag in flags):
        return []
    return ["-dumpdir", _FOLDER, "-dumpbase", name, "-dumpbase-ext", ""]


def pack(raw: Path, output: Path) -> int:
    """Pack the counts in the folder `raw` into one file; return the number of sources."""
    paths = sorted(raw.rglob(f"*{_SUFFIX}"))
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in paths:
            member = tarfile.TarInfo(path.relative_to(raw).as_posix())
            member.size = path.stat().st_size
            archive.addfile(member, io.BytesIO(path.read_bytes()))
    if paths:
        write_whole(output, buffer.getvalue())
    return len(paths)


def unpack(profile: Path, folder: Path) -> Path:
    """Unpack the counts in the file `profile` to `folder`, and return `folder`.

    Profiles are untrusted: raises `ProjectError` for one that contains any other files.
    """
    try:
        data = read_regular(profile, most=_MOST_BYTES)
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            files = _counts_in(profile, archive)
    except (OSError, tarfile.TarError) as error:
        raise ProjectError(
            f"cannot read the profile {profile}: {error}; keep 'profiles' next to the plan"
        ) from error
    shutil.rmtree(folder, ignore_errors=True)
    for name, counts in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(counts)
    return folder


def _counts_in(profile: Path, archive: tarfile.TarFile) -> Mapping[str, bytes]:
    files: dict[str, bytes] = {}
    for member in archive:
        path = PurePosixPath(member.name)
        stream = archive.extractfile(member) if member.isreg() else None
        if stream is None or path.is_absolute() or ".." in path.parts or path.suffix != _SUFFIX:
            raise ProjectError(
                f"the profile {profile} contains {member.name!a}, which is not one of GCC's count "
                f"files ({_SUFFIX}); create the plan again with `compiler-gym tune`"
            )
        files[member.name] = stream.read()
    return files
