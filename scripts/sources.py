# SPDX-License-Identifier: MIT
"""The folders of source: the core, and the packages next door under their import names."""

from pathlib import Path

__all__ = ["CORE", "PACKAGES", "ROOT", "find_tests", "module_name", "sources"]

ROOT = Path(__file__).parents[1]
CORE = ROOT / "src" / "compiler_gym"
PACKAGES = {path.name: path for path in sorted(ROOT.glob("packages/*/src/compiler_gym_*"))}
"""The folder of each package by its import name."""


def sources() -> dict[str, Path]:
    """Return the folder of the core and of each package by its import name."""
    return {CORE.name: CORE, **PACKAGES}


def module_name(path: Path) -> str:
    """Return the name under which the source file `path` is imported, or an empty text."""
    for root, folder in sources().items():
        if path.is_relative_to(folder):
            parts = (root, *path.relative_to(folder).with_suffix("").parts)
            return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return ""


def find_tests(name: str) -> Path:
    """Return the folder that mirrors the source `name` with its tests."""
    if name == CORE.name:
        return ROOT / "tests"
    return PACKAGES[name].parents[1] / "tests" / name.replace(CORE.name, "test")
