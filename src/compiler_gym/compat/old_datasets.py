# SPDX-License-Identifier: MIT
"""The datasets of CompilerGym 0.2.5: their successors, and functions that were deprecated then.

An installed dataset can be used at once; there is no activation.
"""

import warnings
from collections.abc import Container
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from compiler_gym.datasets import Dataset, Datasets


_LLVM_10 = {
    "blas-v0": "blas-llvm10-v0",
    "cbench-v0": "cbench-llvm10-v1",
    "github-v0": "github-llvm10-v0",
    "linux-v0": "linux-llvm10-v0",
    "mibench-v0": "mibench-llvm10-v1",
    "mibench-v1": "mibench-llvm10-v1",
    "npb-v0": "npb-llvm10-v0",
    "opencv-v0": "opencv-llvm10-v0",
    "tensorflow-v0": "tensorflow-llvm10-v0",
}
"""Sets of bitcode, named after the LLVM that wrote them."""
_NEWER = {"anghabench-v0": "anghabench-v1", "poj104-v0": "poj104-v1"}


def advice_for(name: str, known: Container[str]) -> str:
    """Return advice on the successor of 0.2.5's dataset `name` among `known`; empty if none exists.

    >>> advice_for("benchmark://poj104-v0", ["benchmark://poj104-v1"])
    ' use benchmark://poj104-v1 instead: a later version of the same programs'
    """
    scheme, _, plain = name.rpartition("://")
    successor = f"{scheme}://{_LLVM_10.get(plain) or _NEWER.get(plain)}"
    if successor not in known:
        return ""
    contents = "the bitcode that LLVM 10 wrote" if plain in _LLVM_10 else "a later version"
    return f" use {successor} instead: {contents} of the same programs"


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
