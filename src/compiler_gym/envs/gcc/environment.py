# SPDX-License-Identifier: MIT
"""The environment of GCC, with a property for each observation and its command lines."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import CompilerEnvState, DerivedObservation, Listing, Panes, RunnableEnv
from compiler_gym.datasets import Benchmark, Dataset, RunSpec
from compiler_gym.envs.gcc.actions import CHOICES, OPTION_THEN_VALUE, OutOfReachError, Replay
from compiler_gym.envs.gcc.datasets import make_datasets
from compiler_gym.envs.gcc.panes import ASSEMBLY, PANES
from compiler_gym.envs.gcc.programs.own import make_benchmark
from compiler_gym.envs.gcc.programs.source import compile_flags, is_cxx, unpack
from compiler_gym.envs.gcc.rewards import make_rewards
from compiler_gym.envs.gcc.state.settings import (
    CommandReader,
    check_choices,
    command_line,
    make_words,
)
from compiler_gym.envs.gcc.toolchain.gcc import DEFAULT_GCC
from compiler_gym.envs.gcc.toolchain.spec import GccSpec, get_spec
from compiler_gym.envs.gcc.toolchain.timeout import DEFAULT_SECONDS, check_timeout
from compiler_gym.envs.gcc.validation import validate
from compiler_gym.envs.gcc.validation.runs import compare_object
from compiler_gym.errors import InvalidActionError
from compiler_gym.sandbox import use_sandbox
from compiler_gym.service import SessionSource
from compiler_gym.spaces import Reward
from compiler_gym.validation import ValidationError, ValidationResult

__all__ = ["GccEnv"]


class GccEnv(RunnableEnv):
    """Choose the command-line options with which GCC compiles a program.

    - Actions: ``Categorical`` (default) sets or bumps one option, ``Choices`` sets all
      at once, ``OptionThenValue`` chooses an option and then its value.
    - Observations: source, RTL, assembly, object, their sizes and hashes, instructions
      by mnemonic, the choices and the command line; sizes also at -O0 to -O3 and -Os.
    - Rewards: bytes of assembly, object or code saved, plain or against -Os, -O2 and -O3.
    - End: never by itself; an episode is truncated when GCC refuses a combination of
      options, crashes, hangs or takes too much memory.
    - Programs: ``cbench-v1``, csmith's, files, and what `make_benchmark` makes.

    Nothing is compiled before something is observed, and no command line twice.

        >>> import compiler_gym
        >>> with compiler_gym.make("gcc-v0", reward_space="obj_size") as env:
        ...     _ = env.reset(benchmark="cbench-v1/crc32")
        ...     _, reward, *_ = env.step(env.action_space["-Os"])
        >>> reward > 0
        True
    """

    default_benchmark: ClassVar[str | None] = "benchmark://cbench-v1/qsort"
    state_observation: ClassVar[str | None] = "command_line"
    uri_keys: ClassVar[tuple[str, ...] | None] = ()
    listing: ClassVar[Listing] = ASSEMBLY

    def __init__(
        self,
        *,
        gcc_bin: str | Path = DEFAULT_GCC,
        datasets_site_path: Path | None = None,
        datasets: Iterable[Dataset] | None = None,
        rewards: Iterable[Reward] = (),
        derived_observation_spaces: Iterable[DerivedObservation | Mapping[str, Any]] = (),
        **options: Any,
    ) -> None:
        self.gcc_bin = str(gcc_bin)
        """The compiler: a name on PATH, a path, or ``docker:`` and the name of an image."""
        self._known_needs: tuple[Benchmark, tuple[str, tuple[str, ...]]] | None = None
        known = make_datasets(gcc_bin, datasets_site_path) if datasets is None else datasets
        super().__init__(
            SessionSource("compiler_gym.envs.gcc.session:GccSession", (("gcc_bin", self.gcc_bin),)),
            rewards=(*make_rewards(), *rewards),
            derived_observation_spaces=derived_observation_spaces,
            datasets=known,
            **options,
        )

    @property
    def panes(self) -> Panes:
        """What people look at of a program that GCC compiles."""
        return PANES

    @property
    def gcc_spec(self) -> GccSpec:
        """The compiler, its version and its options."""
        return get_spec(self.gcc_bin)

    @property
    def source(self) -> str:
        """The program's preprocessed source."""
        return self.observation["source"]

    @property
    def rtl(self) -> str:
        """GCC's last register transfer language."""
        return self.observation["rtl"]

    @property
    def asm(self) -> str:
        """The assembly."""
        return self.observation["asm"]

    @property
    def asm_size(self) -> int:
        """The size of the assembly in bytes."""
        return self.observation["asm_size"]

    @property
    def asm_hash(self) -> str:
        """The SHA-1 of the assembly."""
        return self.observation["asm_hash"]

    @property
    def instruction_counts(self) -> dict[str, int]:
        """How often each mnemonic occurs in the assembly."""
        return self.observation["instruction_counts"]

    @property
    def obj(self) -> bytes:
        """The object file."""
        return self.observation["obj"]

    @property
    def obj_size(self) -> int:
        """The size of the object file in bytes."""
        return self.observation["obj_size"]

    @property
    def obj_hash(self) -> str:
        """The SHA-1 of the object file."""
        return self.observation["obj_hash"]

    @property
    def text_size(self) -> int:
        """The size in bytes of the object's sections that hold code."""
        return self.observation["text_size"]

    @property
    def command_line(self) -> str:
        """The command that compiles the program as it is now."""
        return self.observation["command_line"]

    @property
    def choices(self) -> list[int]:
        """The number of the chosen setting of each option; -1 leaves it to the compiler.

        Setting it counts as one action, which replays and states repeat.
        """
        return self.observation["choices"].tolist()

    @choices.setter
    def choices(self, choices: Sequence[int]) -> None:
        *_, truncated, info = self._choose(choices)
        if truncated:
            raise info["error"]

    @property
    def timeout(self) -> float:
        """The seconds that one run of GCC may take; it lasts over resets, forks and pickles.

        Setting it raises `InvalidParameterError` for what is no number above 0.
        """
        if self.in_episode:
            return float(self.send_param("timeout", ""))
        return self.episode.run_settings.get("timeout", DEFAULT_SECONDS)

    @timeout.setter
    def timeout(self, seconds: float) -> None:
        self.episode.run_settings["timeout"] = check_timeout(seconds)
        if self.in_episode:
            self.send_param("timeout", str(seconds))

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which actions do something now, by their number; for `OptionThenValue`.

        Learners that know masks, such as MaskablePPO, call this.
        """
        if self.episode.selection.action_space_name == CHOICES:
            raise InvalidActionError(f"the actions of {CHOICES} have no numbers: expected another")
        if self.episode.selection.action_space_name == OPTION_THEN_VALUE:
            return self.observation["action_mask"].astype(bool)
        return np.ones(self.action_space.n, dtype=bool)  # type: ignore[attr-defined]  # discrete

    def commandline(self) -> str:
        """Return the command that compiles the program with what the episode has chosen."""
        replay = Replay(self.gcc_spec.options, self.episode.selection.action_space_name)
        choices, pending = replay.choices(self.actions)
        words = make_words(self.gcc_spec.options, choices)
        suffix, flags = self._program_needs()
        program = self.gcc_spec.gcc.program
        return command_line(program, words, flags, suffix=suffix, pending=pending)

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return actions of the action space that lead to what `commandline` chooses.

        Raises `InvalidActionError` when it is no command of this compiler, or sets a
        number that is too far away for actions that count; `apply` reaches any.
        """
        options = self.gcc_spec.options
        program = self.gcc_spec.gcc.program
        choices, pending = CommandReader(options, program).read(commandline)
        return Replay(options, self.episode.selection.action_space_name).actions(choices, pending)

    def apply(self, state: CompilerEnvState) -> None:
        """Reset to the program of `state` and choose what its command line says."""
        try:
            super().apply(state)
        except OutOfReachError:
            given = self._programs.find_given(state.benchmark, self.episode.program)
            self.reset(benchmark=given or state.benchmark)
            reader = CommandReader(self.gcc_spec.options, self.gcc_spec.gcc.program)
            self.choices = reader.read(state.commandline)[0]

    def make_benchmark(
        self,
        inputs: Any,
        copt: Iterable[str] | None = None,
        *,
        run: RunSpec | None = None,
    ) -> Benchmark:
        """Return a program made of files; see `compiler_gym.envs.gcc.make_benchmark`."""
        return make_benchmark(inputs, copt, run=run)

    def validate(
        self,
        state: CompilerEnvState | None = None,
        *,
        rungs: Iterable[str] | None = None,
        sandbox: str | None = None,
    ) -> ValidationResult:
        """Replay `state` (default: the current one) in a fresh worker, run it and compare.

        `rungs` names the checks: see ``compiler_gym.envs.gcc.validation.RUNGS``. None
        makes all of them. `sandbox` names what the program is kept from when it runs, by default
        what the environment's limits say: see `compiler_gym.sandbox`.
        """
        with use_sandbox(sandbox if sandbox is not None else self.limits.sandbox):
            return validate(self.state if state is None else state, self._twin, rungs)

    def behaviour_errors(self) -> tuple[ValidationError, ...]:
        """Link the program as it is now, run it on its inputs and return what is wrong.

        Nothing is returned where it cannot be told: `validate` says so. Raises
        `ValidationUnavailableError` where programs of the compiler are not run.
        """
        benchmark = self.benchmark
        assert benchmark is not None
        finding = compare_object(
            self.gcc_bin, benchmark, lambda: self.observation["obj"], self.commandline()
        )
        return finding.errors

    def _choose(self, choices: Sequence[int]) -> Any:
        """Apply the action of `Choices` that sets `choices`, whatever the action space is."""
        chosen = [choice + 1 for choice in check_choices(choices, self.gcc_spec.options)]
        with self.episode.selection.use_actions(CHOICES):
            return self.multistep([chosen])

    def _program_needs(self) -> tuple[str, tuple[str, ...]]:
        """Return the ending of the program's preprocessed source, and the flags that it needs."""
        benchmark = self.episode.program
        if benchmark is None:
            return ".i", ()
        if self._known_needs is None or self._known_needs[0] is not benchmark:
            program = unpack(benchmark.contents)
            needs = ".ii" if is_cxx(program) else ".i", compile_flags(program)
            self._known_needs = benchmark, needs
        return self._known_needs[1]

    def _state_hash(self) -> str | None:
        return self.observation["obj_hash"]

    def _render_text(self) -> str:
        steps = len(self.actions)
        head = f"# {self.episode.require().benchmark} after {steps} action{'s' * (steps != 1)}"
        return f"{head}\n{self.commandline()}\n{self.asm}"
