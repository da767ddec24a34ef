# SPDX-License-Identifier: MIT
"""The GCC environment, with a property for each observation."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from compiler_gym.core import CompilerEnvState, DerivedObservation, Listing, Panes, RunnableEnv
from compiler_gym.datasets import Benchmark, Dataset, RunSpec
from compiler_gym.errors import InvalidActionError
from compiler_gym.sandbox import use_sandbox
from compiler_gym.service import SessionSource
from compiler_gym.spaces import Reward
from compiler_gym.validation import ValidationError, ValidationResult
from compiler_gym_gcc.actions import CHOICES, OPTION_THEN_VALUE, OutOfReachError, Replay
from compiler_gym_gcc.datasets import make_datasets
from compiler_gym_gcc.panes import ASSEMBLY, PANES
from compiler_gym_gcc.programs.own import make_benchmark
from compiler_gym_gcc.programs.source import compile_flags, is_cxx, unpack
from compiler_gym_gcc.rewards import make_rewards
from compiler_gym_gcc.state.settings import (
    CommandReader,
    check_choices,
    command_line,
    make_words,
)
from compiler_gym_gcc.toolchain.gcc import DEFAULT_GCC
from compiler_gym_gcc.toolchain.spec import GccSpec, get_spec
from compiler_gym_gcc.toolchain.timeout import DEFAULT_SECONDS, check_timeout
from compiler_gym_gcc.validation import validate
from compiler_gym_gcc.validation.runs import compare_object

__all__ = ["GccEnv"]


class GccEnv(RunnableEnv):
    """Choose the command-line options for compiling a program with GCC.

    - Actions: ``Categorical`` (default) sets or bumps one option, ``Choices`` sets all options at
      once, ``OptionThenValue`` chooses an option and then its value.
    - Observations: source, RTL, assembly, object, their sizes and hashes, instructions by
      mnemonic, the choices and the command line; sizes also at -O0 to -O3 and -Os.
    - Rewards: bytes of assembly, object or code saved, plain or relative to -Os, -O2 and -O3.
    - End: an episode never ends by itself; it is truncated if GCC rejects a combination of
      options, crashes, hangs or uses too much memory.
    - Programs: ``cbench-v1``, csmith's, files, and the results of `make_benchmark`.

    Compilation happens only for observations, and at most once for each command line.

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
        datasets_ = make_datasets(gcc_bin, datasets_site_path) if datasets is None else datasets
        super().__init__(
            SessionSource("compiler_gym_gcc.session:GccSession", (("gcc_bin", self.gcc_bin),)),
            rewards=(*make_rewards(), *rewards),
            derived_observation_spaces=derived_observation_spaces,
            datasets=datasets_,
            **options,
        )

    @property
    def panes(self) -> Panes:
        """The views of a GCC program."""
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
        """The last dump of GCC's register transfer language."""
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
        """The number of occurrences of each mnemonic in the assembly."""
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
        """The size in bytes of the object's code sections."""
        return self.observation["text_size"]

    @property
    def command_line(self) -> str:
        """The command that compiles the program with the current options."""
        return self.observation["command_line"]

    @property
    def choices(self) -> list[int]:
        """The number of the chosen setting of each option; -1 for the compiler's default.

        Assigning to it counts as one action, which replays and states repeat.
        """
        return self.observation["choices"].tolist()

    @choices.setter
    def choices(self, choices: Sequence[int]) -> None:
        *_, truncated, info = self._choose(choices)
        if truncated:
            raise info["error"]

    @property
    def timeout(self) -> float:
        """The time limit of one run of GCC in seconds; kept across resets, forks and pickles.

        Assigning anything but a number above 0 raises `InvalidParameterError`.
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
        """Return a mask of the valid actions, by number; useful for `OptionThenValue`.

        Learners that support masks, such as MaskablePPO, call this.
        """
        if self.episode.selection.action_space_name == CHOICES:
            raise InvalidActionError(f"{CHOICES} has no action masks; use another action space")
        if self.episode.selection.action_space_name == OPTION_THEN_VALUE:
            return self.observation["action_mask"].astype(bool)
        return np.ones(self.action_space.n, dtype=bool)  # type: ignore[attr-defined]  # discrete

    def commandline(self) -> str:
        """Return the command that compiles the program with the episode's choices."""
        replay = Replay(self.gcc_spec.options, self.episode.selection.action_space_name)
        choices, pending = replay.choices(self.actions)
        words = make_words(self.gcc_spec.options, choices)
        suffix, flags = self._program_needs()
        program = self.gcc_spec.gcc.program
        return command_line(program, words, flags, suffix=suffix, pending=pending)

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return actions of this action space that lead to the choices in `commandline`.

        Raises `InvalidActionError` if it is not a command of this compiler, or if it sets a number
        that takes too many actions to count to; `apply` does not have this limit.
        """
        options = self.gcc_spec.options
        program = self.gcc_spec.gcc.program
        choices, pending = CommandReader(options, program).read(commandline)
        return Replay(options, self.episode.selection.action_space_name).actions(choices, pending)

    def apply(self, state: CompilerEnvState) -> None:
        """Reset to the program of `state` and apply the choices of its command line."""
        try:
            super().apply(state)
        except OutOfReachError:
            program = self._programs.find_given(state.benchmark, self.episode.program)
            self.reset(benchmark=program or state.benchmark)
            reader = CommandReader(self.gcc_spec.options, self.gcc_spec.gcc.program)
            self.choices = reader.read(state.commandline)[0]

    def make_benchmark(
        self,
        inputs: Any,
        copt: Iterable[str] | None = None,
        *,
        run: RunSpec | None = None,
    ) -> Benchmark:
        """Return a program made from files; see `compiler_gym_gcc.make_benchmark`."""
        return make_benchmark(inputs, copt, run=run)

    def validate(
        self,
        state: CompilerEnvState | None = None,
        *,
        rungs: Iterable[str] | None = None,
        sandbox: str | None = None,
    ) -> ValidationResult:
        """Replay `state` (default: the current one) in a new worker, run the program and compare.

        `rungs` names the checks; see ``compiler_gym_gcc.validation.RUNGS``. None runs all of
        them. `sandbox` names the sandbox for running the program (default: the one in the
        environment's limits); see `compiler_gym.sandbox`.
        """
        with use_sandbox(sandbox if sandbox is not None else self.limits.sandbox):
            return validate(self.state if state is None else state, self._twin, rungs)

    def behaviour_errors(self) -> tuple[ValidationError, ...]:
        """Link the current program, run it on its inputs and return the differences.

        The result is also empty if the program cannot be checked; `validate` reports this. Raises
        `ValidationUnavailableError` if the compiler's programs cannot be run here.
        """
        benchmark = self.benchmark
        assert benchmark is not None
        finding = compare_object(
            self.gcc_bin, benchmark, lambda: self.observation["obj"], self.commandline()
        )
        return finding.errors

    def _choose(self, choices: Sequence[int]) -> Any:
        """Apply the action of `Choices` that sets `choices`, in any action space."""
        action = [choice + 1 for choice in check_choices(choices, self.gcc_spec.options)]
        with self.episode.selection.use_actions(CHOICES):
            return self.multistep([action])

    def _program_needs(self) -> tuple[str, tuple[str, ...]]:
        """Return the suffix of the program's preprocessed source, and the flags that it needs."""
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
