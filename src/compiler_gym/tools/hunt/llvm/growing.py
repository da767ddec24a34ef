# SPDX-License-Identifier: MIT
"""Which functions grew from one version of LLVM to the next.

Every version gets the same IR, that of this version's clang before any pass: what differs are the
passes and the code generator, not the front end. What a version cannot read or make is a row.
"""

import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from compiler_gym.envs.llvm.toolchain import name_package
from compiler_gym.errors import BenchmarkInitError, CompilerGymError, EnvironmentNotSupported
from compiler_gym.files import append_line, drop_cut_line, lines
from compiler_gym.search import write_json
from compiler_gym.tools.hunt.llvm.decisions import HuntedDecision
from compiler_gym.tools.hunt.llvm.engine import Engine
from compiler_gym.tools.hunt.llvm.sources import HuntedProgram
from compiler_gym.tools.hunt.llvm.versions import (
    explain_error,
    function_sizes_with,
    list_versions,
)

__all__ = ["find_grown"]

_LEAST_BYTES = 3
_ROWS = "grown.jsonl"


def find_grown(
    programs: Sequence[HuntedProgram], engine: Engine, output: Path, *, deadline: float,
    says: Callable[[str], None], is_interrupted: Callable[[], bool],
) -> dict[str, Any]:  # fmt: skip
    """Return the functions of `programs` that the newest version makes larger than an older one."""
    versions = list_versions()
    if len(versions) < 2:
        raise EnvironmentNotSupported(
            f"needs opt and llc of two versions: install another beside {name_package('opt')}"
        )
    path = output / _ROWS
    drop_cut_line(path)
    done = {row["program"]: row for row in lines(path) if row["versions"] == list(versions)}
    for number, program in enumerate(programs):
        if is_interrupted() or time.monotonic() > deadline:
            break
        if program.name not in done:
            says(f"compiling {number + 1} of {len(programs)}: {program.package}")
            done[program.name] = row = _with_each_version(program, engine, versions)
            append_line(path, row, sync=False)
    document = _document([*done.values()], versions)
    if done and not any(row["sizes"] for row in done.values()):
        path.unlink()  # the same command tries them again
        raise BenchmarkInitError(
            f"no version compiles any of {len(done)} programs; the first failure: "
            f"{document['failures'][0]['failure']}"
        )
    write_json(output / "grown.json", document)
    return document


def _with_each_version(
    program: HuntedProgram, engine: Engine, versions: Sequence[int]
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "program": program.name, "package": program.package, "versions": list(versions),
        "sizes": {}, "failures": {},
    }  # fmt: skip
    try:
        text = engine.ask("readable_by_all", program.read())
    except CompilerGymError as error:
        row["failures"] = {str(one): f"does not build: {str(error)[:100]}" for one in versions}
        return row
    if text.failure:
        row["failures"] = {str(one): text.failure for one in versions}
        return row
    for version in versions:
        try:
            found = function_sizes_with(version, text.value, HuntedDecision(("default<Oz>",)))
            row["sizes"][str(version)] = found
        except (subprocess.SubprocessError, OSError, CompilerGymError) as error:
            row["failures"][str(version)] = explain_error(error)
    return row


def _document(rows: Sequence[dict[str, Any]], versions: Sequence[int]) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    compared = 0
    totals = dict.fromkeys(map(str, versions), 0)
    for row in rows:
        sizes: dict[str, dict[str, int]] = row["sizes"]
        newest = sizes.get(str(versions[-1]), {})
        for name, size in newest.items():
            each = {version: those[name] for version, those in sizes.items() if name in those}
            if len(each) < 2:
                continue
            compared += 1
            if len(each) == len(versions):
                for version, bytes_of_code in each.items():
                    totals[version] += bytes_of_code
            if size - min(each.values()) >= _LEAST_BYTES:
                program, package = row["program"], row["package"]
                found.append({"function": name, "program": program, "package": package,
                              "sizes": each, "grew": size - min(each.values())})  # fmt: skip
    found.sort(key=lambda one: (-one["grew"], one["program"], one["function"]))
    failures = [
        {"program": row["program"], "version": version, "failure": said}
        for row in rows
        for version, said in row["failures"].items()
    ]
    return {
        "versions": list(versions),
        "programs": len(rows),
        "compared": compared,
        "totals": totals,
        "grown": found,
        "failures": failures,
    }
