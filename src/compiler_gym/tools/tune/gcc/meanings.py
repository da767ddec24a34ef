# SPDX-License-Identifier: MIT
"""A sentence about each decision that a plan for GCC can contain, mostly from GCC's help."""

import re
from functools import cache

from compiler_gym.envs.gcc import get_spec
from compiler_gym.tools.tune import FILE_MEANINGS, Meaning

__all__ = ["meaning"]

_MANUAL = "https://gcc.gnu.org/onlinedocs/gcc/Optimize-Options.html"
_LINES = re.compile(r"^ +(-\S+)[ \t]+(\S.*(?:\n {27,}\S.*)*)", re.MULTILINE)
"""An option and its description in the help, possibly over several lines."""
_PROFILE = "Uses a profile of the program to find its frequent branches and calls"
_NOTE = re.compile(r"\s*(This option lacks documentation\.|\[(enabled|disabled)\]|Same as .*)\s*")
_WHOLE = {
    **FILE_MEANINGS,
    "-Oz": "Optimises for size regardless of speed",
    "-O2": "Optimises for speed without growing the code much",
    "-O1": "Optimises with a few fast passes",
    "-flto": "Optimises all sources as one program at link time",
    "-flto-partition=one": "Optimises the whole program as one partition",
    "-ffunction-sections": "Allows the linker to discard individual functions",
    "-fdata-sections": "Allows the linker to discard individual variables",
    "-Wl,--gc-sections": "Discards unused functions and data",
}


def meaning(gcc: str, decision: str) -> Meaning:
    """Return a sentence about a decision for `gcc`, named as in `BinaryPlan.decisions`."""
    _, _, text = decision.partition(" ")
    if decision == "profile":
        return Meaning(f"{_PROFILE}.", f"{_MANUAL}#index-fprofile-use")
    if text in _WHOLE:
        return Meaning(f"{_WHOLE[text]}.", _MANUAL)
    if text.startswith("--param="):
        name, _, value = text.removeprefix("--param=").partition("=")
        return Meaning(f"{_help(gcc).get(name) or f'Sets the parameter {name}'}: {value}.", _MANUAL)
    name, _, value = text.removeprefix("-f").partition("=")
    if not text.startswith("-f"):
        return Meaning("")
    is_off = name.startswith("no-")
    name = name.removeprefix("no-")
    description = _help(gcc).get(name) or f"GCC's optimisation {name}"
    sentence = f"Disables: {description}" if is_off else description
    return Meaning(f"{sentence}: {value}." if value else f"{sentence}.", f"{_MANUAL}#index-f{name}")


@cache
def _help(gcc: str) -> dict[str, str]:
    """Return the descriptions of all options in the help of `gcc`, by name."""
    spec = get_spec(gcc)
    listing = spec.gcc("--help=optimizers") + spec.gcc("--help=params")
    descriptions: dict[str, str] = {}
    for option, text in _LINES.findall(listing):
        name = option.removeprefix("--param=").removeprefix("-f").partition("=")[0]
        plain = _NOTE.sub(" ", " ".join(text.split())).strip().rstrip(".")
        if plain:
            descriptions.setdefault(name, plain)
    return descriptions
