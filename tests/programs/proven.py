# SPDX-License-Identifier: MIT
"""Which bundled programs passed their tests as they are: nothing of them need be built again.

A program's digest covers its folder, what programs share, its tests and the compiler. Where
it is the recorded one the program's tests are slow ones, for `make test-all`; where anything
changed they run in every suite. ``python -m tests.programs.proven`` runs them all and writes
the record anew if they pass.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
RECORD = Path(__file__).with_name("proven.json")
SHARED_TESTS = ("__init__.py", "conftest.py", "test_all.py", "../loading.py")


def names(root: Path = ROOT) -> list[str]:
    """Return the bundled programs."""
    return sorted(path.parent.name for path in (root / "programs").glob("*/program.toml"))


def test_file(name: str) -> str:
    """Return the name of the file with the tests of program `name` alone."""
    return f"test_{'tiff' if name.startswith('tiff') else name.replace('-', '_')}.py"


def compiler() -> str:
    """Return what the compiler says of itself; nothing where there is none."""
    try:
        done = subprocess.run(["clang-22", "--version"], capture_output=True, text=True)
    except OSError:
        return ""
    return "\n".join(done.stdout.splitlines()[:2])


def digest(name: str, *, by: str, root: Path = ROOT) -> str:
    """Return what stands for program `name` with its tests, built `by` a compiler."""
    found = hashlib.sha256(by.encode())
    for path in sorted(_files(name, root)):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"\n{path.relative_to(root)} {content}".encode())
    return found.hexdigest()


def _files(name: str, root: Path) -> Iterator[Path]:
    programs, tests = root / "programs", root / "tests" / "programs"
    for folder in (programs / name, *programs.glob("_*/")):
        yield from (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    yield from programs.glob("*.py")
    yield from ((tests / file).resolve() for file in (*SHARED_TESTS, test_file(name)))


def unchanged() -> set[str]:
    """Return the programs that are as they were when their tests passed."""
    record, by = json.loads(RECORD.read_text()), compiler()
    return {name for name in names() if record.get(name) == digest(name, by=by)}


def write(record: Iterable[tuple[str, str]]) -> None:
    """Write which digest each program had when its tests passed."""
    RECORD.write_text(json.dumps(dict(record), indent=2) + "\n")


def main() -> int:
    """Run the tests of every program, and record the programs if they pass."""
    write(())
    before = [(name, digest(name, by=compiler())) for name in names()]
    command = [sys.executable, "-m", "pytest", "-n", "2", "-q", str(RECORD.parent), *sys.argv[1:]]
    status = subprocess.run(command, cwd=ROOT).returncode
    if status == 0:
        write(before)
    return status


if __name__ == "__main__":
    sys.exit(main())
