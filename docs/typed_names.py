# SPDX-License-Identifier: MIT
"""The names of LLVM's observations in the module that type checkers read.

``make docs`` writes the lists of `TYPED` from the environment, because a checker cannot read a
table. The rest of the module is written by hand.
"""

import re
from pathlib import Path
from typing import Any

import numpy as np

from compiler_gym.core import CompilerEnv
from compiler_gym.session import ScalarSpec
from docs.site import ROOT

__all__ = ["TYPED", "with_names"]

TYPED = ROOT / "src" / "compiler_gym" / "envs" / "llvm" / "observations" / "typed.py"
KINDS: dict[str, type] = {
    "Arrays": np.ndarray,
    "Integers": int,
    "Floats": float,
    "Flags": bool,
    "Texts": str,
    "Records": dict,
}
"""The lists, and the type of the values of their observations. Values of other types, such as
graphs, are in no list: a checker takes them for `Any`."""
SCALARS: dict[str, type] = {"int": int, "float": float, "bool": bool}
LONGEST = 100
"""The longest line."""


def with_names(module: Path, env: CompilerEnv) -> str:
    """Return the text of `module` with the names of the observations of `env` in its lists."""
    text = module.read_text(encoding="utf-8")
    types = {name: _type_of(spec) for name, spec in env.observation.spaces.items()}
    for kind, wanted in KINDS.items():
        names = [name for name, found in types.items() if found is wanted]
        pattern = re.compile(rf"^{kind} = Literal\[.*?\]$", re.M | re.S)
        text, count = pattern.subn(lambda _, kind=kind, names=names: _literal(kind, names), text)
        if count != 1:
            raise ValueError(f"{module.name} has {count} lists called {kind}: expected one")
    return text


def _type_of(spec: Any) -> type:
    """Return the type of an observation's values."""
    if isinstance(spec.sent_as, ScalarSpec):
        return SCALARS[spec.sent_as.dtype]
    return spec.default_value.__class__


def _literal(kind: str, names: list[str]) -> str:
    quoted = [f'"{name}"' for name in names]
    line = f"{kind} = Literal[{', '.join(quoted)}]"
    if len(line) <= LONGEST:
        return line
    return "\n".join([f"{kind} = Literal[", *(f"    {name}," for name in quoted), "]"])
