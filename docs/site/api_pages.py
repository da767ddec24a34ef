# SPDX-License-Identifier: MIT
"""A page of docs/api/ for every module that users import from, made from its docstrings.

These are the doors: packages and top-level modules with an ``__all__``, and the integrations,
of which each is its own door. Files behind a door are shown where the door gives their names on.
"""

import ast
import importlib
import inspect
import itertools
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.site import ROOT

__all__ = ["doors", "names", "setup", "write"]

SOURCE = ROOT / "src"
FOLDER = ROOT / "docs" / "api"
PACKAGE = "compiler_gym"
OWN_DOORS = ("integrations",)
"""Folders whose files are imported by users one by one."""
NOT_IMPORTED = ("cli", "programs")
"""Folders for which users have commands."""


def doors() -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of every module that users import from, in order."""
    for path in sorted((SOURCE / PACKAGE).rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if any(part.startswith("_") and part != "__init__" for part in parts):
            continue
        if parts[1] in NOT_IMPORTED:
            continue
        package = parts[-1] == "__init__"
        if (package or len(parts) == 2 or parts[1] in OWN_DOORS) and names(path):
            yield ".".join(parts[:-1] if package else parts), path


def names(path: Path) -> list[str]:
    """Return the ``__all__`` of a file, or nothing."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if any(isinstance(one, ast.Name) and one.id == "__all__" for one in targets):
            assert isinstance(node, ast.Assign)
            return list(ast.literal_eval(node.value))
    return []


def write(folder: Path = FOLDER) -> None:
    """Write the pages, and leave alone those that say what they should."""
    folder.mkdir(exist_ok=True)
    homes: dict[int, str] = {}
    pages = {f"{name}.rst": _page(name, path, homes) for name, path in doors()}
    pages["index.rst"] = _index(dict(doors()))
    for old in folder.glob("*.rst"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        page = folder / name
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def _index(modules: dict[str, Path]) -> str:
    lines = [
        "API reference",
        "=============",
        "",
        "Every public name, from its docstring.",
        "Import a name from the module whose page shows it; files behind a module are its own.",
        "",
        ".. list-table::",
        "   :header-rows: 1",
        "",
        "   * - module",
        "     - what it is for",
    ]
    for name, path in modules.items():
        first = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")
        lines += [f"   * - :doc:`{name}`", f"     - {' '.join(first[0].split())}"]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name in modules), ""]
    return "\n".join(lines)


def _page(module: str, path: Path, homes: dict[int, str]) -> str:
    lines = [module, "=" * len(module), "", f".. automodule:: {module}", "   :no-members:", ""]
    loaded = importlib.import_module(module)
    for name in sorted(names(path)):
        found = getattr(loaded, name)
        home = homes.setdefault(id(found), f"{module}.{name}")
        elsewhere = home != f"{module}.{name}" and (inspect.isclass(found) or callable(found))
        shown = [f"See `{home}`."] if elsewhere else _directive(module, name, found, path)
        lines += [name, "-" * len(name), "", *shown, ""]
    return "\n".join(lines)


def _directive(module: str, name: str, found: object, path: Path) -> list[str]:
    if inspect.isclass(found):
        kind = "exception" if issubclass(found, BaseException) else "class"
        return [f".. auto{kind}:: {module}.{name}"]
    if inspect.isroutine(found):
        return [f".. autofunction:: {module}.{name}"]
    if inspect.ismodule(found):
        return [f".. py:data:: {module}.{name}", "", f"   The module ``{found.__name__}``."]
    text = textwrap.indent(_text_below(name, path), "   ")
    return [f".. py:data:: {module}.{name}", f"   :type: {type(found).__name__}", "", text]


def _text_below(name: str, path: Path) -> str:
    """Return the string below the assignment of `name`, in the file that it comes from."""
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for node in ast.walk(ast.Module(body, [])):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                if (one.asname or one.name) == name and node.module.startswith(PACKAGE):
                    stem = SOURCE.joinpath(*node.module.split("."))
                    file = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
                    return _text_below(one.name, file)
    for node, after in itertools.pairwise(body):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == name and isinstance(after, ast.Expr):
            text = getattr(after.value, "value", None)
            return inspect.cleandoc(text) if isinstance(text, str) else ""
    return ""


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("builder-inited", lambda _: write())
    return {"parallel_read_safe": True, "parallel_write_safe": True}
