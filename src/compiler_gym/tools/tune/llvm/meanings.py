# SPDX-License-Identifier: MIT
"""A sentence about each decision that a plan for LLVM can contain.

Passes and code generator options are described in the tables of the action spaces; the flags for
clang and lld are described here.
"""

from functools import cache

from compiler_gym.envs.llvm.actions import ACTION_SPACES, codegen_options
from compiler_gym.envs.llvm.toolchain import CLEAR
from compiler_gym.session import CommandlineSpec
from compiler_gym.tools.tune import Meaning
from compiler_gym.tools.tune.llvm.flags import FILE_MEANINGS

_PASSES = "https://llvm.org/docs/Passes.html"
_LLC = "https://llvm.org/docs/CommandGuide/llc.html"
_PGO = "https://clang.llvm.org/docs/UsersManual.html#profile-guided-optimization"
_LLD = "https://lld.llvm.org/"
_PLUGGED = "Shortens the machine code that LLVM generates."
_WHOLE = {
    "passes": ("Runs the passes below, in this order, instead of -Oz", _PASSES),
    "profile": ("Uses a profile of the program to find its frequent branches and calls", _PGO),
    "linker -Wl,--gc-sections": ("Discards unused functions and data", _LLD),
    "linker -Wl,--icf=safe": ("Merges functions with identical code", _LLD),
    f"pass {CLEAR}": ("Changes nothing", _PASSES),
}
_FILE = {
    **FILE_MEANINGS,
    "-fno-omit-frame-pointer": "Gives every function a frame pointer; unwind tables shrink",
    "-momit-leaf-frame-pointer": "Omits the frame pointers of functions without calls",
    "-fno-plt": "Calls library functions without a stub for each",
    "-Wl,-O2": 'Merges string tails ("bar" can share the storage of "foobar")',
    "-Wl,--bp-compression-sort=function": "Sorts functions so that the file compresses better",
    "-Wl,--bp-compression-sort=data": "Sorts data so that the file compresses better",
    "-Wl,--bp-compression-sort=both": "Sorts functions and data so that the file compresses better",
}
_OPTIONS = {
    "enable-pre": "Moves computations to other paths to remove redundant ones",
    "inlinehint-threshold": "Maximum cost of an `inline` function to inline",
    "force-remove-attribute": "Removes an attribute from all functions",
    "inline-threshold": "Maximum cost of a function to inline",
    "two-entry-phi-node-folding-threshold": "Maximum cost of replacing a branch with a select",
    "outliner-benefit-threshold": "Minimum number of instructions an outlined function must save",
}
"""Options that tuning tries in addition to the code generator's table."""


def meaning(decision: str) -> Meaning:
    """Return a sentence about `decision`, named as in `BinaryPlan.decisions`, or `pass PASS`."""
    if decision in _WHOLE:
        sentence, link = _WHOLE[decision]
        return Meaning(f"{sentence}.", link)
    kind, _, text = decision.partition(" ")
    if text in _FILE:
        return Meaning(f"{_FILE[text]}.", _LLD)
    if kind == "plugin":
        is_rule = text.startswith("-")
        return Meaning(f"Turns off the rule {text[1:]} of the plug-in." if is_rule else _PLUGGED)
    if kind == "pass":
        return Meaning(_sentence(_passes().get(text, "")), _PASSES)
    return Meaning(_sentence(_setting(text) if kind == "option" else ""), _LLC)


def _setting(text: str) -> str:
    """Describe ``NAME=VALUE``; a bare name turns the option on."""
    name, _, value = text.partition("=")
    description = _descriptions().get(name, "")
    return f"{description}: {value}" if description and value not in ("", "true") else description


def _sentence(text: str) -> str:
    return f"{text}." if text else ""


@cache
def _descriptions() -> dict[str, str]:
    return _OPTIONS | {option.name: option.description for option in codegen_options.OPTIONS}


@cache
def _passes() -> dict[str, str]:
    """Return descriptions of all passes by their text in a pipeline."""
    specs = (space.space for space in ACTION_SPACES)
    items = (item for spec in specs if isinstance(spec, CommandlineSpec) for item in spec.items)
    return {item.flag: item.description.rstrip(".") for item in items if item.description}
