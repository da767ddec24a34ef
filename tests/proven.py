# SPDX-License-Identifier: MIT
"""The parts of the repository that are unchanged since their tests passed: `make test` omits them.

A part is a package next door, a page, a bundled program, or a folder of tools. Its digest covers
its own files, its tests, and the source files (doors) that it imports or names. While the digest
equals the recorded one, the part's tests count as slow, and `make test-all` runs them. That, or
`make test FILE=...`, also finds a part that a change to code without a door has broken.

    python -m tests.proven [PART ...]

runs the tests of the parts (without names: of those that changed), and records them if they pass.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from docs.shown import EVERY_PAGE
from scripts.affected import BLOCKS, list_modules
from scripts.sources import CORE, PACKAGES, ROOT, sources

RECORD = Path(__file__).with_suffix(".json")
FOLDERS = ("benchmarks", "scripts")
"""Folders of tools that are not installed."""
_SHARED_BY_PROGRAMS = ("__init__.py", "conftest.py", "test_all.py", "../loading.py")
_IMPORT = re.compile(rb"^\s*(?:from|import) ((?:compiler_gym|docs|scripts|tests)[\w.]*)", re.M)
_KNOWN = "TEST_UNCHANGED"
_NOT_READ = {"__pycache__", "node_modules"}


def programs(root: Path = ROOT) -> list[str]:
    """Return the names of the bundled programs."""
    return sorted(path.parent.name for path in (root / "programs").glob("*/program.toml"))


@cache
def parts() -> frozenset[str]:
    """Return every part: paths of folders and pages, relative to the repository."""
    folders = [*(f"programs/{name}" for name in programs()), *FOLDERS]
    packages = (path.parents[1] for path in PACKAGES.values())
    return frozenset([*folders, *(_name(path) for path in (*packages, *EVERY_PAGE))])


def test_file(program: str) -> str:
    """Return the name of the file with the tests of one program alone."""
    return f"test_{'tiff' if program.startswith('tiff') else program.replace('-', '_')}.py"


def owners(test: str) -> set[str]:
    """Return the parts that must all be proven before the test with this node id is omitted."""
    file, _, case = test.partition("::")
    chosen = re.search(r"\[([^]]*)\]$", case)
    given = chosen[1] if chosen else ""
    if test.startswith(BLOCKS):
        return {given}
    top, folder, *_ = (*Path(file).parts, "")
    if top == "packages":
        return {f"packages/{folder}"}
    if folder == "programs":
        named = {given} & set(programs()) or {
            name for name in programs() if test_file(name) == Path(file).name
        }
        return {f"programs/{name}" for name in named}
    return {folder} & set(FOLDERS)


@cache
def compiler() -> str:
    """Return the compiler's version, or an empty text if it is missing."""
    try:
        done = subprocess.run(["clang-22", "--version"], capture_output=True, text=True)
    except OSError:
        return ""
    return "\n".join(done.stdout.splitlines()[:2])


def digest(part: str, root: Path = ROOT) -> str:
    """Return the digest of all that `part` is tested with."""
    found = hashlib.sha256(compiler().encode() if part.startswith("programs/") else b"")
    for path in sorted(files(part, root)):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"\n{path.relative_to(root).as_posix()} {content}".encode())
    return found.hexdigest()


def files(part: str, root: Path = ROOT) -> set[Path]:
    """Return the files that `part` is tested with."""
    return set(_files(part, root))


def _files(part: str, root: Path) -> Iterator[Path]:
    path, tests = root / part, root / "tests"
    if path.suffix == ".md":
        yield path
        yield from _used_by(path)
    elif part.startswith("programs/"):
        for folder in (path, *path.parent.glob("_*/")):
            yield from _below(folder)
        yield from path.parent.glob("*.py")
        for file in (*_SHARED_BY_PROGRAMS, test_file(path.name)):
            yield (tests / "programs" / file).resolve()
    else:
        own = [*_below(path), *(_below(tests / part) if part in FOLDERS else ())]
        for file in own:
            if file.suffix != ".md":
                yield file
            if file.suffix == ".py":
                for name in _IMPORT.findall(file.read_bytes()):
                    yield from _source(name.decode(), root)


def _below(folder: Path) -> tuple[Path, ...]:
    return tuple(
        path
        for path in folder.rglob("*")
        if path.is_file() and not _NOT_READ.intersection(path.parts)
    )


def _used_by(page: Path) -> Iterator[Path]:
    """Find the sources of what the code of a page uses: of a tool or a package all of it."""
    for name in list_modules(page):
        for file in _source(name, ROOT):
            around = [folder for folder in _tools() if folder in file.parents]
            yield from _below(around[0]) if around else (file,)


@cache
def _tools() -> tuple[Path, ...]:
    """Return the folders that own pages: packages, and tools of the core."""
    return (*PACKAGES.values(), *(path for path in (CORE / "tools").iterdir() if path.is_dir()))


def _source(name: str, root: Path) -> Iterator[Path]:
    """Find the file of the module `name`, or of the module that has an attribute of this name."""
    top, *rest = name.split(".")
    folder = sources().get(top, root / top)
    while True:
        at = folder.joinpath(*rest)
        found = [file for file in (at.with_suffix(".py"), at / "__init__.py") if file.is_file()]
        if found or not rest:
            yield from found
            return
        rest.pop()


@cache
def unchanged() -> frozenset[str]:
    """Return the parts that are as they were when their tests passed."""
    if _KNOWN not in os.environ:  # the other processes of a test run read it
        record = json.loads(RECORD.read_text())
        found = (part for part in parts() & record.keys() if record[part] == digest(part))
        os.environ[_KNOWN] = "\n".join(found)
    return frozenset(os.environ[_KNOWN].split("\n")) & parts()


def omit(tests: Iterable[pytest.Item]) -> None:
    """Mark the tests of unchanged parts as slow."""
    for test in tests:
        of = owners(test.nodeid)
        if of and of <= unchanged():
            test.add_marker(pytest.mark.slow)


def record(passed: Iterable[tuple[str, str]]) -> None:
    """Add the digests that parts had when their tests passed; forget parts that are gone."""
    known = {**json.loads(RECORD.read_text()), **dict(passed)}
    kept = {part: known[part] for part in sorted(parts() & known.keys())}
    RECORD.write_text(json.dumps(kept, indent=2) + "\n")


def _tests(part: str) -> list[str]:
    path = ROOT / part
    if path.suffix == ".md":
        return [f"{BLOCKS}[{part}]"]
    if part.startswith("programs/"):
        own = ROOT / "tests" / "programs" / test_file(path.name)
        return [*([_name(own)] if own.is_file() else []), "tests/programs/test_all.py"]
    return [f"tests/{part}" if part in FOLDERS else f"{part}/tests"]


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def main() -> int:
    """Run the tests of parts, and record the parts if all pass."""
    chosen = sorted(sys.argv[1:] or parts() - unchanged())
    if wrong := set(chosen) - parts():
        raise SystemExit(f"no such part: {' '.join(sorted(wrong))}; an example is packages/gcc")
    before = [(part, digest(part)) for part in chosen]
    tests = sorted({test for part in chosen for test in _tests(part)})
    command = [sys.executable, "-m", "pytest", "-n", "3", "--dist", "worksteal", "-q"]
    status = (
        subprocess.run([*command, "-m", "not slow", *tests], cwd=ROOT).returncode if tests else 0
    )
    if status == 0:
        record(before)
    return status


if __name__ == "__main__":
    sys.exit(main())
