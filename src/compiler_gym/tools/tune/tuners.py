# SPDX-License-Identifier: MIT
"""Which compiler's part of a tuning is meant by a name?"""

import re
from pathlib import Path
from typing import cast

from compiler_gym.errors import UnknownNameError
from compiler_gym.lazy import named
from compiler_gym.registration import Compiler, compilers
from compiler_gym.tools.tune.tuner import Tuner

__all__ = ["tuner_named"]


def tuner_named(name: str | None) -> Tuner:
    """Return what tunes with the compiler `name`, or the installed program of that name.

    None is the first compiler for which no program must be chosen.

    A program is known by a part of its name: that of a compiler whose tuner takes any. Raises
    `UnknownNameError` with the names there are.
    """
    able = {compiler.name: compiler for compiler in compilers().values() if compiler.tuner}
    if name is None:
        name = min(able, key=lambda each: able[each].tuner_takes_program, default="")
    if name in able:
        return _made(able[name], name)
    parts = re.split(r"[^a-z]+", Path(name).name)
    for compiler in able.values():
        if compiler.tuner_takes_program and compiler.name in parts:
            return _made(compiler, name)
    programs = [f"a program such as {c.name}-12" for c in able.values() if c.tuner_takes_program]
    raise UnknownNameError(
        f"no compiler {name!r} tunes: expected one of {', '.join([*able, *programs])}"
    )


def _made(compiler: Compiler, name: str) -> Tuner:
    found = named(compiler.tuner)
    return cast("Tuner", found(name) if compiler.tuner_takes_program else found())
