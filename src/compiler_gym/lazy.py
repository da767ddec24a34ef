# SPDX-License-Identifier: MIT
"""Names that are imported when they are first asked for.

A folder's door lists names without loading what is behind them, and a compiler names
its parts as ``"package.module:name"``, so that listing compilers loads none.
"""

import importlib
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

__all__ = ["door", "named"]


def door(
    package: str, where: Mapping[str, str], *, folders: Collection[str] = ()
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of `package`: each name comes from its module in `where`.

    A name is fetched once; after that the package holds it. `folders` are modules below
    `package` that need no import of their own to be used through it.
    """

    def fetch(name: str) -> Any:
        if name in folders:
            return importlib.import_module(f"{package}.{name}")
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        found = getattr(importlib.import_module(where[name]), name)
        setattr(sys.modules[package], name, found)
        return found

    return fetch


def named(path: str) -> Any:
    """Return what ``"package.module:name"`` names.

    >>> named("math:floor")(2.5)
    2
    """
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)
