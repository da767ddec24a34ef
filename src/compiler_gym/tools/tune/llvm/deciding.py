# SPDX-License-Identifier: MIT
"""Convert the decisions of a search for size between journal actions and plans.

An action is the name of a pass, an option as ``name=value``, ``flag -fx`` for the front end or
``linker -Wl,-x``. A state is a list of actions in a canonical order, so equal states compare equal.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain

from compiler_gym.envs.llvm.actions import ACTION_SPACES, codegen_options
from compiler_gym.envs.llvm.toolchain import CLEAR, join_pipelines, split_passes
from compiler_gym.errors import PlanError
from compiler_gym.session import CommandlineSpec
from compiler_gym.tools.tune import BinaryPlan, State
from compiler_gym.tools.tune.llvm.flags import POLICY_PASSES, SMALL

SPACE = "PassesAndCodegen"
"""The action space that the search uses."""
DEFAULT_PASSES = "default<Oz>"
"""The pipeline for plans without passes."""
BASE = "-Oz"
"""The action for `DEFAULT_PASSES`."""
POLICY = "policy"
"""The action for `POLICY_PASSES`, which run in the linker, after those of the compiler."""
FLAG, LINKER, PLUG_IN = "flag ", "linker ", "plugin "
UNSAFE = frozenset({"enable-ipra"})
"""Options with which LLVM miscompiles some programs; use them only if tests check the result.

Interprocedural register allocation fails with ``long double``, and in shared libraries."""
_SAVING = "outliner-benefit-threshold"
SAVINGS = tuple(f"{_SAVING}={count}" for count in (12, 20, 8, 4))
"""Minimum number of instructions that an outlined function must save; values that shrink most
programs come first. Without this bound files grow, because each function has unwind tables. The
option applies to a whole process, so it cannot be set per module or in an action space."""
LATE = (
    "enable-pre=false",
    "two-entry-phi-node-folding-threshold=2",
    *(f"inline-threshold={value}" for value in (0, 5, 15, 30, 60)),
    "inlinehint-threshold=5",
    "force-remove-attribute=minsize",
)
"""Options of passes, which can only be passed to a linker that runs them. They include inlining
thresholds (LLVM's own is 5 in a minsize function) and removing the minsize attribute, which makes
x86-64 push and pop constants: the unwind tables then grow by more than the code shrinks."""
_OUTLINED = "enable-machine-outliner=always"
"""Enables the outliner."""
_FIXED = "relocation-model"
"""Option that the build sets, not the search."""


@cache
def items() -> dict[str, str]:
    """Return the text of every pass and option, by the name of its action."""
    (space,) = (candidate.space for candidate in ACTION_SPACES if candidate.name == SPACE)
    assert isinstance(space, CommandlineSpec)
    return {item.name: item.flag for item in space.items}


def split(actions: Sequence[str]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the passes among `actions`, and the code generator options that they set."""
    actions = [action for action in actions if not action.startswith((FLAG, LINKER, PLUG_IN))]
    passes = tuple(action for action in actions if "=" not in action or "<" in action)
    settings = [action.partition("=") for action in actions if action not in passes]
    return passes, {n: v for n, _, v in settings if v != codegen_options.DEFAULT and n != _FIXED}


def order_actions(actions: Iterable[str]) -> State:
    """Return the passes, then each option once, then compiler flags and linker flags."""
    actions = list(actions)
    passes, options = split(actions)
    settings = (f"{name}={value}" for name, value in sorted(options.items()))
    others = (_list_actions(actions, kind) for kind in (FLAG, LINKER, PLUG_IN))
    return (*passes, *settings, *chain.from_iterable(others))


def with_action(state: State, action: str) -> State:
    """Return `state` with the option or flag `action`, replacing any other setting."""
    actions = (_OUTLINED, action) if action in SAVINGS else (action,)
    names = {setting.partition("=")[0] for setting in actions}
    return order_actions(
        (*(setting for setting in state if setting.partition("=")[0] not in names), *actions)
    )


def without(state: State) -> dict[str, State]:
    """Return variants of `state` with one decision removed, by the decision's name in a plan."""
    passes, options = split(state)
    others = state[len(passes) :]
    variants: dict[str, State] = {}
    if passes != (BASE,):
        variants["passes"] = (BASE, *others)
    for action in others:
        name = f"option {action}" if action.partition("=")[0] in options else action
        variants[name] = tuple(other for other in state if other != action)
    return variants


def without_outliner(state: State) -> State:
    """Return `state` without the outliner and its bound."""
    return tuple(action for action in state if action not in (_OUTLINED, *SAVINGS))


def make_plan(state: State, plan: BinaryPlan) -> BinaryPlan:
    """Return `plan` with the decisions of `state`."""
    passes, options = split(state)
    if passes == (POLICY,):
        plan = replace(plan, method=SMALL, scope="", passes=POLICY_PASSES)
    else:
        # An empty list of passes means the default, so use a pass that does nothing.
        pipeline = join_pipelines(items()[name] for name in passes) or CLEAR
        plan = replace(plan, passes="" if pipeline == DEFAULT_PASSES else pipeline)
        options = {name: value for name, value in options.items() if f"{name}={value}" not in LATE}
    return replace(
        plan,
        options=options,
        flags=tuple(flag.removeprefix(FLAG) for flag in _list_actions(state, FLAG)),
        linker=tuple(flag.removeprefix(LINKER) for flag in _list_actions(state, LINKER)),
        plugin=tuple(name.removeprefix(PLUG_IN) for name in _list_actions(state, PLUG_IN)),
    )


def make_state(plan: BinaryPlan) -> State:
    """Return the state of `plan`; raise `PlanError` for a pass that is not an action."""
    names = {text: name for name, text in items().items()} | {POLICY_PASSES: POLICY}
    whole = {"": [DEFAULT_PASSES], CLEAR: [], POLICY_PASSES: [POLICY_PASSES]}
    steps = whole[plan.passes] if plan.passes in whole else split_passes(plan.passes)
    for step in steps:
        if step not in names:
            raise PlanError(f"the plan of {plan.name} has {step!r}, which is not an action")
    options = (f"{name}={value}" for name, value in plan.options.items())
    options = (option for option in options if plan.passes == POLICY_PASSES or option not in LATE)
    flags = (f"{FLAG}{flag}" for flag in plan.flags)
    linker = (f"{LINKER}{word}" for word in plan.linker)
    plugin = (f"{PLUG_IN}{name}" for name in plan.plugin)
    return order_actions((*(names[step] for step in steps), *options, *flags, *linker, *plugin))


def of_modules(options: Mapping[str, str]) -> dict[str, str]:
    """Return the `options` that can be set per module, as a session does."""
    settings = (f"{name}={value}" for name, value in options.items())
    excluded = (*SAVINGS, *LATE)
    return dict(setting.split("=", 1) for setting in settings if setting not in excluded)


def choices(refused: Collection[str] = ()) -> Iterator[str]:
    """Yield every option except those `refused`, with each value, the most promising first."""
    yield from SAVINGS
    ranked = sorted(
        (gain, option.name, value)
        for option in codegen_options.OPTIONS
        if option.name != _FIXED and option.name not in refused
        for value, gain in zip(option.values[1:], option.gains, strict=True)
    )
    yield from (f"{name}={value}" for _, name, value in ranked)


def _list_actions(actions: Iterable[str], kind: str) -> list[str]:
    return list(dict.fromkeys(action for action in actions if action.startswith(kind)))
