# SPDX-License-Identifier: MIT
"""A plain sentence for every decision that a plan for LLVM may hold.

Passes and options of the code generator have theirs in the tables of the action spaces; what is
told to clang and lld for speed and for the link has it here.
"""

from functools import cache

from compiler_gym.envs.llvm.actions import ACTION_SPACES, codegen_options
from compiler_gym.envs.llvm.toolchain import CLEAR
from compiler_gym.session import CommandlineSpec
from compiler_gym.tools.tune import FILE_MEANINGS, Meaning

__all__ = ["meaning"]

_PASSES = "https://llvm.org/docs/Passes.html"
_CLANG = "https://clang.llvm.org/docs/CommandGuide/clang.html"
_LLC = "https://llvm.org/docs/CommandGuide/llc.html"
_PGO = "https://clang.llvm.org/docs/UsersManual.html#profile-guided-optimization"
_LLD = "https://lld.llvm.org/"
_FOR_LLVM = ("-Wl,-mllvm,-", "-mllvm=-")
"""How a flag begins that hands an option on to LLVM."""
_WHOLE = {
    "passes": ("Runs the passes below, in this order, in the place of -Oz", _PASSES),
    "profile": ("Knows from a run of the program which branches and calls are frequent", _PGO),
    "flag -O2": ("Optimises with -O2 in the place of -O3", _CLANG),
    "linker -Wl,--gc-sections": ("Leaves out functions and data that nothing uses", _LLD),
    "linker -Wl,--icf=safe": ("Keeps one of several functions with equal code", _LLD),
    f"pass {CLEAR}": ("Changes nothing", _PASSES),
}
_FILE = {
    **FILE_MEANINGS,
    "-fno-omit-frame-pointer": "Lets unwind tables be small: each function has a frame pointer",
    "-fno-plt": "Calls functions of libraries without a stub for each",
    "-fsplit-machine-functions": "Keeps the blocks that hardly ever run apart from the others",
    "-Wl,-z,keep-text-section-prefix": "Keeps functions that hardly ever run apart from the others",
    "-Wl,-O2": "Lets one string be the end of another",
    "-Wl,--bp-compression-sort=function": "Sorts functions so that the file compresses better",
    "-Wl,--bp-compression-sort=data": "Sorts data so that the file compresses better",
    "-Wl,--bp-compression-sort=both": "Sorts functions and data so that the file compresses better",
}
_OPTIONS = {
    "enable-pre": "Whether what one way to a point computes is computed on its other ways, too",
    "inlinehint-threshold": "How large an `inline` function may be to be copied into its callers",
    "force-remove-attribute": "Which mark of functions is dropped",
    "inline-threshold": "How large a function may be to be copied into its callers",
    "tail-dup-pred-size": "How many predecessors a block may have to be copied into them",
    "tail-dup-succ-size": "How many successors a block may have to be copied",
    "x86-cmov-converter-force-all": "Whether all conditional moves are judged, not only in loops",
    "x86-cmov-converter": "Whether conditional moves become branches where that looks faster",
    "vectorize-slp": "Whether straight code becomes vector instructions",
    "vectorize-loops": "Whether loops become vector instructions",
    "two-entry-phi-node-folding-threshold": "How much work replaces a branch by a conditional move",
    "tail-dup-placement-threshold": "How many instructions a block may have to be copied",
    "enable-dfa-jump-thread": "Jumps from state to state in loops over a switch",
    "unroll-threshold": "How large a loop may become when it is unrolled",
    "unroll-runtime": "Whether loops are unrolled whose length is known only when they run",
    "hot-callsite-threshold": "How large a function may be to be copied into a frequent call",
    "enable-gvn-hoist": "Computes once, above a branch, what both of its sides compute",
    "jump-threading-threshold": "How large a block may be to be copied for a known branch",
    "enable-partial-inlining": "Copies the frequent beginning of a function into its callers",
    "align-loops": "The alignment of loops in bytes",
    "outliner-benefit-threshold": "How many instructions a new function of equal code must save",
}
"""What tuning tries beside the options of the code generator's own table."""


def meaning(decision: str) -> Meaning:
    """Return the sentence of `decision`, as `BinaryPlan.decisions` names it, or `pass PASS`."""
    if decision in _WHOLE:
        sentence, link = _WHOLE[decision]
        return Meaning(f"{sentence}.", link)
    kind, _, text = decision.partition(" ")
    if text in _FILE:
        return Meaning(f"{_FILE[text]}.", _LLD)
    if kind == "pass":
        return Meaning(_sentence(_passes().get(text, "")), _PASSES)
    for beginning in _FOR_LLVM:
        if text.startswith(beginning):
            settings = text.removeprefix(beginning).split(f",{beginning[4:]}")
            return Meaning("; ".join(filter(None, map(_setting, settings))) + ".", _LLC)
    return Meaning(_sentence(_setting(text) if kind == "option" else ""), _LLC)


def _setting(text: str) -> str:
    """Return what ``NAME=VALUE`` does; a bare name turns it on."""
    name, _, value = text.partition("=")
    described = _descriptions().get(name, "")
    return f"{described}: {value}" if described and value not in ("", "true") else described


def _sentence(text: str) -> str:
    return f"{text}." if text else ""


@cache
def _descriptions() -> dict[str, str]:
    return _OPTIONS | {option.name: option.description for option in codegen_options.OPTIONS}


@cache
def _passes() -> dict[str, str]:
    """Return what each pass does, by its text in a pipeline."""
    specs = (space.space for space in ACTION_SPACES)
    items = (item for spec in specs if isinstance(spec, CommandlineSpec) for item in spec.items)
    return {item.flag: item.description.rstrip(".") for item in items if item.description}
