# SPDX-License-Identifier: MIT
"""Find the tuner for a compiler by name."""

import re
from pathlib import Path
from typing import Any

from compiler_gym.errors import UnknownNameError
from compiler_gym.lazy import parts
from compiler_gym.tools.tune.tuner import Tuner

__all__ = ["tuner_named"]


def tuner_named(name: str | None) -> Tuner:
    """Return the tuner for the compiler `name`, or for the installed program of that name.

    None selects the first compiler for which you need not choose a program.

    A program is recognised by the compiler in its name, if that compiler's tuner takes programs.
    Raises `UnknownNameError` with the available names.
    """
    tuners: dict[str, Any] = {compiler: entry.load() for compiler, entry in parts("tuners").items()}
    if name is None:
        name = min(tuners, key=lambda compiler: tuners[compiler].takes_program, default="")
    terms = re.split(r"[^a-z]+", Path(name).name)
    for compiler, tuner in tuners.items():
        if name == compiler or (tuner.takes_program and compiler in terms):
            return tuner(name) if tuner.takes_program else tuner()
    programs = [f"a program such as {c}-12" for c in tuners if tuners[c].takes_program]
    raise UnknownNameError(
        f"no tuner for the compiler {name!r}: use one of {', '.join([*tuners, *programs])}"
    )
