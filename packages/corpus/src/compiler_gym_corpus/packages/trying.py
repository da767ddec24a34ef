# SPDX-License-Identifier: MIT
"""Find the test command of a built tree, and archive the tree."""

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
    """Return the command and working directory of the tests of `tree`, or None.

    A package whose rules skip the tests has none.
    """
    if _NONE.search(_text_if_any(tree / "debian" / "rules")):
        return None
    for folder in _FOLDERS:
        for name in ("GNUmakefile", "Makefile", "makefile"):
            targets = _TARGETS.findall(_text_if_any(tree / folder / name))
            if targets:
                target = "check" if "check" in targets else "test"
                return ("/usr/bin/make", target), folder
        if (tree / folder / "build.ninja").is_file():
            return ("/usr/bin/ninja", "test"), folder
    return None


def keep_tree(tree: Path, path: Path, most: int) -> bool:
    """Archive `tree` as `path`, unless that needs over `most` bytes; return whether it did."""
    size = sum(os.lstat(entry).st_size for entry in tree.rglob("*"))
    if not most or size > 20 * most:
        return False
    packed = io.BytesIO()
    with (
        zstd.ZstdFile(packed, "wb", level=9) as stream,
        tarfile.open(fileobj=stream, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        for entry in sorted(tree.rglob("*")):
            if entry.is_symlink() or entry.is_file() or entry.is_dir():
                archive.add(entry, str(entry.relative_to(tree)), recursive=False)
    if packed.tell() > most:
        return False
    path.write_bytes(packed.getvalue())
    return True


def _text_if_any(path: Path) -> str:
    try:
        return read_regular(path, most=_MOST).decode(errors="replace")
    except OSError:
        return ""
