# SPDX-License-Identifier: MIT
"""Files of JSON lines that outlive a kill: a line is there whole, or it is dropped."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compiler_gym.files import write_whole

__all__ = ["append_line", "close_last_line", "drop_cut_line", "lines", "whole_lines"]


def append_line(path: Path, document: Mapping[str, Any], *, sync: bool = True) -> None:
    """Append one line; with `sync` it is on the disk when this returns."""
    data = (json.dumps(document) + "\n").encode()
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(descriptor, data)  # one call: a kill leaves the whole line or none of it
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def drop_cut_line(path: Path) -> None:
    """Remove the end of a file that a kill cut off in mid-line; no file is no harm."""
    if not path.is_file():
        return
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        write_whole(path, whole)


def close_last_line(path: Path) -> None:
    """End a last line that has no end, so that the next one begins anew."""
    if not path.is_file():
        return
    with path.open("rb+") as file:
        if not file.seek(0, os.SEEK_END):
            return
        file.seek(-1, os.SEEK_END)
        if file.read(1) != b"\n":
            file.write(b"\n")


def lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every line, or raise ``json.JSONDecodeError``; no file has none."""
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield json.loads(line)


def whole_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield every line that is an object, and pass over what is damaged."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            found = json.loads(line)
        except json.JSONDecodeError:
            continue
        if isinstance(found, dict):
            yield found
