# SPDX-License-Identifier: MIT
"""How GCC fulfils the contract: a choice for every option, and one program to compile.

Runs only in a worker. The state is the choices and nothing else; nothing is
compiled before somebody looks, and the same command line is never compiled twice.
"""

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from compiler_gym.envs.gcc.actions import (
    CATEGORICAL,
    action_spaces,
    apply_move,
    moves,
    values_of,
)
from compiler_gym.envs.gcc.machine.build import Builder, is_lasting
from compiler_gym.envs.gcc.machine.gcc import DEFAULT_GCC
from compiler_gym.envs.gcc.machine.options import ABSENT
from compiler_gym.envs.gcc.machine.products import digest, instruction_counts, text_size
from compiler_gym.envs.gcc.machine.settings import checked, command_line, words_of
from compiler_gym.envs.gcc.machine.spec import GccSpec, get_spec
from compiler_gym.envs.gcc.observations import BASELINES, COSTS, RUN_COSTS, observation_spaces
from compiler_gym.envs.gcc.programs.memo import Facts, Memo, memo_of
from compiler_gym.envs.gcc.programs.preprocessed import Preprocessed, Sources
from compiler_gym.envs.gcc.programs.source import compile_flags, is_cxx, unpack
from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerDiagnosticError,
    CompilerGymError,
    InvalidActionError,
    InvalidParameterError,
    SessionError,
    UnknownNameError,
)
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    CompilerSession,
    ObservationSpaceSpec,
)

if TYPE_CHECKING:
    from compiler_gym.envs.gcc.machine.running import Running

__all__ = ["GccSession"]

_RUN_COUNTS = ("runtime_observation_count", "runtime_warmup_runs_count")
Step = tuple[bool, ActionSpaceSpec | None, bool]


