# SPDX-License-Identifier: MIT
"""Tables of what may make a program faster, or smaller where its profile says that it is cold.

A choice is words for the compiler and for the linker, and nothing that changes what machine the
program needs, how floating point behaves, or what it links to.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from compiler_gym.tuning import BinaryPlan

__all__ = ["CHOICES", "COLD", "FRONT", "Choice", "actions_of", "added", "plan_of"]


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that may make programs faster, or slower."""

    flags: tuple[str, ...] = ()
    linker: tuple[str, ...] = ()


def _both(option: str) -> Choice:
    return Choice((f"-mllvm={option}",), (f"-Wl,-mllvm,{option}",))


def _late(*options: str) -> Choice:
    return Choice((), tuple(f"-Wl,-mllvm,{option}" for option in options))


CHOICES = (
    _both("-inline-threshold=500"),
    _late("-tail-dup-pred-size=64", "-tail-dup-succ-size=64"),
    _late("-enable-ext-tsp-block-placement"),
    Choice(("-fsplit-machine-functions",), ("-Wl,-z,keep-text-section-prefix",)),
    _late("-x86-cmov-converter-force-all"),
    Choice(("-O2",)),
    _late("-align-loops=32"),
    _late("-vectorize-slp=false"),
    _both("-two-entry-phi-node-folding-threshold=1"),
    _both("-inline-threshold=1000"),
    _late("-x86-cmov-converter=false"),
    _late("-tail-dup-placement-threshold=6"),
    _late("-enable-dfa-jump-thread"),
    _late("-vectorize-loops=false"),
    _late("-unroll-threshold=600"),
    _late("-disable-lsr"),
    _late("-hot-callsite-threshold=6000"),
    _both("-enable-gvn-hoist"),
    _late("-enable-misched=false"),
    _both("-inline-threshold=100"),
    _late("-unroll-runtime=false"),
    _late("-align-all-nofallthru-blocks=5"),
    _both("-jump-threading-threshold=20"),
    _both("-enable-partial-inlining"),
)
"""In the order in which they are tried. None changes what machine the program needs."""


def _joined(*choices: Choice) -> Choice:
    return Choice(
        tuple(word for choice in choices for word in choice.flags),
        tuple(word for choice in choices for word in choice.linker),
    )


def _hot(millionths: int) -> Choice:
    """Make small what is not among the functions of the most frequent counts, so many of all."""
    return _joined(COLD, _both(f"-profile-summary-cutoff-cold={millionths}"))


COLD = Choice(("-mllvm=-pgo-cold-func-opt=minsize",))
"""Make small what the profile says is cold: by LLVM's own cutoff, the last millionth of counts."""
_LEAST = _late("-disable-lsr", "-disable-machine-licm", "-apply-ext-tsp-for-size")
_OUTLINED = _late("-enable-machine-outliner=conservative-pgo")
"""Takes sequences out of cold code alone."""
FRONT = {
    "hot-99": _joined(_hot(990_000), _OUTLINED),
    "hot-all": COLD,
    "Oz": _joined(Choice(("-Oz",)), _LEAST),
    "hot-90": _joined(_hot(900_000), _OUTLINED),
    "hot-99.9": _joined(_hot(999_000), _OUTLINED),
    "hot-99-O2": _joined(Choice(("-O2",)), _hot(990_000), _OUTLINED),
    "hot-90-Os": _joined(Choice(("-Os",)), _hot(900_000), _LEAST, _OUTLINED),
}
"""What a front is chosen of, besides the profile alone: how much of a profile is hot. In the order
in which they are built, as time may not do for all."""


def added(plan: BinaryPlan, choice: Choice) -> BinaryPlan:
    """Return `plan` with `choice` instead of what says something else of the same option."""
    named = {_option(flag) for flag in (*choice.flags, *choice.linker)}

    def kept(words: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
        return (*(word for word in words if _option(word) not in named), *more)

    return replace(
        plan, flags=kept(plan.flags, choice.flags), linker=kept(plan.linker, choice.linker)
    )


def _option(flag: str) -> str:
    for prefix in ("-mllvm=", "-Wl,-mllvm,"):
        if flag.startswith(prefix):
            return flag.removeprefix(prefix).partition("=")[0]
    return flag


def actions_of(plan: BinaryPlan) -> tuple[str, ...]:
    """Return what is written of `plan` in the journal."""
    profile = (f"profile {plan.profile}",) if plan.profile else ()
    after = (f"layout {plan.after_profile}",) if plan.after_profile else ()
    named = (name for name in plan.decisions() if name != "profile")
    return (*profile, *after, *named)


def plan_of(actions: Sequence[str], plan: BinaryPlan) -> BinaryPlan:
    """Return `plan` with the decisions that `actions` are in the journal."""
    words = [action.partition(" ") for action in actions]
    return replace(
        plan,
        flags=tuple(value for kind, _, value in words if kind == "flag"),
        linker=tuple(value for kind, _, value in words if kind == "linker"),
        after=tuple(value for kind, _, value in words if kind == "after"),
        profile=next((value for kind, _, value in words if kind == "profile"), ""),
        after_profile=next((value for kind, _, value in words if kind == "layout"), ""),
    )
