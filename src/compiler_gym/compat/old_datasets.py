# SPDX-License-Identifier: MIT
"""Today's successors of the datasets of CompilerGym 0.2.5."""

from collections.abc import Container

__all__ = ["advice_for"]

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
