# SPDX-License-Identifier: MIT
"""What users hold: the environment, its command line, and programs made by hand."""

import operator
import shlex
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar, Literal, SupportsIndex

from compiler_gym.core import CompilerEnvState, DerivedObservation, RunnableEnv
from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset, RunSpec
from compiler_gym.envs.llvm.datasets import make_datasets
from compiler_gym.envs.llvm.machine.engine import run_engine
from compiler_gym.envs.llvm.observations import TABLE
from compiler_gym.envs.llvm.observations.derived import derived_observations
from compiler_gym.envs.llvm.programs import source
from compiler_gym.envs.llvm.programs.builds import (
    BenchmarkFromCommandLine,
    make_benchmark_from_command_line,
)
from compiler_gym.envs.llvm.rewards import make_rewards
from compiler_gym.envs.llvm.validation import QUICK, validate
from compiler_gym.envs.llvm.validation.bug_report import BugReport, write_bug_report
from compiler_gym.envs.llvm.validation.runs import compare_module
from compiler_gym.errors import InvalidActionError, InvalidParameterError, MinimizationError
from compiler_gym.service import SessionSource
from compiler_gym.spaces import Commandline, Reward
from compiler_gym.validation import ValidationError, ValidationResult, chosen_cases

__all__ = [
    "LlvmCommandLine",
    "LlvmEnv",
    "compute_observation",
    "merge_benchmarks",
    "observation_spaces",
    "reward_spaces",
    "split_benchmark_by_function",
]

SOURCE = SessionSource("compiler_gym.envs.llvm.session:LlvmSession")
_CLEAR = "invalidate<all>"
_OPT_OPTIONS = ("-", "-S", "-discard-value-names", "--discard-value-names")
"""Options of ``opt`` that are no action."""


class LlvmCommandLine(Commandline):
    """Actions that are written as one run of ``opt``."""

    flags_differ = False  # several actions of CompilerGym 0.2.5 are one pass today

    def to_string(
        self, actions: SupportsIndex | Iterable[SupportsIndex], *, program: str = "input.bc"
    ) -> str:
        """Return the ``opt`` command that applies `actions` to `program`.

        Analyses are cleared between actions and value names are not kept, as in
        the environment: the command gives the same bytes.
        """
        pipeline = self.pipeline(actions)
        passes = f"-passes={shlex.quote(pipeline)} " if pipeline else ""
        return f"opt -discard-value-names {passes}{program} -o output.bc"

    def pipeline(self, actions: SupportsIndex | Iterable[SupportsIndex]) -> str:
        """Return the pass pipeline that `actions`, one or several, stand for."""
        several = [actions] if isinstance(actions, SupportsIndex) else actions
        return f",{_CLEAR},".join(self.flags[operator.index(action)] for action in several)

    def from_string(self, string: str) -> list[int]:
        """Return the actions of an ``opt`` command or of a bare pass pipeline.

        Raises `InvalidActionError` when a part of it is not in this action space.
        """
        parts = _parts_of(string)
        index = {flag: i for i, flag in reversed(list(enumerate(self.flags)))}
        index |= {name: i for i, name in reversed(list(enumerate(self.names))) if name not in index}
        actions: list[int] = []
        for part in parts:
            if part == _CLEAR:
                continue
            if part not in index:
                raise InvalidActionError(
                    f"{part!r} is not an action of {self.name}: expected the pipeline text of one"
                )
            actions.append(index[part])
        return actions


