# SPDX-License-Identifier: MIT
"""Import hooks: they register our environments with Gymnasium, and find old module names.

Gymnasium and numpy take longer to import than everything else here, and workers never need them.
The hook makes ``gymnasium.make("llvm-v0")`` work once the program imports Gymnasium. Modules of
CompilerGym 0.2.5 are looked up only if there is no present module of that name.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

from compiler_gym.lazy import load_named

__all__ = ["install"]

_REGISTRY = "gymnasium.envs.registration"


class _Registering:
    """A finder that runs the real one and then registers, once."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _REGISTRY:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]  # still in the list
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                _register()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]  # this one import
        return spec


class _OldNames:
    """The last finder: it loads the table of old paths if a module of ours is not found."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not fullname.startswith("compiler_gym."):
            return None
        return load_named("compiler_gym.compat.old_paths:find_old_module")(fullname)


def install() -> None:
    """Register our environments now if Gymnasium is loaded, otherwise when it is imported; and
    make imports find old names."""
    if hasattr(sys.modules.get(_REGISTRY), "register_envs"):
        _register()
    else:
        sys.meta_path.insert(0, _Registering())  # type: ignore[arg-type]  # the protocol it needs
    if not any(type(finder).__name__ == _OldNames.__name__ for finder in sys.meta_path):
        sys.meta_path.append(_OldNames())  # type: ignore[arg-type]  # the protocol it needs


def _register() -> None:
    from compiler_gym.registration import register_with_gymnasium

    register_with_gymnasium()
