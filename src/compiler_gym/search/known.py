# SPDX-License-Identifier: MIT
"""Where a search may begin: the compiler's own levels, and what did well elsewhere.

``known.txt`` holds names of actions, one sequence per line. A line counts where an
action space has all of its names; elsewhere it means nothing and is passed over.
"""

import re
from collections.abc import Sequence
from importlib.resources import files

__all__ = ["known_sequences", "level_sequences"]

_LEVEL = re.compile(r"-?O[0-9a-z]+")


def level_sequences(names: Sequence[str]) -> list[list[int]]:
    """Return the standard levels (-Oz, ...) among the actions in `names`, as numbers.

    >>> level_sequences(["adce", "-O3", "-Oz"])
    [[1], [2]]
    """
    return [[number] for number, name in enumerate(names) if _LEVEL.fullmatch(name)]


def known_sequences(names: Sequence[str]) -> list[list[int]]:
    """Return the known sequences of actions in `names`, as numbers, the best first."""
    number = {name: i for i, name in enumerate(names)}
    text = files("compiler_gym.search").joinpath("known.txt").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return [[number[name] for name in line] for line in lines if all(n in number for n in line)]
