# SPDX-License-Identifier: MIT
"""What a linked binary weighs, and what running it costs."""

import json
import re
import resource
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from scripts.projects.building import run
from scripts.projects.table import Project

__all__ = ["Sizes", "instructions", "seconds", "sizes"]

_ALLOCATED, _NO_BITS = 2, "SHT_NOBITS"
_SUMMARY = re.compile(r"^summary: (\d+)", re.M)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes of one binary, stripped."""

    text: int
    """Its section ``.text``."""
    loaded: int
    """Its sections that are loaded from the file: code, read-only data, data, relocations, unwind
    tables."""
    total: int
    """Its file."""


def sizes(binary: Path) -> Sizes:
    """Return what `binary` weighs once ``llvm-strip-22`` has been through a copy of it."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copy(binary, folder)
        subprocess.run(["llvm-strip-22", copy], check=True)
        command = ["llvm-readobj-22", "--sections", "--elf-output-style=JSON", copy]
        read = subprocess.run(command, capture_output=True, check=True)
        (file,) = json.loads(read.stdout)
        rows = [row["Section"] for row in file["Sections"]]
        held = {row["Name"]["Name"]: row["Size"] for row in rows}
        loaded = sum(
            row["Size"]
            for row in rows
            if row["Flags"]["Value"] & _ALLOCATED and row["Type"]["Name"] != _NO_BITS
        )
        return Sizes(held[".text"], loaded, Path(copy).stat().st_size)


def seconds(project: Project, folder: Path, into: Path, *, part: int = 1) -> tuple[float, bytes]:
    """Return the processor time of one benchmark of what is built in `folder`, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    printed = run(project.bench, folder, into, variables={"PART": str(part)})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return spent, printed


def instructions(project: Project, folder: Path, into: Path, *, part: int = 16) -> int:
    """Return the instructions that a `part` of a benchmark runs, as valgrind counts them.

    The judged binary alone counts, and what it calls: 30 to 60 times slower than running it,
    exact to a few thousand, and possible where a machine has no counters of its own.
    """
    with tempfile.TemporaryDirectory() as counts:
        tool = f"valgrind -q --tool=cachegrind --cache-sim=no --cachegrind-out-file={counts}/%p"
        run(project.bench, folder, into, variables={"PART": str(part), "RUN": tool})
        found = [_SUMMARY.search(file.read_text()) for file in Path(counts).iterdir()]
        return sum(int(match[1]) for match in found if match)
