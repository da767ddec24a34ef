# SPDX-License-Identifier: MIT
"""Names that are imported on first use.

A package's ``__init__`` lists its public names without importing their modules, and a compiler
refers to its parts as ``"package.module:name"``, so that listing compilers loads none.
"""

import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from importlib.abc import FileLoader
    from importlib.metadata import EntryPoint

__all__ = ["door", "load_from_file", "load_named", "part", "parts"]

_TYPES_ONLY = r"(?m)^if TYPE_CHECKING:\n((?: {4}.*)?\n)*"
_IMPORT = r"(?m)^ {4}from (?P<module>\S+) import (?P<names>\([^)]*\)|.+)$"


def door(package: str, where: Mapping[str, str] | None = None) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of `package`, which imports public names on first use.

    These are the names that its source imports under ``if TYPE_CHECKING:``, so that each is
    written once, and those of `where`, by their modules. A name is fetched once; after that the
    package holds it. The package's own modules are fetched too, so that ``package.module.name``
    needs no import of its own.
    """

    @cache
    def modules() -> dict[str, str]:
        return _read_imports(package) | dict(where or {})

    def fetch(name: str) -> Any:
        if name in modules():
            found = getattr(importlib.import_module(modules()[name]), name)
            setattr(sys.modules[package], name, found)
            return found
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
        name: found["module"]
        for found in re.finditer(_IMPORT, block[0] if block else "")
        for name in re.findall(r"\w+", found["names"])
        if name in public
    }


def _import_submodule(package: str, name: str) -> ModuleType | None:
    path = f"{package}.{name}"
    is_package = "__path__" in vars(sys.modules[package])
    if is_package and not name.startswith("_") and importlib.util.find_spec(path):
        return importlib.import_module(path)
    return None


def load_named(path: str) -> Any:
    """Return the object that ``"package.module:name"`` refers to.

    >>> named("math:floor")(2.5)
    2
    """
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def load_from_file(path: Path, name: str) -> Any:
    """Return the object `name` of a Python file, which is run for it.

    Raises `FileNotFoundError` where there is no such file, `AttributeError` where it has no such
    name, and whatever running it raises.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise FileNotFoundError(f"no file {path}: expected a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # so that its classes can be pickled
    spec.loader.exec_module(module)
    return getattr(module, name)


@cache
def parts(kind: str) -> "Mapping[str, EntryPoint]":
    """Return the entry points of the group ``compiler_gym.KIND`` by name, each to be loaded on use.

    Tools find the parts that compilers have for them in such groups, and the kernel those that
    tools have for it. Parts of this package come first, and no other replaces one of them.
    """
    from importlib.metadata import entry_points

    def order(entry: "EntryPoint") -> tuple[bool, str]:
        return not entry.value.startswith("compiler_gym."), entry.name

    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=f"compiler_gym.{kind}"), key=order):
        found.setdefault(entry.name, entry)
    return found


def part(kind: str, compiler: str | None = None) -> Any:
    """Return the entry of the group ``compiler_gym.KIND`` for `compiler`, loaded.

    None is the only compiler that has one. Raises `UnknownNameError` with those that have.
    """
    from compiler_gym.errors import UnknownNameError, unknown_name

    found, group = parts(kind), f"the entry-point group compiler_gym.{kind}"
    if compiler is None and len(found) != 1:
        choice = " or ".join(found) or "install one"
        raise UnknownNameError(f"{group} has {len(found)} compilers, so choose one: {choice}")
    name = next(iter(found)) if compiler is None else compiler
    if name not in found:
        raise UnknownNameError(unknown_name("compiler", name, found, where=group))
    return found[name].load()
