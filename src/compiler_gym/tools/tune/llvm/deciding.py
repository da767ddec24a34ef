# SPDX-License-Identifier: MIT
"""What a search for size decides, as actions of its journal and as a plan.

An action is a pass by its name, an option as ``name=value``, ``flag -fx`` for the front end or
``linker -Wl,-x``. A state is a list of them, in an order of which equal states are equal.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from compiler_gym.envs.llvm.actions import ACTION_SPACES, codegen_options
from compiler_gym.envs.llvm.toolchain import CLEAR, join_pipelines, split_passes
from compiler_gym.errors import PlanError
from compiler_gym.session import CommandlineSpec
from compiler_gym.tools.tune import BinaryPlan, State

__all__ = [
    "BASE",
    "DEFAULT_PASSES",
    "FLAG",
    "LATE",
    "LINKER",
    "SAVINGS",
    "SPACE",
    "UNSAFE",
    "choices",
    "items",
    "make_plan",
    "make_state",
    "of_modules",
    "order_actions",
    "split",
    "with_action",
    "without",
    "without_outliner",
]  # fmt: skip

SPACE = "PassesAndCodegen"
"""The actions that are tried."""
DEFAULT_PASSES = "default<Oz>"
"""What optimises a module where a plan names no passes."""
BASE = "-Oz"
"""The same as an action."""
FLAG, LINKER = "flag ", "linker "
UNSAFE = frozenset({"enable-ipra"})
"""Options with which LLVM miscompiles some programs: only tests can tell whether this is one.

Interprocedural register allocation fails with ``long double``, and in shared libraries."""
_SAVING = "outliner-benefit-threshold"
SAVINGS = tuple(f"{_SAVING}={count}" for count in (12, 20, 8, 4))
"""Number of instructions that a function must save that the code generator makes of equal code,
those first that make most programs smaller. Without such a bound files grow, because each function
has unwind tables. It holds for a whole process, so that no module and no action space has it."""
LATE = (
    "enable-pre=false",
    "two-entry-phi-node-folding-threshold=2",
    *(f"inline-threshold={value}" for value in (0, 5, 15, 30, 60)),
    "inlinehint-threshold=5",
    "force-remove-attribute=minsize",
)
"""Options of the passes, so that only a linker that runs them can be told. Among them: up to which
cost a call is inlined, where LLVM's own bound is 5 in a function that is marked minsize, and to
drop that mark. With it x86-64 has constants pushed and popped, for which unwind tables grow by more
than is won."""
_OUTLINED = "enable-machine-outliner=always"
"""What makes such functions."""
_FIXED = "relocation-model"
"""Decided by the build, not by a search."""


@cache
def items() -> dict[str, str]:
    """Return the text of every pass and option, by the name of its action."""
    (space,) = (each.space for each in ACTION_SPACES if each.name == SPACE)
    assert isinstance(space, CommandlineSpec)
    return {item.name: item.flag for item in space.items}


def split(actions: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the passes among `actions`, and the options of the code generator that they set."""
    actions = [action for action in actions if not action.startswith((FLAG, LINKER))]
    passes = tuple(action for action in actions if "=" not in action or "<" in action)
    chosen = [action.partition("=") for action in actions if action not in passes]
    return passes, {n: v for n, _, v in chosen if v != codegen_options.DEFAULT and n != _FIXED}


def order_actions(actions: Iterable[str]) -> State:
    """Return the passes, then each option once, then flags and what the linker is told."""
    actions = list(actions)
    passes, options = split(actions)
    chosen = (f"{name}={value}" for name, value in sorted(options.items()))
    return (*passes, *chosen, *_list_told(actions, FLAG), *_list_told(actions, LINKER))


def with_action(state: State, action: str) -> State:
    """Return `state` with an option, a flag or a word for the linker instead of what sets it."""
    actions = (_OUTLINED, action) if action in SAVINGS else (action,)
    names = {each.partition("=")[0] for each in actions}
    return order_actions(
        (*(each for each in state if each.partition("=")[0] not in names), *actions)
    )


def without(state: State) -> dict[str, State]:
    """Return `state` without each of its decisions, by the name that a plan gives it."""
    passes, options = split(state)
    rest = state[len(passes) :]
    found: dict[str, State] = {}
    if passes != (BASE,):
        found["passes"] = (BASE, *rest)
    for action in rest:
        name = f"option {action}" if action.partition("=")[0] in options else action
        found[name] = tuple(other for other in state if other != action)
    return found


def without_outliner(state: State) -> State:
    """Return `state` without what makes functions of equal code, and its bound."""
    return tuple(action for action in state if action not in (_OUTLINED, *SAVINGS))


def make_plan(state: State, plan: BinaryPlan) -> BinaryPlan:
    """Return `plan` with the decisions of `state`."""
    passes, options = split(state)
    # Of no passes one that does nothing, as nothing means the default.
    pipeline = join_pipelines(items()[name] for name in passes) or CLEAR
    return replace(
        plan,
        passes="" if pipeline == DEFAULT_PASSES else pipeline,
        options=options,
        flags=tuple(word.removeprefix(FLAG) for word in _list_told(state, FLAG)),
        linker=tuple(word.removeprefix(LINKER) for word in _list_told(state, LINKER)),
    )


def make_state(plan: BinaryPlan) -> State:
    """Return the state of which `plan` is made; raise `PlanError` for a pass that is no action."""
    names = {text: name for name, text in items().items()}
    steps = split_passes(plan.passes or DEFAULT_PASSES)
    if plan.passes == CLEAR:
        steps = []
    for step in steps:
        if step not in names:
            raise PlanError(f"the plan of {plan.name} has {step!r}, which no search tries alone")
    options = (f"{name}={value}" for name, value in plan.options.items())
    options = (option for option in options if option not in LATE)
    flags = (f"{FLAG}{flag}" for flag in plan.flags)
    linker = (f"{LINKER}{word}" for word in plan.linker)
    return order_actions((*(names[step] for step in steps), *options, *flags, *linker))


def of_modules(options: Mapping[str, str]) -> dict[str, str]:
    """Return those of `options` that a module can have, and a session sets."""
    chosen = (f"{name}={value}" for name, value in options.items())
    left_out = (*SAVINGS, *LATE)
    return dict(each.split("=", 1) for each in chosen if each not in left_out)


def choices(refused: Collection[str] = ()) -> Iterator[str]:
    """Yield every option but those `refused`, with each value, the most promising first."""
    yield from SAVINGS
    ranked = sorted(
        (gain, option.name, value)
        for option in codegen_options.OPTIONS
        if option.name != _FIXED and option.name not in refused
        for value, gain in zip(option.values[1:], option.gains, strict=True)
    )
    yield from (f"{name}={value}" for _, name, value in ranked)


def _list_told(actions: Iterable[str], kind: str) -> list[str]:
    return list(dict.fromkeys(action for action in actions if action.startswith(kind)))
