# SPDX-License-Identifier: MIT
"""A page of docs/api/ for every module that users import from, made from its docstrings.

These are the doors: packages and top-level modules with an ``__all__``, and the integrations,
of which each is its own door. Files behind a door are shown where the door gives their names on.
"""

import ast
import importlib
import inspect
import itertools
import re
import textwrap
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.ext.autodoc.mock import (
    mock,  # pyright: ignore[reportPrivateImportUsage]  # the documented place
)
from sphinx.util.inspect import stringify_signature

from docs.site import ROOT
from docs.site.pages import places
from scripts.sources import sources

__all__ = [
    "INSIDE",
    "doors",
    "for_users",
    "names",
    "setup",
    "signature_of",
    "undocumented",
    "write",
]

_IMPORTED = re.compile(r"^ *(?:from|import) (compiler_gym[\w.]*)", re.MULTILINE)
_FOR_USERS = re.compile(r"compiler_gym(\.(integrations\.\w+|envs(\.\w+)?)|_\w+)")
FOLDER = ROOT / "docs" / "api"
OWN_DOORS = ("integrations",)
"""Folders whose files are imported by users one by one."""
NOT_IMPORTED = ("cli", "programs")
"""Folders for which users have commands."""
INSIDE = "inside"
"""The page that lists the modules which no page for users imports."""
_USERS = (
    "The modules that programs import, and every name in them, from its docstring.",
    "Import a name from the module whose page shows it; files behind a module are its own.",
)
_CONTRIBUTORS = (
    "The library is built of these modules too: they may change with any release.",
    "What programs import is in the :doc:`API reference <index>`.",
)
ROOMS = ("actions", "state", "toolchain")
"""Folders of a compiler that its environment alone imports from."""


def doors() -> Iterator[tuple[str, Path]]:
    """Yield the name and the file of every module that users import from, in order."""
    for root, path in ((r, path) for r, f in sources().items() for path in sorted(f.rglob("*.py"))):
        parts = (root, *path.relative_to(sources()[root]).with_suffix("").parts)
        if any(part.startswith("_") and part != "__init__" for part in parts):
            continue
        is_core = root == "compiler_gym"
        if is_core and parts[1] in NOT_IMPORTED:
            continue
        if (not is_core or parts[1] == "envs") and {*parts} & {*ROOMS}:
            continue
        package = parts[-1] == "__init__"
        if (package or (is_core and len(parts) == 2) or parts[1] in OWN_DOORS) and names(path):
            yield ".".join(parts[:-1] if package else parts), path


@cache
def for_users() -> frozenset[str]:
    """Return the modules that the README, a guide, a tutorial or an example imports from.

    Integrations and the compilers' own modules are for users whoever imports them.
    """
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    for folder in ("docs/guide", "docs/tutorials", "examples", "agents"):
        pages += [one for one in (ROOT / folder).rglob("*") if one.suffix in (".md", ".py")]
    pages += places()
    used = _IMPORTED.findall("\n".join(one.read_text("utf-8") for one in pages))
    return frozenset([*used, *(name for name, _ in doors() if _FOR_USERS.fullmatch(name))])


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
    used = for_users()
    pages["index.rst"] = _index("API reference", _USERS, [(n, p) for n, p in doors() if n in used])
    others = [(name, path) for name, path in doors() if name not in used]
    pages[f"{INSIDE}.rst"] = _index("Modules inside", _CONTRIBUTORS, others)
    for old in folder.glob("*.rst"):
        if old.name not in pages:
            old.unlink()
    for name, text in pages.items():
        page = folder / name
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            page.write_text(text, encoding="utf-8")


def undocumented(module: str, path: Path) -> Iterator[str]:
    """Yield the public names of a door, and of its classes, that nothing is said of.

    Tests of public suites say in their names what they check.
    """
    loaded = importlib.import_module(module)
    for name in names(path):
        found = getattr(loaded, name)
        if inspect.isclass(found):
            own = [key for key in vars(found) if not key.startswith(("_", "test_"))]
            members = [key for key in own if _is_code(vars(found)[key])]
            if not (found.__doc__ or "").strip():
                yield f"{module}.{name}"
            yield from (
                f"{module}.{name}.{key}"
                for key in members
                if not inspect.getdoc(getattr(found, key))
            )
        elif inspect.isroutine(found):
            if not (found.__doc__ or "").strip():
                yield f"{module}.{name}"
        elif not inspect.ismodule(found) and not _text_below(name, path):
            yield f"{module}.{name}"


def _is_code(found: object) -> bool:
    found = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
    return inspect.isfunction(found)


def _index(title: str, about: Sequence[str], modules: Sequence[tuple[str, Path]]) -> str:
    lines = [title, "=" * len(title), "", *about, ""]
    lines += [".. list-table::", "   :header-rows: 1", ""]
    lines += ["   * - module", "     - what it is for"]
    for name, path in modules:
        first = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n\n")
        lines += [f"   * - :doc:`{name}`", f"     - {' '.join(first[0].split())}"]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {name}" for name, _ in modules), ""]
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
                if (one.asname or one.name) == name and node.module.split(".")[0] in sources():
                    root, *below = node.module.split(".")
                    stem = sources()[root].joinpath(*below)
                    file = stem / "__init__.py" if stem.is_dir() else stem.with_suffix(".py")
                    return _text_below(one.name, file)
    for node, after in itertools.pairwise(body):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        if isinstance(target, ast.Name) and target.id == name and isinstance(after, ast.Expr):
            text = getattr(after.value, "value", None)
            return inspect.cleandoc(text) if isinstance(text, str) else ""
    return ""


def signature_of(found: type[Any]) -> str | None:
    """Return the arguments of a class whose ``__new__`` only passes them on to ``__init__``."""
    new = inspect.getattr_static(found, "__new__", None)
    made = getattr(new, "__func__", None)
    if made is None or list(inspect.signature(made).parameters) != ["cls", "args", "kwargs"]:
        return None
    return stringify_signature(
        inspect.signature(found.__init__).replace(return_annotation=inspect.Signature.empty),
        unqualified_typehints=True,
    ).replace("(self, ", "(", 1)


def _signature(
    _app: Any, what: str, _name: str, found: Any, _options: Any, shown: str | None, _returns: Any
) -> tuple[str | None, None] | None:
    if what == "class" and shown and (text := signature_of(found)):
        return text, None
    return None


def _bases(_app: Any, _name: str, found: Any, _options: Any, bases: list[Any]) -> None:
    """Show public classes in the place of private ones between them and `found`."""
    for base in [one for one in bases if getattr(one, "__name__", "").startswith("_")]:
        public = (one for one in base.__mro__[1:] if not one.__name__.startswith("_"))
        other = next(public, object)
        at = bases.index(base)
        bases[at : at + 1] = [] if other in bases or other is object else [other]
    if not bases:
        bases.append(object)


def _write(app: Any) -> None:
    with mock(app.config.autodoc_mock_imports):  # of what a build of the site does not install
        write()


def setup(app: Any) -> dict[str, bool]:
    """Write the pages before Sphinx looks for them."""
    app.connect("builder-inited", _write)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-bases", _bases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
