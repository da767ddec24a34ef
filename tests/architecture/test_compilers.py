# SPDX-License-Identifier: MIT
"""The core names no compiler and no compiler knows another; both gates can fail."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "compiler_gym"
COMPILERS = sorted(path.parent.name for path in (PACKAGE / "envs").glob("*/__init__.py"))
NEUTRAL = sorted(
    path
    for path in PACKAGE.rglob("*.py")
    if path.relative_to(PACKAGE).parts[0]
    in (
        "core",
        "registration.py",
        "rewards",
        "service",
        "session.py",
        "spaces",
        "tables.py",
        "validation",
    )
)


def named_in(source: str) -> set[str]:
    """Return the compilers that code names, in names and in text other than docstrings."""
    tree = ast.parse(source)
    words: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""  # a docstring may give an example
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words.append(node.value)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            words += [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
        elif isinstance(node, (ast.Name, ast.Attribute)):
            words.append(node.id if isinstance(node, ast.Name) else node.attr)
    text = " ".join(words).lower()
    return {compiler for compiler in COMPILERS if compiler in text}


def test_there_are_several_compilers() -> None:
    assert {"gcc", "llvm"} <= set(COMPILERS)


@pytest.mark.parametrize("path", NEUTRAL, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_core_names_no_compiler(path: Path) -> None:
    assert not named_in(path.read_text())


def test_a_compiler_that_is_named_is_seen() -> None:
    assert named_in('def f():\n    """For LLVM."""\n    return name == "gcc-v0"\n') == {"gcc"}
    assert named_in("from compiler_gym.envs.llvm import LlvmEnv\n") == {"llvm"}
    assert not named_in('"""As in gcc."""\nx = 1\n')


@pytest.mark.parametrize(
    ("file", "line", "contract"),
    [
        ("envs/gcc/actions.py", "import compiler_gym.envs.llvm", "No compiler knows another"),
        ("core/episode.py", "import compiler_gym.envs.gcc", "Nothing but the door"),
    ],
)
def test_an_import_that_names_a_compiler_is_found(
    file: str, line: str, contract: str, tmp_path: Path
) -> None:
    # Under another name, because the installed package would be found first.
    package = tmp_path / "renamed"
    for path in [*PACKAGE.rglob("*.py"), ROOT / "pyproject.toml"]:
        inside = path.is_relative_to(PACKAGE)
        copy = package / path.relative_to(PACKAGE) if inside else tmp_path / path.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        extra = f"\n{line}\n" if inside and str(path.relative_to(PACKAGE)) == file else ""
        copy.write_text((path.read_text() + extra).replace("compiler_gym", "renamed"))
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    broken = [row for row in done.stdout.splitlines() if "BROKEN" in row]
    assert done.returncode == 1, done.stdout + done.stderr
    assert any(contract in row for row in broken), done.stdout
