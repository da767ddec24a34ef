# SPDX-License-Identifier: MIT
"""Makes ``gymnasium.make("llvm-v0")`` work after ``import compiler_gym``.

Gymnasium and numpy take longer to import than everything else here, and workers
never need them; so registration waits until the program imports Gymnasium.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["register_when_imported"]

_REGISTRY = "gymnasium.envs.registration"


class _Watcher:
    """A finder that lets the real one work and then registers, once."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _REGISTRY:
            return None
        sys.meta_path.remove(self)  # type: ignore[arg-type]  # it is there: it was just called
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                _register()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]  # this one import
        return spec


def register_when_imported() -> None:
    """Register our environments now if Gymnasium is loaded, otherwise when it is."""
    if hasattr(sys.modules.get(_REGISTRY), "register_envs"):
        _register()
    else:
        sys.meta_path.insert(0, _Watcher())  # type: ignore[arg-type]  # the protocol it needs


def _register() -> None:
    from compiler_gym.registration import register_with_gymnasium

    register_with_gymnasium()
