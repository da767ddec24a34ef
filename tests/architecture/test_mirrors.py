# SPDX-License-Identifier: MIT
"""Tests mirror the path of what they test, so that whoever opens a module finds its tests."""

from collections.abc import Iterator
from pathlib import Path

from scripts.sources import find_tests, sources

WITHOUT: dict[str, str] = {
    "version.py": "one constant",
}
"""Modules without a test file of their own, each with the reason; this list only shrinks."""


def modules(package: Path) -> Iterator[Path]:
    """Yield every module below `package` that is no folder's door."""
    for path in sorted(package.rglob("*.py")):
        if not path.stem.startswith("__"):
            yield path.relative_to(package)


def mirror(module: Path) -> Path:
    """Return where the tests of `module` belong."""
    return module.with_name(f"test_{module.stem.removeprefix('_')}.py")


def unmirrored(package: Path, tests: Path) -> set[str]:
    """Return the modules below `package` without a file of their own below `tests`."""
    return {
        module.as_posix() for module in modules(package) if not (tests / mirror(module)).is_file()
    }


def test_every_module_has_its_tests_at_the_mirrored_path() -> None:
    found = set[str]().union(
        *(unmirrored(folder, find_tests(name)) for name, folder in sources().items())
    )
    assert found - set(WITHOUT) == set(), "a new module needs a test file of its own"
    assert set(WITHOUT) - found == set(), "these have tests now, or are gone: shorten the list"


def test_a_module_without_tests_is_seen(tmp_path: Path) -> None:
    package, tests = tmp_path / "house", tmp_path / "tests"
    (package / "room").mkdir(parents=True)
    (tests / "room").mkdir(parents=True)
    for name in ("__init__.py", "roof.py", "room/__main__.py", "room/_bed.py", "room/lamp.py"):
        (package / name).touch()
    for name in ("test_roof.py", "room/test_bed.py"):
        (tests / name).touch()
    assert unmirrored(package, tests) == {"room/lamp.py"}
