# SPDX-License-Identifier: MIT
"""Which compiler's part of a tuning is meant by a name?"""

import re
from pathlib import Path
from typing import Any

from compiler_gym.errors import UnknownNameError
from compiler_gym.lazy import parts
from compiler_gym.tools.tune.tuner import Tuner

__all__ = ["tuner_named"]


def tuner_named(name: str | None) -> Tuner:
    """Return what tunes with the compiler `name`, or the installed program of that name.

    None is the first compiler for which no program must be chosen.

    A program is known by a part of its name: that of a compiler whose tuner takes any. Raises
    `UnknownNameError` with the names there are.
    """
    tuners: dict[str, Any] = {each: entry.load() for each, entry in parts("tuners").items()}
    if name is None:
        name = min(tuners, key=lambda each: tuners[each].takes_program, default="")
    words = re.split(r"[^a-z]+", Path(name).name)
    for compiler, tuner in tuners.items():
        if name == compiler or (tuner.takes_program and compiler in words):
            return tuner(name) if tuner.takes_program else tuner()
    programs = [f"a program such as {each}-12" for each in tuners if tuners[each].takes_program]
    raise UnknownNameError(
        f"compiler {name!r} does not support tuning: expected one of "
        f"{', '.join([*tuners, *programs])}"
    )
