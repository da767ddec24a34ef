# SPDX-License-Identifier: MIT
"""Which command runs the tests of a tree that was built, and how the tree is kept for them."""

import io
import os
import re
import tarfile
from pathlib import Path

from compiler_gym.datasets.fetching import zstd
from compiler_gym.files import read_regular

__all__ = ["keep_tree", "test_command"]

_FOLDERS = (".", "build", "obj-x86_64-linux-gnu", "builddir", "_build", "build-dir")
_TARGETS = re.compile(r"^(check|test):", re.MULTILINE)
_NONE = re.compile(r"^override_dh_auto_test(?:-arch)?:[ \t]*(?:$|#)(?!\n\t)", re.MULTILINE)
_MOST = 1 << 24


def test_command(tree: Path) -> tuple[tuple[str, ...], str] | None:
    """Return what runs the tests of `tree`, and where; None where it has none that we know.

    A package whose rules leave them out has none.
    """
    if _NONE.search(_text_if_any(tree / "debian" / "rules")):
        return None
    for folder in _FOLDERS:
        for name in ("GNUmakefile", "Makefile", "makefile"):
            found = _TARGETS.findall(_text_if_any(tree / folder / name))
            if found:
                target = "check" if "check" in found else "test"
                return ("/usr/bin/make", target), folder
        if (tree / folder / "build.ninja").is_file():
            return ("/usr/bin/ninja", "test"), folder
    return None


def keep_tree(tree: Path, path: Path, most: int) -> bool:
    """Pack `tree` into the archive `path`, and return whether: not if it is above `most` bytes."""
    size = sum(os.lstat(found).st_size for found in tree.rglob("*"))
    if not most or size > 20 * most:
        return False
    packed = io.BytesIO()
    with (
        zstd.ZstdFile(packed, "wb", level=9) as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for found in sorted(tree.rglob("*")):
            if found.is_symlink() or found.is_file() or found.is_dir():
                archive.add(found, str(found.relative_to(tree)), recursive=False)
    if packed.tell() > most:
        return False
    path.write_bytes(packed.getvalue())
    return True


def _text_if_any(path: Path) -> str:
    try:
        return read_regular(path, most=_MOST).decode(errors="replace")
    except OSError:
        return ""
