# SPDX-License-Identifier: MIT
"""A folder of built packages, as `compiler-gym datasets build` leaves it, without building any.

A program here is a JSON list of pairs: the shape of a function and its size.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from compiler_gym.datasets import FunctionShape
from compiler_gym_corpus.packages import (
    BuildOutcome,
    BuiltModule,
    LinkedProgram,
    PackageResult,
    write_result,
)

Functions = Sequence[tuple[int, int]]


def text_of(functions: Functions, name: str = "") -> bytes:
    return json.dumps([name, list(functions)]).encode()


def shapes(paths: Sequence[Path]) -> list[list[FunctionShape]]:
    found: list[list[FunctionShape]] = []
    for path in paths:
        _, functions = json.loads(path.read_bytes())
        found.append([FunctionShape(*function) for function in functions])
    return found


def write_package(
    folder: Path,
    package: str,
    modules: Mapping[str, bytes],
    *,
    programs: Mapping[str, tuple[bytes, Sequence[str]]] | None = None,
    version: str = "1.0",
    license: str = "MIT",
    **facts: Any,
) -> PackageResult:
    """Write a package whose modules are `modules`; a program names the files that it has."""
    place = folder / "packages" / f"{package}_{version}"
    digests = {file: _kept(place / "modules", contents) for file, contents in modules.items()}
    built = tuple(
        BuiltModule(
            sha256=digests[file],
            size=len(contents),
            file=file,
            command=("cc", "-c", file),
            language="c",
            license=license,
            instructions=100,
            functions=2,
        )
        for file, contents in modules.items()
    )
    linked = tuple(
        LinkedProgram(
            name=name,
            sha256=_kept(place / "programs", contents),
            size=len(contents),
            instructions=200,
            functions=4,
            modules=tuple(digests[file] for file in files),
            libraries=("-lm",),
        )
        for name, (contents, files) in (programs or {}).items()
    )
    fields: dict[str, Any] = {
        "source_sha256": hashlib.sha256(package.encode()).hexdigest(),
        "license": license,
        "outcome": BuildOutcome.BUILT,
        "modules": built,
        "programs": linked,
    }
    result = PackageResult(package=package, version=version, **(fields | facts))
    write_result(place, result)
    return result


def _kept(folder: Path, contents: bytes) -> str:
    digest = hashlib.sha256(contents).hexdigest()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{digest}.bc").write_bytes(contents)
    return digest
