# SPDX-License-Identifier: MIT
"""A private function is named after what it does, so few names stand in more than one file."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2] / "src/compiler_gym"
MOST_FILES = 8
"""A name that more files than this define says too little about any of its functions."""
CEILING = 90
"""Names of private functions that several files define: this number may only be lowered."""


def files_by_function(sources: dict[str, str]) -> dict[str, set[str]]:
    """Return the files that define each private function at the top level."""
    found = defaultdict[str, set[str]](set)
    for path, text in sources.items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("_"):
                found[node.name].add(path)
    return {name: files for name, files in found.items() if name.strip("_")}


def shared_functions() -> dict[str, list[str]]:
    """Return the private functions of the library whose names stand in several files."""
    paths = sorted(ROOT.rglob("*.py"))
    sources = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in paths}
    found = files_by_function(sources)
    return {name: sorted(files) for name, files in found.items() if len(files) > 1}


def test_no_private_function_shares_its_name_with_many_files() -> None:
    shared = shared_functions()
    assert {name: files for name, files in shared.items() if len(files) > MOST_FILES} == {}


def test_names_of_private_functions_in_several_files_become_fewer() -> None:
    shared = shared_functions()
    assert len(shared) <= CEILING, f"found {len(shared)}, name new ones by what they do: {shared}"


def test_a_shared_name_is_found() -> None:
    sources = {"a.py": "def _show(): ...\ndef _rows(): ...\n", "b.py": "def _rows(): ...\n_x = 1\n"}
    assert files_by_function(sources) == {"_show": {"a.py"}, "_rows": {"a.py", "b.py"}}
