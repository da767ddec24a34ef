# SPDX-License-Identifier: MIT
"""Which dataset of today has the programs that a dataset of CompilerGym 0.2.5 had."""

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
"""Sets of bitcode: they name the LLVM that wrote them."""
_NEWER = {"anghabench-v0": "anghabench-v1", "poj104-v0": "poj104-v1"}


def advice_for(name: str, known: Container[str]) -> str:
    """Return which of the `known` datasets stands for 0.2.5's dataset `name`; empty if none does.

    >>> advice_for("benchmark://poj104-v0", ["benchmark://poj104-v1"])
    ' benchmark://poj104-v1 stands for it: a later version of the same programs'
    """
    scheme, _, plain = name.rpartition("://")
    today = f"{scheme}://{_LLVM_10.get(plain) or _NEWER.get(plain)}"
    if today not in known:
        return ""
    why = "the bitcode that LLVM 10 wrote" if plain in _LLVM_10 else "a later version"
    return f" {today} stands for it: {why} of the same programs"
