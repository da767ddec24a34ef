# SPDX-License-Identifier: MIT
"""The tutorials: texts that run (``NAME.py``) and their results (``results/NAME.ipynb``).

The results are committed, so building the site needs neither a compiler nor PyTorch.
``python -m docs.tutorials [NAME ...]`` creates them again, which takes minutes.
"""

import ast
import hashlib
import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compiler_gym.version import install_hint

__all__ = ["FOLDER", "NAMES", "OWN", "belonging", "install_line", "results", "text"]

FOLDER = Path(__file__).parent
NAMES = (
    "first_steps",
    "look_into_a_program",
    "search_beats_oz",
    "train_ppo",
    "graph_network",
    "wrapper_and_reward",
    "miscompile",
    "add_a_compiler",
)
"""Tutorials in reading order."""
_LEARNING = ("train_ppo", "graph_network")
OWN = "compiler_gym"
"""Key of a notebook's metadata that stores the digests of its text and its interface."""


def install_line(name: str) -> str:
    """Return the first line of a notebook, which installs the library."""
    extras = "plot,rl" if name in _LEARNING else "plot"
    return f"%pip install --quiet {install_hint(extras).removeprefix('pip install ')}"


def text(name: str) -> str:
    """Return the text of a tutorial."""
    return (FOLDER / f"{name}.py").read_text(encoding="utf-8")


def results(name: str) -> Path:
    """Return the path of a tutorial's results, a notebook."""
    return FOLDER / "results" / f"{name}.ipynb"


def belonging(written: str) -> dict[str, str]:
    """Return the digests that results must match: of the text, and of the signatures it uses.

    The lines above the first cell are for tools and do not count.
    """
    written = written[written.find("# %%") :]
    used = "\n".join(sorted(_used(written)))
    return {"text": _digest(written), "api": _digest(used)}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _used(written: str) -> Iterator[str]:
    """Yield each public name of the package that a text imports, with its signature."""
    yield from _described("compiler_gym", "CompilerEnv")
    for node in ast.walk(ast.parse(written)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("compiler_gym"):
            for one in node.names:
                yield from _described(str(node.module), one.name)
        owner = node.value if isinstance(node, ast.Attribute) else None
        if isinstance(owner, ast.Name) and owner.id == "compiler_gym":
            assert isinstance(node, ast.Attribute)
            yield from _described("compiler_gym", node.attr)


def _described(module: str, name: str) -> Iterator[str]:
    found: Any = getattr(importlib.import_module(module), name)
    yield f"{module}.{name}{_signature(found)}"
    if inspect.isclass(found):
        for method, function in inspect.getmembers(found, inspect.isfunction):
            if not method.startswith("_"):
                yield f"{module}.{name}.{method}{_signature(function)}"


def _signature(found: Any) -> str:
    """Return the names of the parameters, which do not depend on the version of Python."""
    try:
        return str(tuple(inspect.signature(found).parameters))
    except (TypeError, ValueError):
        return ""
