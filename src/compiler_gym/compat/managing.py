# SPDX-License-Identifier: MIT
"""Functions on an environment's datasets that were already deprecated in CompilerGym 0.2.5.

An installed dataset can be used at once; there is no activation.
"""

import warnings
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from compiler_gym.datasets import Dataset, Datasets

__all__ = ["activate", "deactivate", "delete", "require"]


class _HasDatasets(Protocol):
    datasets: "Datasets"


def activate(env: _HasDatasets, dataset: "str | Dataset | None" = None) -> bool:
    """Do nothing and return False. Deprecated: an installed dataset is active."""
    _warn("activate() does nothing: use env.datasets[name].install()")
    return False


def deactivate(env: _HasDatasets, dataset: "str | Dataset | None" = None) -> bool:
    """Do nothing and return False. Deprecated: use ``env.datasets.remove(name)``."""
    _warn("deactivate() does nothing: use env.datasets.remove(name)")
    return False


def delete(env: _HasDatasets, dataset: "str | Dataset") -> bool:
    """Remove the files of `dataset`; return whether it was installed. Deprecated."""
    _warn("delete() is now env.datasets[name].uninstall()")
    named = env.datasets.dataset(dataset)
    was_installed = named.installed
    named.uninstall()
    return was_installed


def require(env: _HasDatasets, dataset: "str | Dataset") -> bool:
    """Install `dataset` if necessary; return whether it was installed now. Deprecated."""
    _warn("require() is now env.datasets[name].install()")
    named = env.datasets.dataset(dataset)
    if named.installed:
        return False
    named.install()
    return True


def _warn(text: str) -> None:
    warnings.warn(text, DeprecationWarning, stacklevel=3)