class LlvmEnv(RunnableEnv):
    """Optimise an LLVM module with passes of LLVM 22.

    - Actions: passes; spaces ``Passes`` (default), ``PassesAll``, ``Pipelines``,
      ``PassesAndPipelines`` and ``CompilerGymV0``.
    - Observations: text, bitcode, counts, graphs, vectors and records of the module; size and
      speed of the program it becomes.
    - Rewards: instructions or bytes of code saved, plain or against -O3 and -Oz; speed gained.
    - End: never by itself; an episode is truncated when a pass crashes, hangs or
      outgrows its limits.
    - Programs: ``cbench-v1``, files, and what `make_benchmark` makes.

    A program is optimised for a goal: ``size`` (default) marks every function
    ``minsize optsize`` at reset, ``benchmark://cbench-v1/qsort?goal=speed`` takes
    the marks off.

        >>> import compiler_gym
        >>> with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount") as env:
        ...     _ = env.reset(benchmark="cbench-v1/crc32")
        ...     _, reward, *_ = env.step(env.action_space["sroa"])
        >>> reward > 0
        True
    """

    command_line_styles: ClassVar[Mapping[str, Any]] = {"opt": LlvmCommandLine}
    default_benchmark: ClassVar[str | None] = "benchmark://cbench-v1/qsort"
    shown_rewards: ClassVar[tuple[str, ...] | None] = tuple(
        reward
        for cost, prefix in (
            ("IrInstructionCount", "IrInstructionCount"),
            ("ObjectTextSizeBytes", "ObjectTextSize"),
        )
        for reward in (cost, *(f"{prefix}{variant}" for variant in ("Norm", "O3", "Oz")))
    )
    state_observation: ClassVar[str | None] = "IrHash"

    def __init__(
        self,
        *,
        datasets_site_path: Path | None = None,
        datasets: Iterable[Dataset] | None = None,
        rewards: Iterable[Reward] = (),
        derived_observation_spaces: Iterable[DerivedObservation] = (),
        **options: Any,
    ) -> None:
        super().__init__(
            SOURCE,
            rewards=(*make_rewards(), *rewards),
            derived_observation_spaces=(*derived_observations(), *derived_observation_spaces),
            datasets=make_datasets(datasets_site_path) if datasets is None else datasets,
            **options,
        )

    @property
    def ir(self) -> str:
        """The module as LLVM IR text."""
        return self.observation["Ir"]

    @property
    def ir_sha1(self) -> str:
        """The SHA-1 of the module's bitcode."""
        return self.observation["IrSha1"]

    def write_ir(self, path: str | Path) -> Path:
        """Write the module as text to `path` and return it."""
        path = Path(path).expanduser()
        path.write_text(self.ir, encoding="utf-8")
        return path

    def write_bitcode(self, path: str | Path) -> Path:
        """Write the module as bitcode to `path` and return it."""
        path = Path(path).expanduser()
        path.write_bytes(self.observation["Bitcode"].tobytes())
        return path

    def make_benchmark(
        self,
        inputs: Any,
        copt: Iterable[str] | None = None,
        system_includes: bool = True,
        timeout: float = 600,
        *,
        run: RunSpec | None = None,
    ) -> Benchmark:
        """Return a program made of files; see `compiler_gym.envs.llvm.make_benchmark`."""
        return source.make_benchmark(inputs, copt, system_includes, timeout, run=run)

    def make_benchmark_from_command_line(
        self,
        cmd: str | Sequence[str],
        replace_driver: bool = True,
        system_includes: bool = True,
        timeout: float = 600,
        *,
        run: RunSpec | None = None,
    ) -> BenchmarkFromCommandLine:
        """Return the program that a command of gcc or clang builds; run nothing of it.

        With `replace_driver` our clang reads the sources, otherwise the command's own
        compiler. `compile` of the program finishes the command after an episode.
        """
        return make_benchmark_from_command_line(
            cmd, timeout=timeout, run=run, replace_driver=replace_driver
        )

    def validate(
        self, state: CompilerEnvState | None = None, *, rungs: Iterable[str] | None = QUICK
    ) -> ValidationResult:
        """Replay `state` (default: the current one) in a fresh worker, run it and compare.

        `rungs` names the checks: see ``compiler_gym.envs.llvm.validation.RUNGS``. None
        makes all of them, the sanitizers too, which takes seconds.
        """
        return validate(self.state if state is None else state, self._twin, rungs)

    def behaviour_errors(self) -> tuple[ValidationError, ...]:
        """Build the program as it is now, run it on its inputs and return what is wrong.

        Nothing is returned where it cannot be told: `validate` says so.
        """
        benchmark = self.benchmark
        assert benchmark is not None
        return compare_module(benchmark, self.observation["Bitcode"].tobytes()).errors

    def write_bug_report(
        self, folder: str | Path, kind: Literal["crash", "miscompile"] = "crash"
    ) -> BugReport:
        """Write what LLVM's tracker needs to see what the actions of this episode do.

        The folder gets the program, the ``opt-22`` command, what was expected and, where
        ``llvm-reduce-22`` is installed, the smallest IR that still shows it. The episode
        may have ended in the failure.
        """
        benchmark, actions = self.benchmark, self.actions
        assert benchmark is not None
        errors = self.behaviour_errors() if kind == "miscompile" else ()
        names = [str(error.data["case"]) for error in errors if "case" in error.data]
        if kind == "miscompile" and not names:
            raise MinimizationError("the program does what it should: there is nothing to report")
        with self._twin() as start:
            start.reset(benchmark=benchmark, action_space=self.episode.selection.action_space_name)
            module = start.observation["Bitcode"].tobytes()
            assert isinstance(start.action_space, LlvmCommandLine)
            pipeline = start.action_space.pipeline(actions)
        spec = benchmark.run
        case = next((c for c in chosen_cases(spec) if c.name in names), None) if spec else None
        return write_bug_report(
            Path(folder),
            module=module,
            pipeline=pipeline,
            kind=kind,
            case=case,
            link=tuple(spec.link) if spec else (),
            details="; ".join(map(str, errors)),
        )

    def _goal(self) -> str | None:
        history = self.episode.require()
        return BenchmarkUri.from_string(history.benchmark).parameters.get("goal", "size")

    def _state_hash(self) -> str | None:
        return self.observation["IrHash"]

    def _render_text(self) -> str:
        steps = len(self.actions)
        head = f"; {self.episode.require().benchmark} after {steps} action{'s' * (steps != 1)}"
        return f"{head}\n{self.ir}"


