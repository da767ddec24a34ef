# SPDX-License-Identifier: MIT
"""How the toy fulfils the contract: one program, rewritten in place. Runs only in a worker."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from compiler_gym.errors import BenchmarkInitError, InvalidActionError, UnknownNameError
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    CompilerSession,
    ObservationSpec,
)
from stack_language._language import CYCLES, OPCODES, RULES, parse, sites, text
from stack_language.actions import ACTION_SPACES, MOST_ROUNDS, sites_space
from stack_language.observations import OBSERVATION_SPACES

__all__ = ["StackSession"]

Outcome = tuple[bool, ActionSpaceSpec | None, bool]


class StackSession(CompilerSession):
    """One program of the stack language and the rules applied to it."""

    compiler_version: ClassVar[str] = "0.1.0"
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = ACTION_SPACES
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = OBSERVATION_SPACES

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        try:
            self.program = parse(benchmark.contents)
        except ValueError as error:
            raise BenchmarkInitError(f"cannot read {benchmark.uri}: {error}") from error
        self.initial = list(self.program)
        self._apply = {
            "Rules": self._apply_rule,
            "Schedule": self._apply_schedule,
            "Sites": self._apply_at_site,
        }[action_space.name]
        if action_space.name == "Sites":
            self.initial_action_space = sites_space(max(1, len(self._sites())))

    def apply_action(self, action: Any) -> Outcome:
        """Rewrite the program as `action` says."""
        before = list(self.program)
        end, space = self._apply(action)
        return end, space, self.program == before

    def get_observation(self, name: str) -> Any:
        """Return the plain value of observation `name`."""
        if name not in _COMPUTE:
            raise UnknownNameError(f"no observation space {name!r}")
        return _COMPUTE[name](self)

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Answer ``stack.sites`` with the number of places at which rule `value` applies."""
        if key != "stack.sites" or value not in RULES:
            return None
        return str(len(sites(self.program, value)))

    def _apply_rule(self, action: int) -> tuple[bool, None]:
        if not 0 <= action < len(RULES):
            raise InvalidActionError(f"{action!r} is not in [0, {len(RULES)})")
        self._sweep(list(RULES)[action])
        return False, None

    def _apply_schedule(self, action: dict[str, Any]) -> tuple[bool, None]:
        if sorted(action["order"]) != list(range(len(RULES))):
            raise InvalidActionError(f"{action['order']!r} is not an order of the rules")
        if not 1 <= action["rounds"] <= MOST_ROUNDS:
            raise InvalidActionError(f"{action['rounds']!r} rounds: expected 1 to {MOST_ROUNDS}")
        for _ in range(action["rounds"]):
            for number in action["order"]:
                self._sweep(list(RULES)[int(number)])
        return True, None

    def _apply_at_site(self, action: int) -> tuple[bool, ActionSpaceSpec | None]:
        places = self._sites()
        if places:
            if not 0 <= action < len(places):
                raise InvalidActionError(f"{action!r} is not in [0, {len(places)})")
            self._rewrite(*places[action])
        left = len(self._sites())
        return left == 0, sites_space(left) if left else None

    def _sites(self) -> list[tuple[str, int]]:
        return [(rule, at) for rule in RULES for at in sites(self.program, rule)]

    def _sweep(self, rule: str) -> None:
        for at in reversed(sites(self.program, rule)):
            self._rewrite(rule, at)

    def _rewrite(self, rule: str, at: int) -> None:
        rewrite = RULES[rule](self.program, at)
        if rewrite is not None:  # it may be gone: two places can overlap
            count, instead = rewrite
            self.program[at : at + count] = instead


def _opcodes(session: StackSession) -> list[int]:
    counts = Counter(opcode for opcode, _ in session.program)
    return [counts[opcode] for opcode in OPCODES]


_COMPUTE: dict[str, Callable[[StackSession], Any]] = {
    "Text": lambda s: text(s.program),
    "Opcodes": _opcodes,
    "Size": lambda s: len(s.program),
    "Cycles": lambda s: sum(CYCLES[opcode] for opcode, _ in s.program),
    "SizeAtReset": lambda s: len(s.initial),
    "CyclesAtReset": lambda s: sum(CYCLES[opcode] for opcode, _ in s.initial),
}
