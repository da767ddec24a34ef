# SPDX-License-Identifier: MIT
"""Find functions that grew from one version of LLVM to the next.

Every version compiles the same unoptimised IR from this version's clang, so only the passes and the
code generator differ, not the front end. Failures of a version are recorded, too.
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
from compiler_gym_hunt.llvm.decisions import HuntedDecision
from compiler_gym_hunt.llvm.engine import Engine
from compiler_gym_hunt.llvm.sources import HuntedProgram
from compiler_gym_hunt.llvm.versions import (
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
    """Return the functions of `programs` that are larger with the newest version than before."""
    versions = list_versions()
    if len(versions) < 2:
        raise EnvironmentNotSupported(
            f"opt and llc of two versions are needed; install another besides {name_package('opt')}"
        )
    path = output / _ROWS
    drop_cut_line(path)
    rows = {row["program"]: row for row in lines(path) if row["versions"] == list(versions)}
    for number, program in enumerate(programs):
        if is_interrupted() or time.monotonic() > deadline:
            break
        if program.name not in rows:
            says(f"compiling {number + 1} of {len(programs)}: {program.package}")
            rows[program.name] = row = _with_each_version(program, engine, versions)
            append_line(path, row, sync=False)
    document = _document([*rows.values()], versions)
    if rows and not any(row["sizes"] for row in rows.values()):
        path.unlink()  # so that the same command tries again
        raise BenchmarkInitError(
            f"no version can compile any of the {len(rows)} programs; the first failure: "
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
        row["failures"] = {str(v): f"does not build: {str(error)[:100]}" for v in versions}
        return row
    if text.failure:
        row["failures"] = {str(version): text.failure for version in versions}
        return row
    for version in versions:
        try:
            sizes = function_sizes_with(version, text.value, HuntedDecision(("default<Oz>",)))
            row["sizes"][str(version)] = sizes
        except (subprocess.SubprocessError, OSError, CompilerGymError) as error:
            row["failures"][str(version)] = explain_error(error)
    return row


def _document(rows: Sequence[dict[str, Any]], versions: Sequence[int]) -> dict[str, Any]:
    grown: list[dict[str, Any]] = []
    compared = 0
    totals = dict.fromkeys(map(str, versions), 0)
    for row in rows:
        sizes: dict[str, dict[str, int]] = row["sizes"]
        newest = sizes.get(str(versions[-1]), {})
        for name, size in newest.items():
            history = {v: by_name[name] for v, by_name in sizes.items() if name in by_name}
            if len(history) < 2:
                continue
            compared += 1
            if len(history) == len(versions):
                for version, bytes_of_code in history.items():
                    totals[version] += bytes_of_code
            if size - min(history.values()) >= _LEAST_BYTES:
                program, package = row["program"], row["package"]
                grown.append({"function": name, "program": program, "package": package,
                              "sizes": history, "grew": size - min(history.values())})  # fmt: skip
    grown.sort(key=lambda item: (-item["grew"], item["program"], item["function"]))
    failures = [
        {"program": row["program"], "version": version, "failure": reason}
        for row in rows
        for version, reason in row["failures"].items()
    ]
    return {
        "versions": list(versions),
        "programs": len(rows),
        "compared": compared,
        "totals": totals,
        "grown": grown,
        "failures": failures,
    }