def compute_observation(observation_space: Any, bitcode: str | Path, timeout: float = 300) -> Any:
    """Return one observation of the module in the file `bitcode`."""
    with LlvmEnv(isolation="process") as env:
        benchmark = source.make_benchmark(bitcode)
        name = getattr(
            observation_space, "id", getattr(observation_space, "name", observation_space)
        )
        env.reset(benchmark=benchmark, timeout=timeout)
        return env.observation[name]


def merge_benchmarks(
    benchmarks: Sequence[Benchmark], timeout: float = 300, *, run: RunSpec | None = None
) -> Benchmark:
    """Return one program with the modules of several linked together.

    `run` says how to run it; without, the one way is taken that its parts know.
    """
    contents = run_engine("link", [b.contents for b in benchmarks], timeout=timeout)[0]
    known = [b.run for b in benchmarks if b.run is not None]
    if run is None and len(known) == 1:
        run = known[0]
    return source.user_benchmark(contents, [s for b in benchmarks for s in b.sources], run)


def split_benchmark_by_function(
    benchmark: Benchmark, maximum_function_count: int = 0, timeout: float = 300
) -> list[Benchmark]:
    """Return one program per function of `benchmark`, at most the given number if not 0."""
    if maximum_function_count < 0:
        raise InvalidParameterError(
            f"maximum_function_count is {maximum_function_count}: expected 0 for all, or more"
        )
    parts = run_engine("split", [benchmark.contents], timeout=timeout)
    chosen = parts[:maximum_function_count] if maximum_function_count else parts
    return [source.user_benchmark(part, ()) for part in chosen]


def split_pipeline(text: str) -> list[str]:
    """Return the parts of a pass pipeline: split at commas outside brackets.

    >>> split_pipeline("function(sroa<a;b>,dce),globaldce")
    ['function(sroa<a;b>,dce)', 'globaldce']
    """
    parts: list[str] = []
    depth, start = 0, 0
    for i, letter in enumerate(text):
        depth += (letter in "(<") - (letter in ")>")
        if letter == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _parts_of(commandline: str) -> list[str]:
    """Return the actions that a command or a pipeline names, as text.

    A command of CompilerGym 0.2.5 names each by an option of its own: ``opt -mem2reg``.
    """
    try:
        words = shlex.split(commandline)
    except ValueError as error:
        raise InvalidActionError(
            f"{commandline!r} is cut short: {error}: expected a whole command line"
        ) from error
    if not words or not (words[0] == "opt" or words[0].startswith("opt-")):
        return split_pipeline(commandline)
    parts: list[str] = []
    rest = iter(words[1:])
    for word in rest:
        if word == "-o":
            next(rest, None)
        elif word.lstrip("-").startswith("passes="):
            parts += split_pipeline(word.partition("=")[2])
        elif word.startswith("-") and word not in _OPT_OPTIONS:
            parts.append(word)
    return parts


observation_spaces = Enum(  # type: ignore[misc]  # its members come from the table
    "observation_spaces",
    {row.name: row.name for row in TABLE.observations}
    | {derived.id: derived.id for derived in derived_observations()},
    type=str,
)
"""Every observation space: ``observation_spaces.Autophase`` is the text ``"Autophase"``."""

reward_spaces = Enum(  # type: ignore[misc]  # its members come from the table
    "reward_spaces", {reward.name: reward.name for reward in make_rewards()}, type=str
)
"""Every reward space, each a text as well: ``reward_spaces.IrInstructionCountOz``."""
