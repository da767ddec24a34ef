# SPDX-License-Identifier: MIT
"""Names that are imported on first use.

A package's ``__init__`` lists its public names without importing their modules, and a compiler
names its parts as ``"package.module:name"``, so that listing compilers does not load them.
"""

import gc
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, cast

if TYPE_CHECKING:
    from importlib.abc import FileLoader

__all__ = [
    "door",
    "load_from_file",
    "load_named",
    "missing_parts",
    "part",
    "parts",
    "pause_collection",
]

_PACKAGE = "compiler_gym"
_TYPES_ONLY = r"(?m)^if TYPE_CHECKING:\n((?: {4}.*)?\n)*"
_IMPORT = r"(?m)^ {4}from (?P<module>\S+) import (?P<names>\([^)]*\)|.+)$"


def door(package: str, where: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of `package`, which imports public names on first use.

    These are the names that its source imports under ``if TYPE_CHECKING:``, so that each is
    written only once, and those in `where`, which maps names to modules. A fetched name is
    stored in the package. Submodules are fetched too, so that ``package.module.name`` works
    without another import.
    """

    @cache
    def modules() -> dict[str, str]:
        return _read_imports(package) | dict(where or {})

    def fetch(name: str) -> Any:
        if name in modules():
            value = getattr(importlib.import_module(modules()[name]), name)
            setattr(sys.modules[package], name, value)
            return value
        if (module := _import_submodule(package, name)) is not None:
            return module
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return fetch


def _read_imports(package: str) -> dict[str, str]:
    """Return the module of each public name that the source of `package` imports for types."""
    module = sys.modules[package]
    public = vars(module).get("__all__", ())
    spec = module.__spec__
    if not public or spec is None or spec.origin is None:
        return {}
    source = cast("FileLoader", spec.loader).get_data(spec.origin).decode()
    block = re.search(_TYPES_ONLY, source)
    return {
        name: match["module"]
        for match in re.finditer(_IMPORT, block[0] if block else "")
        for name in re.findall(r"\w+", match["names"])
        if name in public
    }


def _import_submodule(package: str, name: str) -> ModuleType | None:
    path = f"{package}.{name}"
    is_package = "__path__" in vars(sys.modules[package])
    if is_package and not name.startswith("_") and importlib.util.find_spec(path):
        return importlib.import_module(path)
    return None


def load_named(path: str) -> Any:
    """Return the object that ``"package.module:name"`` refers to, or the module without a name.

    >>> load_named("math:floor")(2.5)
    2
    """
    module, _, name = path.partition(":")
    value: Any = importlib.import_module(module)
    return getattr(value, name) if name else value


@contextmanager
def pause_collection() -> Generator[None]:
    """Switch the collector off in the ``with`` block, and restore it afterwards."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def load_from_file(path: Path, name: str) -> Any:
    """Run a Python file and return the object `name` in it.

    Raises `FileNotFoundError` if the file does not exist, `AttributeError` if it does not have
    the name, and the file's own exceptions.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"there is no Python file {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # so that its classes can be pickled
    spec.loader.exec_module(module)
    return getattr(module, name)


class Part(NamedTuple):
    """An entry point: a name for ``"package.module:name"`` in a group."""

    name: str
    value: str
    group: str

    def load(self) -> Any:
        """Return what the entry point names."""
        return load_named(self.value)


@cache
def parts(kind: str) -> Mapping[str, Part]:
    """Return the entry points of the group ``compiler_gym.KIND`` by name, to be loaded on use.

    Tools use such groups to find parts that compilers provide, and the core to find parts of
    tools. Parts of this library come first, and cannot be replaced; those of its packages that
    are missing (`missing_parts`) are left out.
    """
    entries: dict[str, Part] = {}
    for entry in _entry_points(kind):
        if not _is_missing(entry):
            entries.setdefault(entry.name, entry)
    return entries


def missing_parts(kind: str) -> dict[str, str]:
    """Return the package of each part of the group ``compiler_gym.KIND`` that is not there.

    An installation without the folder of a package, such as ``compiler_gym_gcc``, works without
    the part.
    """
    return {entry.name: _root(entry) for entry in _entry_points(kind) if _is_missing(entry)}


@cache
def _entry_points(kind: str) -> list[Part]:
    """Return the entry points of a group: ours, then those of our packages, then the others."""

    def order(entry: Part) -> tuple[bool, bool, str]:
        root = _root(entry)
        return root != _PACKAGE, not root.startswith(f"{_PACKAGE}_"), entry.name

    return sorted((e for e in _all_entry_points() if e.group == f"{_PACKAGE}.{kind}"), key=order)


@cache
def _all_entry_points() -> list[Part]:
    """Return the entry points of our groups: of the first distribution of each name.

    They are those that ``importlib.metadata`` finds in folders. To import that module, with the
    parser of e-mail, would take a third of the time of ``compiler-gym --help``.
    """
    tables: dict[str, list[Part]] = {}
    for folder in sys.path:
        for path in sorted(Path(folder).glob("*-info/entry_points.txt")):
            name = re.split(r"-\d|\.egg-info", path.parent.name)[0]
            tables.setdefault(re.sub(r"[-_.]+", "-", name).lower(), _read_table(path))
    return [entry for table in tables.values() for entry in table]


def _read_table(path: Path) -> list[Part]:
    group, entries = "", list[Part]()
    for line in map(str.strip, path.read_text(encoding="utf-8").splitlines()):
        name, is_entry, value = line.partition("=")
        if line.startswith("["):
            group = line.strip("[]")
        elif is_entry and group.startswith(f"{_PACKAGE}."):
            entries.append(Part(name.strip(), value.strip(), group))
    return entries


def _root(entry: Part) -> str:
    return re.split("[.:]", entry.value, maxsplit=1)[0]


def _is_missing(entry: Part) -> bool:
    root = _root(entry)
    return root.startswith(f"{_PACKAGE}_") and not _is_installed(root)


@cache
def _is_installed(root: str) -> bool:
    return importlib.util.find_spec(root) is not None


def part(kind: str, compiler: str | None = None) -> Any:
    """Load and return the entry of the group ``compiler_gym.KIND`` for `compiler`.

    None selects the only compiler with an entry. Raises `UnknownNameError` with the choices.
    """
    from compiler_gym.errors import UnknownNameError, unknown_name

    entries, group = parts(kind), f"the entry-point group compiler_gym.{kind}"
    if compiler is None and len(entries) != 1:
        choice = " or ".join(entries) or "install one"
        raise UnknownNameError(f"{group} has {len(entries)} compilers, so choose one: {choice}")
    name = next(iter(entries)) if compiler is None else compiler
    if name not in entries:
        raise UnknownNameError(unknown_name("compiler", name, entries, where=group))
    return entries[name].load()
