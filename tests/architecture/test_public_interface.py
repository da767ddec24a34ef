# SPDX-License-Identifier: MIT
"""Tools use what the kernel's packages export; the list of exceptions may only shrink."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "src" / "compiler_gym" / "tools"
LIST = Path(__file__).with_name("bypassing.txt")


def is_door(module: str) -> bool:
    """Return whether tools may import from a module: a package, or a file of the kit."""
    parts = module.split(".")[1:]
    if parts[:1] == ["tools"]:
        return True
    most = 3 if parts[:2] == ["cli", "kit"] else 2 if parts[:1] == ["envs"] else 1
    return len(parts) <= most


def bypassing() -> set[str]:
    """Return what tools import past a package's door, as ``module name``."""
    found: set[str] = set()
    for path in TOOLS.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("compiler_gym."):
                module = node.module or ""
                found |= {f"{module} {each.name}" for each in node.names if not is_door(module)}
    return found


def test_what_tools_import_past_a_door_only_gets_less() -> None:
    known = set(LIST.read_text(encoding="utf-8").splitlines())
    new, gone = sorted(bypassing() - known), sorted(known - bypassing())
    assert new == [], "export it from its package, or use what the package exports"
    assert gone == [], f"remove these lines from {LIST.name}"
