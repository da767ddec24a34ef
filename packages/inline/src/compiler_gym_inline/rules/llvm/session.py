# SPDX-License-Identifier: MIT
"""The session of a rule: the rule, and its effect on a set of programs. Runs only in a worker."""

from pathlib import Path
from typing import Any, ClassVar

from compiler_gym import _llvm
from compiler_gym.datasets import find_bundled_folder
from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidActionError,
    InvalidParameterError,
    UnknownNameError,
)
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    CompilerSession,
    DictSpec,
    ObservationSpec,
    ScalarSpec,
    SpaceSequenceSpec,
    TextSpec,
)
from compiler_gym_inline.rules.llvm.linking import Judgement, RuleBench
from compiler_gym_inline.rules.llvm.rule import MOST_CHARACTERS, Rule, read_header

__all__ = ["LlvmRuleSession"]

_BYTES = ScalarSpec(0, None, "int")
_SECONDS = "rule.seconds"
_MOST_SECONDS = 3600.0


class LlvmRuleSession(CompilerSession):
    """A rule, and the programs that it is judged on."""

    compiler_version: ClassVar[str] = _llvm.LLVM_VERSION
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = (
        ActionSpaceSpec(
            "LinkerRules",
            TextSpec(0, MOST_CHARACTERS),
            "Lines NAME = FORMULA; each replaces the rule for one decision. See `RuleInputs`.",
        ),
    )
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = (
        ObservationSpec(
            "RuleEffect",
            DictSpec(
                {
                    "rule": TextSpec(),
                    "programs": SpaceSequenceSpec(
                        DictSpec({"program": TextSpec(), "plain": _BYTES, "loaded": _BYTES})
                    ),
                }
            ),
            "The rule, and the loaded bytes of each program without a rule (`plain`) and with it.",
            platform_dependent=True,
            default={"rule": "", "programs": []},
        ),
        ObservationSpec(
            "RuleProblem",
            TextSpec(),
            "The problem with the last action: a text that is not a rule, or a program that the "
            "rule breaks, with the first decision that does so. Empty if there is none.",
            deterministic=False,
            default="",
        ),
        ObservationSpec(
            "LoadedBytes",
            _BYTES,
            "The loaded bytes of all programs with the rule; without a rule if it breaks one.",
            platform_dependent=True,
            default=0,
        ),
        ObservationSpec(
            "LoadedBytesPlain",
            _BYTES,
            "The loaded bytes of all programs with --policy size and the size plug-in, but "
            "without a rule.",
            platform_dependent=True,
            default=0,
        ),
        ObservationSpec("RuleText", TextSpec(), "The rule, as the plug-in reads it.", default=""),
        ObservationSpec(
            "RuleInputs",
            TextSpec(),
            "The header that documents the language, the inputs and the limits of rules.",
            default="",
        ),
    )

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        names = benchmark.contents.decode("utf-8", "replace").split("\n")
        folder = find_bundled_folder()
        # Only plain names: they become paths.
        missing = [n for n in names if "/" in n or not (folder / n / f"{n}.bc").is_file()]
        if missing:
            raise BenchmarkInitError(f"{benchmark.uri}: no bundled program {missing[0]!r:.100}")
        self._names = names
        self._bench = RuleBench(names, working_dir / "links")
        self._rule = Rule()
        self._problem = ""
        self._effect: Judgement | None = None

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Edit the rule and judge it; the episode ends with a rule that breaks a program.

        A text that is not a rule changes nothing but the problem.
        """
        if not isinstance(action, str):
            raise InvalidActionError(f"{action!r:.100} is not text")
        try:
            rule = self._rule.edit(action)
            effect = self._bench.judge(rule)
        except (InvalidParameterError, UnknownNameError) as error:
            self._problem = str(error)
            return False, None, False
        self._rule, self._problem, self._effect = rule, "", effect
        if effect.broken is not None:
            self._problem, self._effect = str(effect.broken), None
        return effect.broken is not None, None, False

    def get_observation(self, name: str) -> Any:
        """Return the plain value of observation `name`."""
        if name == "RuleText":
            return self._rule.text
        if name == "RuleProblem":
            return self._problem
        if name == "RuleInputs":
            return read_header()
        plain = self._bench.judge(Rule())
        if plain.broken is not None:
            raise BenchmarkInitError(f"without a rule, {plain.broken}")
        effect = self._effect or plain
        if name == "LoadedBytesPlain":
            return plain.total
        if name == "LoadedBytes":
            return effect.total
        if name != "RuleEffect":
            raise UnknownNameError(f"no observation space {name!r}")
        return {
            "rule": self._rule.text,
            "programs": [
                {"program": n, "plain": plain.loaded[n], "loaded": effect.loaded[n]}
                for n in self._names
            ],
        }

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Handle ``rule.seconds``, the time limit of one link; an empty value only returns it."""
        if key != _SECONDS:
            return None
        if value:
            try:
                seconds = float(value)
            except ValueError:
                seconds = 0.0
            if not 0 < seconds <= _MOST_SECONDS:
                raise InvalidParameterError(
                    f"{key} must be above 0 and at most {_MOST_SECONDS:g} (got {value!r})"
                )
            self._bench.seconds = seconds
        return f"{self._bench.seconds:g}"

    def moved(self, working_dir: Path) -> None:
        """Link in `working_dir` from now on."""
        seconds = self._bench.seconds
        self._bench = RuleBench(self._names, working_dir / "links", seconds=seconds)
