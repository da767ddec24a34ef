# SPDX-License-Identifier: MIT
"""Sequences that did well on other programs: where a search may begin.

``known.txt`` holds names of actions, one sequence per line. A line counts where an
action space has all of its names; elsewhere it means nothing and is passed over.
"""

from collections.abc import Sequence
from importlib.resources import files

__all__ = ["known_sequences"]


def known_sequences(names: Sequence[str]) -> list[list[int]]:
    """Return the known sequences of actions in `names`, as numbers, the best first."""
    number = {name: i for i, name in enumerate(names)}
    text = files("compiler_gym.search").joinpath("known.txt").read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    return [[number[name] for name in line] for line in lines if all(n in number for n in line)]
