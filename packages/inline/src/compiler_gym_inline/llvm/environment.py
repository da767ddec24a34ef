# SPDX-License-Identifier: MIT
"""The environment for inlining decisions, and its command line."""

import operator
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Literal, SupportsIndex

from compiler_gym.builds import split_command
from compiler_gym.core import DerivedObservation, Panes
from compiler_gym.envs.llvm import LlvmEnv
from compiler_gym.envs.llvm.validation import BugReport
from compiler_gym.errors import InvalidActionError, MinimizationError
from compiler_gym.service import SessionSource
from compiler_gym.spaces import Commandline, Reward
from compiler_gym_inline.llvm.actions import LEVEL_OF, REST, STYLE
from compiler_gym_inline.llvm.observations import feature_dictionary
from compiler_gym_inline.llvm.rewards import make_inline_rewards

__all__ = ["InlineCommandLine", "LlvmInlineEnv"]

_MODULE = "compiler_gym_inline.llvm"
_OLD_MODULE = "compiler_gym.tools.inline.llvm"
"""The module in states that were saved before it was in a package."""
_DECISIONS = "--decisions="


class InlineCommandLine(Commandline):
    """Decisions written as a command ``python -m compiler_gym_inline.llvm``."""

    @property
    def rest(self) -> int | None:
        """The action that leaves all further calls to LLVM; None if there is none."""
        return self[REST] if REST in self.names else None

    def to_string(
        self,
        actions: SupportsIndex | Iterable[SupportsIndex],
        *,
        level: str = "Oz",
        program: str = "input.bc",
    ) -> str:
        """Return the command that runs the pipeline of `level` on `program` with these decisions.

        LLVM decides all calls after the last of them.
        """
        several = [actions] if isinstance(actions, SupportsIndex) else actions
        letters = "".join(self.flags[operator.index(action)] for action in several)
        decisions = f"{_DECISIONS}{letters} " if letters else ""
        return f"python -m {_MODULE} -{level} {decisions}{program} -o output.bc"

    def from_string(self, string: str) -> list[int]:
        """Return the decisions of such a command, or of its letters alone.

        Raises `InvalidActionError` if `string` is neither.
        """
        arguments = split_command(string)
        if arguments[1:3] in (["-m", _MODULE], ["-m", _OLD_MODULE]):
            options = [argument for argument in arguments[3:] if argument.startswith(_DECISIONS)]
            letters = options[0].removeprefix(_DECISIONS) if options else ""
            is_invalid = len(options) > 1 or len(arguments) - len(options) not in (7, 4)
        else:
            letters = arguments[0] if arguments else ""
            is_invalid = len(arguments) > 1
        unknown = sorted(set(letters) - set(self.flags))
        if is_invalid or unknown:
            raise InvalidActionError(
                f"{string!r:.200} is not a list of inlining decisions"
                + (f": no decision {unknown[0]!r}" if unknown and not is_invalid else "")
                + f"; use the letters {', '.join(self.flags)}, or a command python -m {_MODULE}"
            )
        return [self.flags.index(letter) for letter in letters]


class LlvmInlineEnv(LlvmEnv):
    """Make the decisions of LLVM's inliner, one call at a time.

    The standard pipeline runs (-Oz, or -O3 for ``?goal=speed``) and stops at every call that can
    be inlined but need not be, in the inliner's own order.

    - Actions: ``default`` (LLVM's own choice), ``inline`` and ``no-inline``; in the action space
      ``InliningAndRest`` also ``rest``, which is LLVM's choice for this call and all later ones.
    - Observations: ``InlineFeatures``, LLVM's features of the call, ``CallSite``, and those of
      ``llvm-v0`` for the module, which is in the middle of its pipeline until the end.
    - Rewards: those of ``llvm-v0``. They add up to the saving of the whole pipeline; 1.0 of
      ``IrInstructionCountOz`` is the saving of -Oz.
    - End: when the pipeline ends; observations remain available. If a program has no such call,
      the episode ends with the first action.
    - Programs: those of ``llvm-v0``.

    With LLVM's own choice for every call, the result is byte for byte that of clang's level. A
    fork continues from the same call.

        >>> import compiler_gym
        >>> with compiler_gym.make("llvm-inline-v0", reward_space="IrInstructionCountOz") as env:
        ...     _ = env.reset(benchmark="cbench-v1/crc32")
        ...     terminated = False
        ...     while not terminated:
        ...         _, _, terminated, _, _ = env.step(env.action_space["default"])
        ...     round(env.episode_reward, 6)
        1.0
    """

    source: ClassVar[SessionSource] = SessionSource(
        "compiler_gym_inline.llvm.session:LlvmInlineSession"
    )
    command_line_styles: ClassVar[Mapping[str, Any]] = {STYLE: InlineCommandLine}
    state_observation: ClassVar[str | None] = "InlineStateHash"

    def __init__(
        self,
        *,
        derived_observation_spaces: Iterable[DerivedObservation | Mapping[str, Any]] = (),
        **options: Any,
    ) -> None:
        super().__init__(
            derived_observation_spaces=(feature_dictionary(), *derived_observation_spaces),
            **options,
        )

    @property
    def panes(self) -> Panes:
        """The panes for a module, and for the call to decide."""
        return replace(super().panes, question="CallSite")

    @property
    def level(self) -> str:
        """The level whose pipeline runs in this episode: ``Oz`` or ``O3``."""
        program = self.episode.program
        goal = None if program is None else program.uri.parameters.get("goal")
        return LEVEL_OF[goal or "size"]

    def commandline(self) -> str:
        """Return the command that repeats the episode; LLVM decides all further calls.

        ``opt`` itself can only select single calls through their source lines.
        """
        assert isinstance(self.action_space, InlineCommandLine)
        return self.action_space.to_string(self.actions, level=self.level)

    def _rewards(self) -> list[Reward]:
        return make_inline_rewards()

    def write_bug_report(
        self, folder: str | Path, kind: Literal["crash", "miscompile"] = "crash"
    ) -> BugReport:
        """Raise `MinimizationError`: ``opt``, which a report uses, cannot select single calls."""
        raise MinimizationError(
            "a bug report needs passes of opt, but this episode has decisions about calls; use "
            "`commandline()` to repeat them"
        )
