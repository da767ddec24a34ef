# SPDX-License-Identifier: MIT
"""Names that are imported on first use.

A package's ``__init__`` lists its public names without importing their modules, and a compiler
refers to its parts as ``"package.module:name"``, so that listing compilers loads none.
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

__all__ = ["door", "named"]


def door(package: str, where: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of `package`: each name comes from its module in `where`.

    A name is fetched once; after that the package holds it. The package's own modules are
    fetched too, so that ``package.module.name`` needs no import of its own.
    """

    def fetch(name: str) -> Any:
        if name in where:
            found = getattr(importlib.import_module(where[name]), name)
            setattr(sys.modules[package], name, found)
            return found
        if (module := _module_of(package, name)) is not None:
            return module
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return fetch


def _module_of(package: str, name: str) -> ModuleType | None:
    path = f"{package}.{name}"
    is_package = "__path__" in vars(sys.modules[package])
    if is_package and not name.startswith("_") and importlib.util.find_spec(path):
        return importlib.import_module(path)
    return None


def named(path: str) -> Any:
    """Return the object that ``"package.module:name"`` refers to.

    >>> named("math:floor")(2.5)
    2
    """
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