class GccSession(CompilerSession):
    """One program and the settings it is compiled with."""

    compiler_version: ClassVar[str] = ""
    action_spaces: ClassVar[tuple[ActionSpaceSpec, ...]] = ()
    observation_spaces: ClassVar[tuple[ObservationSpaceSpec, ...]] = ()
    spec: ClassVar[GccSpec]
    """The compiler that `prepare` was told."""
    _moves: ClassVar[tuple[Any, ...]]

    @classmethod
    def prepare(cls, options: dict[str, str]) -> "type[GccSession]":
        """Return the session of the compiler that the option ``gcc_bin`` names."""
        spec = get_spec(options.get("gcc_bin", DEFAULT_GCC))
        facts = {
            "spec": spec,
            "compiler_version": spec.version,
            "action_spaces": action_spaces(spec.options),
            "observation_spaces": observation_spaces(spec.options),
            "_moves": moves(spec.options),
            "__doc__": cls.__doc__,
        }
        return type(cls.__name__, (cls,), facts)

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        spec = self.spec
        self._choices = [ABSENT] * len(spec.options)
        self._pending: int | None = None
        self._action_space = action_space.name
        self._sources = Sources(spec, unpack(benchmark.contents), working_dir)
        self._sources.start()
        self._builder = Builder(spec.gcc, lambda words: self._read(words).compiled, working_dir)
        self._words: list[str] | None = []
        self._benchmark = benchmark
        self._running: Running | None = None
        self._run_counts: dict[str, str] = {}

    def apply_action(self, action: Any) -> Step:
        """Choose settings; a list is an action of `Choices`, whatever the action space."""
        if isinstance(action, list):
            return self._choose_all([choice - 1 for choice in action])
        if self._action_space == CATEGORICAL:
            return self._move(action)
        return self._choose_stepwise(action)

    def get_observation(self, name: str) -> Any:
        """Return the plain value of observation `name`, compiling if it must."""
        own = _OWN.get(name)
        if own is not None:
            return own(self)
        if name in _PRODUCTS:
            return _PRODUCTS[name](self, self._current_words())
        cost, _, level = name.rpartition("_")
        if cost in COSTS and level in BASELINES:
            return self._fact(cost, [BASELINES[level]])
        if name in _FACTS:
            return self._fact(name, self._current_words())
        if name == "runtime" or name in RUN_COSTS:
            return self._measured(name, self._current_words())
        if cost in RUN_COSTS and level in BASELINES:
            return self._measured(cost, [BASELINES[level]])
        raise UnknownNameError(f"no observation space {name!r}")

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        """Handle ``timeout`` and ``limits.runtime_observation_count`` and its like.

        The timeout is the seconds that one run of GCC may take; empty asks for them.
        """
        name = key.removeprefix("limits.")
        if name in _RUN_COUNTS:
            self._run_counts[name] = value
            if self._running is not None:
                self._running.set(name, value)
            return value
        if key != "timeout":
            return None
        if value:
            self._builder.timeout = _seconds(value)
        return f"{self._builder.timeout:g}"

    def moved(self, working_dir: Path) -> None:
        """Compile in `working_dir` from now on."""
        self._builder.moved(working_dir)
        self._sources.moved(working_dir)

    def _choose_all(self, choices: list[int]) -> Step:
        choices = checked(choices, self.spec.options)
        same = choices == self._choices and self._pending is None
        self._choices, self._words, self._pending = list(choices), None, None
        return False, None, same

    def _move(self, action: Any) -> Step:
        if type(action) is not int or not 0 <= action < len(self._moves):
            raise InvalidActionError(f"{action!r} is not in [0, {len(self._moves)})")
        changed = apply_move(self.spec.options, self._choices, self._moves[action])
        if changed:
            self._words = None
        return False, None, not changed

    def _choose_stepwise(self, action: Any) -> Step:
        """Choose an option, or the value of the one chosen; nothing, if the mask says so."""
        if type(action) is not int or action < 0:
            raise InvalidActionError(f"expected the number of an action, found {action!r}")
        if self._pending is None:
            if action >= len(self.spec.options):
                return False, None, True
            self._pending = action
            return False, None, False
        values = values_of(self.spec.options[self._pending])
        if action >= len(values):
            return False, None, True
        self._choices[self._pending] = values[action]
        self._pending, self._words = None, None
        return False, None, False

    def _current_words(self) -> list[str]:
        if self._words is None:
            self._words = words_of(self.spec.options, self._choices)
        return self._words

    def _read(self, words: Sequence[str]) -> Preprocessed:
        return self._sources.read(words, self._builder.timeout)

    def _memo(self, words: list[str]) -> Memo:
        """Return what is known of the program as it is preprocessed under `words`."""
        return memo_of(self._sources.facts_path(self._read(words).digest))

    def _fact(self, name: str, words: list[str]) -> Any:
        """Return one fact of the program compiled with `words`, from the memo if it is known."""
        command, memo = " ".join(words), self._memo(words)
        facts = memo.facts(command)
        if name in facts:
            return facts[name]
        if "error" in facts:
            raise _blamed(facts["error"], words)
        computed = _FACTS[name](self, words)
        memo.add(command, computed)
        return computed[name]

    def _measured(self, name: str, words: list[str]) -> Any:
        """Run the program and return what was measured; counted instructions are remembered."""
        running, compute = self._runs(), _run_computations()[name]
        if name != "runtime_instructions":
            return compute(running, words)
        fact = f"{name} {running.identity()}"
        command, memo = " ".join(words), self._memo(words)
        known = memo.facts(command).get(fact)
        if known is None:
            known = compute(running, words)
            memo.add(command, {fact: known})
        return known

    def _runs(self) -> "Running":
        if self._running is None:
            from compiler_gym.envs.gcc.machine.running import Running  # loads what only runs need

            self._running = Running(self._benchmark, lambda: self._builder)
            for key, value in self._run_counts.items():
                self._running.set(key, value)
        return self._running

    def _product(self, kind: Callable[[Builder, list[str]], bytes], words: list[str]) -> bytes:
        command, memo = " ".join(words), self._memo(words)
        facts = memo.facts(command)
        if "error" in facts:
            raise _blamed(facts["error"], words)
        try:
            return kind(self._builder, words)
        except CompilerDiagnosticError as error:
            if is_lasting(error):
                memo.add(command, {"error": str(error)})
            raise _blamed(str(error), words) from error

    def _asm_facts(self, words: list[str]) -> Facts:
        text = self._product(Builder.assembly, words)
        return {"asm_size": len(text), "asm_hash": digest(text)}

    def _obj_facts(self, words: list[str]) -> Facts:
        data = self._product(Builder.object, words)
        facts: Facts = {"obj_size": len(data), "obj_hash": digest(data)}
        with contextlib.suppress(SessionError):  # an object that is no ELF
            facts["text_size"] = text_size(data)
        return facts

    def _text_facts(self, words: list[str]) -> Facts:
        return {"text_size": text_size(self._product(Builder.object, words))}

    def _counts(self, words: list[str]) -> Facts:
        text = self._product(Builder.assembly, words).decode(errors="replace")
        return {"instruction_counts": json.dumps(instruction_counts(text))}

    def _source(self) -> str:
        text = self._read(self._current_words()).text
        return _text(b"".join(text.files[unit] for unit in text.units))

    def _command_line(self) -> str:
        pending = None if self._pending is None else self.spec.options[self._pending].name
        suffix = ".ii" if is_cxx(self._sources.program) else ".i"
        words, flags = self._current_words(), compile_flags(self._sources.program)
        return command_line(self.spec.gcc.program, words, flags, suffix=suffix, pending=pending)

    def _action_mask(self) -> bytes:
        width = len(self.spec.options)
        values = 0 if self._pending is None else len(values_of(self.spec.options[self._pending]))
        allowed = values or width
        return bytes([1] * allowed + [0] * (self._mask_width() - allowed))

    @classmethod
    def _mask_width(cls) -> int:
        return next(s.space.shape[0] for s in cls.observation_spaces if s.name == "action_mask")  # type: ignore[union-attr]  # a box


def _run_computations() -> "Mapping[str, Callable[[Running, list[str]], Any]]":
    from compiler_gym.envs.gcc.machine.running import COMPUTE

    return COMPUTE


def _blamed(message: str, words: list[str]) -> CompilerGymError:
    """Return the error of a compilation: the program's where no setting can have caused it."""
    if words:
        return CompilerDiagnosticError(message)
    return BenchmarkInitError(f"the program does not compile:\n{message}")


def _seconds(value: str) -> float:
    try:
        seconds = float(value)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise InvalidParameterError(f"timeout is {value!r}: expected seconds above 0")
    return seconds


def _text(data: bytes) -> str:
    return data.decode(errors="replace")


_OWN: dict[str, Callable[[GccSession], Any]] = {
    "source": GccSession._source,
    "choices": lambda s: list(s._choices),
    "command_line": GccSession._command_line,
    "action_mask": GccSession._action_mask,
}
_PRODUCTS: dict[str, Callable[[GccSession, list[str]], Any]] = {
    "asm": lambda s, words: _text(s._product(Builder.assembly, words)),
    "obj": lambda s, words: s._product(Builder.object, words),
    "rtl": lambda s, words: _text(s._product(Builder.rtl, words)),
}
_FACTS: dict[str, Callable[[GccSession, list[str]], Facts]] = {
    "asm_size": GccSession._asm_facts,
    "asm_hash": GccSession._asm_facts,
    "instruction_counts": GccSession._counts,
    "obj_size": GccSession._obj_facts,
    "obj_hash": GccSession._obj_facts,
    "text_size": GccSession._text_facts,
}
