# SPDX-License-Identifier: MIT
"""A plain sentence for every decision that a plan for GCC may hold: GCC's own help has most."""

import re
from functools import cache

from compiler_gym.envs.gcc import get_spec
from compiler_gym.tools.tune import FILE_MEANINGS, Meaning

__all__ = ["meaning"]

_MANUAL = "https://gcc.gnu.org/onlinedocs/gcc/Optimize-Options.html"
_LINES = re.compile(r"^ +(-\S+)[ \t]+(\S.*(?:\n {27,}\S.*)*)", re.MULTILINE)
"""An option in the help, and what it does: maybe over several lines."""
_PROFILE = "Knows from a run of the program which branches and calls are frequent"
_NOTE = re.compile(r"\s*(This option lacks documentation\.|\[(enabled|disabled)\]|Same as .*)\s*")
_WHOLE = {
    **FILE_MEANINGS,
    "-Oz": "Optimises for size at any price in speed",
    "-O2": "Optimises for speed where that makes little code",
    "-O1": "Optimises with a few fast passes",
    "-flto": "Optimises all sources as one program, when they are linked",
    "-flto-partition=one": "Optimises the whole program in one piece",
    "-ffunction-sections": "Lets the linker leave out single functions",
    "-fdata-sections": "Lets the linker leave out single variables",
    "-Wl,--gc-sections": "Leaves out functions and data that nothing uses",
}


def meaning(gcc: str, decision: str) -> Meaning:
    """Return the sentence of a decision for `gcc`, as `BinaryPlan.decisions` names it."""
    _, _, text = decision.partition(" ")
    if decision == "profile":
        return Meaning(f"{_PROFILE}.", f"{_MANUAL}#index-fprofile-use")
    if text in _WHOLE:
        return Meaning(f"{_WHOLE[text]}.", _MANUAL)
    if text.startswith("--param="):
        name, _, value = text.removeprefix("--param=").partition("=")
        return Meaning(f"{_help(gcc).get(name) or f'Weighs {name}'}: {value}.", _MANUAL)
    name, _, value = text.removeprefix("-f").partition("=")
    if not text.startswith("-f"):
        return Meaning("")
    is_off = name.startswith("no-")
    name = name.removeprefix("no-")
    described = _help(gcc).get(name) or f"GCC's optimisation {name}"
    sentence = f"Without: {described}" if is_off else described
    return Meaning(f"{sentence}: {value}." if value else f"{sentence}.", f"{_MANUAL}#index-f{name}")


@cache
def _help(gcc: str) -> dict[str, str]:
    """Return what the compiler `gcc` says of its options, by name."""
    spec = get_spec(gcc)
    listed = spec.gcc("--help=optimizers") + spec.gcc("--help=params")
    found: dict[str, str] = {}
    for option, text in _LINES.findall(listed):
        name = option.removeprefix("--param=").removeprefix("-f").partition("=")[0]
        plain = _NOTE.sub(" ", " ".join(text.split())).strip().rstrip(".")
        if plain:
            found.setdefault(name, plain)
    return found
