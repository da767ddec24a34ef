# SPDX-License-Identifier: MIT
"""The glossary of the code names classes that are there, and few words name several classes."""

import ast
import re
from collections import defaultdict
from pathlib import Path

from compiler_gym.lazy import load_named

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
SHARED = 5
"""How many names several public classes have: lower it with each that gets a word of its own.

Left out are those that every compiler has for the same thing, and the records that the explorer
sends, whose names are those of what they describe.
"""


def test_the_glossary_names_classes_of_the_code() -> None:
    text = (ROOT / "docs" / "glossary-code.md").read_text(encoding="utf-8")
    paths = re.findall(r"`(compiler_gym\.[\w.]+)\.(\w+)`", text)
    assert len(paths) > 20
    for module, name in paths:
        found = load_named(f"{module}:{name}")
        assert isinstance(found, type), f"{module}.{name}"
        assert found.__module__ == module


def test_few_words_name_several_classes() -> None:
    places = defaultdict[str, set[str]](set)
    for path in (SRC / "compiler_gym").rglob("*.py"):
        parts = path.relative_to(SRC).parts
        if parts[:3] == ("compiler_gym", "programs") or parts[-2:] == ("explorer", "records.py"):
            continue
        # One word for the same thing in every compiler.
        place = "a compiler" if {"llvm", "gcc", "mlir", "loop_tool"} & set(parts) else str(path)
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].add(place)
    shared = sorted(name for name, found in places.items() if len(found) > 1)
    assert len(shared) <= SHARED, shared
    assert len(shared) > SHARED - 5, f"lower SHARED: {len(shared)}"
