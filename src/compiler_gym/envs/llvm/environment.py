# SPDX-License-Identifier: MIT
"""The LLVM environment, its command-line action spaces, and functions on its programs."""

import copy
import operator
import re
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, SupportsIndex

from compiler_gym.builds.compilation_database import split_command
from compiler_gym.core import (
    CompilerEnvState,
    DerivedObservation,
    Listing,
    Panes,
    RunnableEnv,
    require_state,
)
from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset, RunSpec
from compiler_gym.envs.llvm import llvm, validation
from compiler_gym.envs.llvm.actions import CODEGEN, LEGACY, codegen_options, legacy_flags
from compiler_gym.envs.llvm.actions.marks.space import MarksSpace
from compiler_gym.envs.llvm.actions.parameters import STYLE
from compiler_gym.envs.llvm.actions.parameters.space import ParameterSpace
from compiler_gym.envs.llvm.datasets import make_datasets
from compiler_gym.envs.llvm.observations import TABLE
from compiler_gym.envs.llvm.observations.derived import list_derived_observations
from compiler_gym.envs.llvm.panes import IR, PANES
from compiler_gym.envs.llvm.programs import source
from compiler_gym.envs.llvm.programs.builds import (
    BenchmarkFromCommandLine,
    make_benchmark_from_command_line,
)
from compiler_gym.envs.llvm.rewards import make_rewards
from compiler_gym.envs.llvm.toolchain.commands import (
    is_llc,
    is_opt,
    join_pipelines,
    llc_command,
    opt_command,
    opt_parts,
    split_passes,
)
from compiler_gym.envs.llvm.toolchain.engine import run_engine
from compiler_gym.envs.llvm.toolchain.plugins import (
    Plugin,
    load_options,
    plugin_source,
    require_recorded,
)
from compiler_gym.errors import (
    BenchmarkInitError,
    InvalidActionError,
    InvalidParameterError,
    MinimizationError,
    PluginError,
    UnknownNameError,
)
from compiler_gym.sandbox import use_sandbox
from compiler_gym.service import Limits, SessionSource
from compiler_gym.spaces import Commandline, CommandlineFlag, Reward
from compiler_gym.version import __version__

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.observations.typed import LlvmObservationView
    from compiler_gym.validation import ValidationError, ValidationResult

__all__ = [
    "LlvmCommandLine",
    "LlvmEnv",
    "compute_observation",
    "merge_benchmarks",
    "observation_spaces",
    "reward_spaces",
    "split_benchmark_by_function",
]

SOURCE = SessionSource(llvm.session)


class LlvmCommandLine(Commandline):
    """Actions whose command line is one run of ``opt``."""

    flags_differ = False  # several actions of CompilerGym 0.2.5 map to the same pass today

    def __init__(self, items: Iterable[CommandlineFlag], name: str, **options: Any) -> None:
        super().__init__(items, name, **options)
        self.flags = _Flags(self._flags(), self.advice)

    def __getitem__(self, name: str) -> int:
        """Return the value called `name`, or raise `UnknownNameError`."""
        try:
            return super().__getitem__(name)
        except UnknownNameError as error:
            raise UnknownNameError(f"{error}{self.advice(name)}") from None

    @property
    def pipelines(self) -> list[str]:
        """The pass pipeline of each action, in order."""
        return [item.flag for item in self.items]

    def to_string(
        self, actions: SupportsIndex | Iterable[SupportsIndex], *, program: str = "input.bc"
    ) -> str:
        """Return the ``opt`` command that applies `actions` to `program`.

        Analyses are cleared between actions and value names are not kept, as in
        the environment, so the command produces the same bytes. If `actions` set options of the
        code generator, the command continues with ``llc``, which produces the same object file.
        """
        return _command(self._texts(actions), program)

    def pipeline(self, actions: SupportsIndex | Iterable[SupportsIndex]) -> str:
        """Return the pass pipeline of `actions`, one or several.

        Options of the code generator are not part of it.
        """
        return join_pipelines(codegen_options.split_choices(self._texts(actions))[0])

    def from_string(self, string: str) -> list[int]:
        """Return the actions of an ``opt`` command or of a bare pass pipeline.

        Raises `InvalidActionError` if a part is not in this action space.
        """
        passes, options = _read(string)
        parts = [*passes, *(f"{name}={value}" for name, value in options.items())]
        index = {text: i for i, text in reversed(list(enumerate(self.pipelines)))}
        index |= {name: i for i, name in reversed(list(enumerate(self.names))) if name not in index}
        actions: list[int] = []
        for part in parts:
            if part not in index:
                raise InvalidActionError(
                    f"{part!r} is not an action of {self.name}; write its pipeline text"
                    + self.advice(part)
                )
            actions.append(index[part])
        return actions

    def advice(self, text: object) -> str:
        """Return the end of a message about a missing `text`: the space that has it, if any."""
        if self.name == LEGACY or text not in legacy_flags():
            return ""
        return f' (it is a CompilerGym 0.2.5 action: use action_space="{LEGACY}")'

    def _texts(self, actions: SupportsIndex | Iterable[SupportsIndex]) -> list[str]:
        several = [actions] if isinstance(actions, SupportsIndex) else actions
        return [self.items[operator.index(action)].flag for action in several]

    def _flags(self) -> list[str]:
        """Return the text that stands for each action where flags are listed."""
        return self.pipelines


class LegacyCommandLine(LlvmCommandLine):
    """The actions of CompilerGym 0.2.5, listed by its ``opt`` flags; the command line is for
    today's ``opt``."""

    def _flags(self) -> list[str]:
        return self.names


class _Flags(list[str]):
    """A list of flags; for a missing one, `advice` returns the action space that has it."""

    def __init__(self, flags: Iterable[str], advice: Callable[[object], str]) -> None:
        super().__init__(flags)
        self._advice = advice

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Flags":
        """Return a copy that shares its strings: copying each would slow down every fork."""
        return _Flags(self, copy.deepcopy(self._advice, memo))

    def index(self, value: str, *bounds: SupportsIndex) -> int:
        """Return the index of `value`, or raise a `ValueError` that names its action space."""
        try:
            return super().index(value, *bounds)
        except ValueError:
            raise InvalidActionError(
                f"{value!r} is not in this action space{self._advice(value)}"
            ) from None


class LlvmEnv(RunnableEnv):
    """Optimise an LLVM module with LLVM's passes.

    - Actions: passes, in the spaces ``Passes`` (default), ``PassesAll``, ``Pipelines``,
      ``PassesAndPipelines`` and ``CompilerGymV0``. ``Parameters`` also sets the parameters of
      passes; ``Marks`` adds decisions on each call site, loop and function. ``Codegen``,
      ``CodegenOptions``, ``PassesAndCodegen`` and ``PipelinesAndCodegen`` set options of the
      code generator; ``MarksAndCodegen`` has everything except parameters.
    - Observations: text, bitcode, counts, graphs, vectors and records of the module; the size and
      speed of the built program.
    - Rewards: instructions or bytes of code saved, plain or relative to -O3, -Oz or opt's -Oz
      without size attributes (OptOz); speed gained.
    - End: an episode never ends by itself; it is truncated if a pass crashes, hangs or exceeds
      its limits.
    - Programs: ``cbench-v1``, files, and the results of `make_benchmark`.

    A program is optimised for a goal: ``size`` (default) marks every function
    ``minsize optsize`` at reset; ``benchmark://cbench-v1/qsort?goal=speed`` removes these
    attributes. ``?scope=program`` makes symbols local that nothing outside the module can use
    (``main`` and those in ``&keep=name,name`` stay visible), and compares with ``clang -flto``.
    ``?target=aarch64`` or ``riscv64`` retargets the module: passes, sizes, cycles and baselines are
    then those of that target, and the program is never run.

        >>> import compiler_gym
        >>> with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount") as env:
        ...     _ = env.reset(benchmark="cbench-v1/crc32")
        ...     _, reward, *_ = env.step(env.action_space["sroa"])
        >>> reward > 0
        True
    """

    source: ClassVar[SessionSource] = SOURCE
    """The session that runs in the worker."""
    command_line_styles: ClassVar[Mapping[str, Any]] = {
        "opt": LlvmCommandLine,
        "opt-flags": LegacyCommandLine,
        STYLE: ParameterSpace,
        "marks": MarksSpace,
    }
    default_benchmark: ClassVar[str | None] = "benchmark://cbench-v1/qsort"
    pipeline_parameter: ClassVar[str | None] = "llvm.apply_pipeline"
    shown_rewards: ClassVar[tuple[str, ...] | None] = tuple(
        reward
        for cost, prefix in (
            ("IrInstructionCount", "IrInstructionCount"),
            ("ObjectTextSizeBytes", "ObjectTextSize"),
        )
        for reward in (cost, *(f"{prefix}{variant}" for variant in ("Norm", "O3", "Oz", "OptOz")))
    )
    state_observation: ClassVar[str | None] = "IrHash"
    uri_keys: ClassVar[tuple[str, ...] | None] = ("goal", "keep", "scope", "target")
    listing: ClassVar[Listing] = IR

    def __init__(
        self,
        *,
        datasets_site_path: Path | None = None,
        datasets: Iterable[Dataset] | None = None,
        rewards: Iterable[Reward] = (),
        derived_observation_spaces: Iterable[DerivedObservation | Mapping[str, Any]] = (),
        plugins: Iterable[str | Path] = (),
        passes: Iterable[str] = (),
        **options: Any,
    ) -> None:
        source, self._plugins = self.source, tuple[Plugin, ...]()
        if plugins or passes:
            source, self._plugins = plugin_source(plugins, passes)
            if self.source != SOURCE:
                raise PluginError(
                    f"{type(self).__name__} runs the pipeline of a level and cannot load plug-ins; "
                    "use llvm-v0"
                )
            if options.get("isolation", "process") != "process":
                raise PluginError(
                    f"plug-ins need a worker process: use isolation='process' (got "
                    f"{options['isolation']!r})"
                )
        super().__init__(
            source,
            rewards=(*self._rewards(), *rewards),
            derived_observation_spaces=(*list_derived_observations(), *derived_observation_spaces),
            datasets=make_datasets(datasets_site_path) if datasets is None else datasets,
            **options,
        )

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plug-ins whose passes are available in addition to LLVM's."""
        return self._plugins

    @property
    def panes(self) -> Panes:
        """The views of a module."""
        return PANES

    def commandline(self) -> str:
        """Return the actions of the episode as a shell command: runs of ``opt``, and of ``llc``
        if they set options of the code generator."""
        if self._is_codegen:
            return _command(map(codegen_options.write_pipeline, self.actions))
        return self._with_plugins(super().commandline())

    if TYPE_CHECKING:

        @property
        def observation(self) -> "LlvmObservationView":
            """Every observation, on demand: ``env.observation["Autophase"]``."""
            ...

    @property
    def ir(self) -> str:
        """The module as LLVM IR text."""
        return self.observation["Ir"]

    @property
    def ir_sha1(self) -> str:
        """The SHA-1 of the module's bitcode."""
        return self.observation["IrSha1"]

    @property
    def codegen(self) -> dict[str, str]:
        """The options of the code generator that differ from their defaults, by name.

        Assigning to it sets these options and resets all others: one action in ``Codegen``, or
        one action per changed option in a space that includes ``CodegenOptions``. Raises
        `InvalidActionError` in any other space, and for an unknown option or value.
        """
        numbers = self.observation["CodegenChoices"].tolist()
        pairs = zip(codegen_options.OPTIONS, numbers, strict=True)
        return {option.name: option.values[number] for option, number in pairs if number}

    @codegen.setter
    def codegen(self, options: Mapping[str, str]) -> None:
        if not isinstance(options, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise InvalidActionError(f"codegen must be a dict of options by name (got {options!r})")
        numbers = codegen_options.find_numbers(options)
        actions: list[Any] = [numbers]
        if not self._is_codegen:
            actions = self._codegen_changes(numbers)
        *_, truncated, info = self.multistep(actions)
        if truncated:
            raise info["error"]

    def _codegen_changes(self, numbers: Sequence[int]) -> list[int]:
        """Return one action for each option whose value differs from `numbers`."""
        space: Any = self.action_space
        before = codegen_options.find_numbers(self.codegen)
        changes = zip(codegen_options.OPTIONS, numbers, before, strict=True)
        changed = [f"{o.name}={o.values[now]}" for o, now, old in changes if now != old]
        names: Sequence[str] = getattr(space, "names", ())
        for name in changed:
            if name not in names:
                raise InvalidActionError(
                    f"{space.name} has no options of the code generator; use the action space "
                    f"{CODEGEN}, CodegenOptions or PassesAndCodegen"
                )
        return [space[name] for name in changed]

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return the actions of this action space that are equivalent to `commandline`.

        Raises `InvalidActionError` if a part is not in this action space.
        """
        if not self._is_codegen:
            return super().commandline_to_actions(commandline)
        passes, options = _read(commandline)
        if passes:
            raise InvalidActionError(f"{passes[0]!r} is not an action of {CODEGEN}")
        return [codegen_options.find_numbers(options)] if options else []

    @property
    def _is_codegen(self) -> bool:
        return self.episode.selection.action_space_name == CODEGEN

    def apply(self, state: CompilerEnvState) -> None:
        """Reset to the program of `state` and apply its command line; see `CompilerEnv.apply`.

        Also raises `InvalidActionError` if the marks lead to a different program than this version
        recorded: their ids were then recorded on a program other than the one `state` names. The
        environment is then reset, without actions.
        """
        require_state(state)
        require_recorded(state.compiler_version, self._plugins)
        super().apply(state)
        if not self._has_marks or not state.state_hash or not state.is_repeatable:
            return
        versions = (state.version, state.compiler_version)
        if versions != (__version__, self.compiler_version):
            return
        state_hash = self._state_hash()
        if state_hash != state.state_hash:
            self.reset(benchmark=self.benchmark)
            raise InvalidActionError(
                f"the marks of this state were not recorded on {state.benchmark}: they lead to the "
                f"program {state_hash} instead of {state.state_hash}. Ids of call sites, loops and "
                "functions are valid only in the program on which they were recorded"
            )

    @property
    def _has_marks(self) -> bool:
        space: Any = self.action_space
        return isinstance(space, MarksSpace) and any(map(space.find_mark, self.actions))

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

    def write_marked(self, path: str | Path) -> str:
        """Write the module as it was after the episode's last mark, and return the ``opt`` command
        that runs the later passes.

        In action spaces without marks, this is the module at reset. The command's result is this
        episode's module: byte for byte if no pass ran before the last mark, and otherwise as it is
        after reading, because reading restores LLVM's own attributes on declarations of
        intrinsics. In ``MarksAndCodegen``, options of the code generator count as marks.
        """
        path, actions = Path(path).expanduser(), self.actions
        name = self.episode.require().action_space
        with self._twin() as start:
            start.reset(benchmark=self.benchmark, action_space=name, observation_space=None)
            module, pipeline = _apply_marks(start, actions)
        path.write_bytes(module)
        return self._with_plugins(opt_command(pipeline, shlex.quote(str(path))))

    def _with_plugins(self, command: str) -> str:
        """Return `command` with options that make each run of ``opt`` load the plug-ins."""
        if not self._plugins:
            return command
        return re.sub(r"(^|\| )opt ", rf"\g<1>opt {load_options(self._plugins)} ", command)

    def make_benchmark(
        self,
        inputs: Any,
        copt: Iterable[str] | None = None,
        system_includes: bool = True,
        timeout: float = 600,
        *,
        run: RunSpec | None = None,
    ) -> Benchmark:
        """Return a program made from files; see `compiler_gym.envs.llvm.make_benchmark`."""
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
        """Return the program that a gcc or clang command builds, without running the command.

        With `replace_driver`, the bundled clang reads the sources; otherwise the command's own
        compiler does. After an episode, the program's `compile` finishes the command.
        """
        return make_benchmark_from_command_line(
            cmd,
            timeout=timeout,
            run=run,
            replace_driver=replace_driver,
            system_includes=system_includes,
        )

    def validate(
        self,
        state: CompilerEnvState | None = None,
        *,
        rungs: Iterable[str] | None = validation.QUICK,
        sandbox: str | None = None,
    ) -> "ValidationResult":
        """Replay `state` (default: the current one) in a new worker, run the program and compare.

        `rungs` names the checks; see ``compiler_gym.envs.llvm.validation.RUNGS``. None runs all
        checks, including the sanitizers, which takes seconds. `sandbox` names the sandbox for
        running the program (default: the one in the environment's limits); see
        `compiler_gym.sandbox`.
        """
        with use_sandbox(sandbox if sandbox is not None else self.limits.sandbox):
            return validation.validate(self.state if state is None else state, self._twin, rungs)

    def behaviour_errors(self) -> "tuple[ValidationError, ...]":
        """Build the current program, run it on its inputs and return the differences.

        The result is also empty if the program cannot be checked; `validate` reports this.
        """
        benchmark = self.benchmark
        assert benchmark is not None
        with use_sandbox(self.limits.sandbox):
            return validation.compare_module(
                benchmark, self.observation["Bitcode"].tobytes()
            ).errors

    def write_bug_report(
        self, folder: str | Path, kind: Literal["crash", "miscompile"] = "crash"
    ) -> "validation.BugReport":
        """Write a report on this episode's actions that can be filed in LLVM's issue tracker.

        The folder receives the program, the ``opt`` command, the expected result and, if
        ``llvm-reduce`` is installed, reduced IR that still shows the failure. The episode may
        have ended in this failure.
        """
        from compiler_gym.validation import choose_cases

        benchmark, actions = self.benchmark, self.actions
        assert benchmark is not None
        errors = self.behaviour_errors() if kind == "miscompile" else ()
        names = [str(error.data["case"]) for error in errors if "case" in error.data]
        if kind == "miscompile" and not names:
            raise MinimizationError("the program behaves as expected: there is nothing to report")
        with self._twin() as start:
            start.reset(benchmark=benchmark, action_space=self.episode.selection.action_space_name)
            module, pipeline = _apply_marks(start, actions)
        spec = benchmark.run
        case = next((c for c in choose_cases(spec) if c.name in names), None) if spec else None
        with use_sandbox(self.limits.sandbox):
            return validation.write_bug_report(
                Path(folder),
                module=module,
                pipeline=pipeline,
                kind=kind,
                case=case,
                link=tuple(spec.link) if spec else (),
                details="; ".join(map(str, errors)),
            )

    def _rewards(self) -> list[Reward]:
        """Return new rewards for this environment."""
        return make_rewards()

    def _goal(self) -> str | None:
        history = self.episode.require()
        return BenchmarkUri.from_string(history.benchmark).parameters.get("goal", "size")

    def _state_hash(self) -> str | None:
        return self.observation["IrHash"]

    def _render_text(self) -> str:
        steps = len(self.actions)
        head = f"; {self.episode.require().benchmark} after {steps} action{'s' * (steps != 1)}"
        return f"{head}\n{self.ir}"


def _apply_marks(start: LlvmEnv, actions: Sequence[int]) -> tuple[bytes, str]:
    """Run `start`, just reset, up to the last mark; return its module and the later pipeline."""
    space: Any = start.action_space
    if isinstance(space, LlvmCommandLine):
        return start.observation["Bitcode"].tobytes(), space.pipeline(actions)
    if not isinstance(space, MarksSpace):
        raise MinimizationError(
            f"{space.name} cannot be written as an opt command; use an action space of passes"
        )
    # opt accepts neither marks nor options of the code generator.
    is_mark = [space.find_mark(a) is not None or a in space.options for a in actions]
    first = len(actions) - is_mark[::-1].index(True) if any(is_mark) else 0
    if first:
        *_, info = start.multistep(actions[:first])
        if "error" in info:
            raise info["error"]
    flags = space.flags
    pipeline = join_pipelines(flags[action] for action in actions[first:])
    return start.observation["Bitcode"].tobytes(), pipeline


def compute_observation(observation_space: Any, bitcode: str | Path, timeout: float = 300) -> Any:
    """Return one observation of the module in the file `bitcode`.

    Raises `WorkerTimeoutError` or `BenchmarkTimeoutError`, both a `TimeoutError`, if it takes more
    than `timeout` seconds in total.
    """
    limits = Limits(step_seconds=timeout)
    end = time.monotonic() + timeout
    with LlvmEnv(isolation="process", limits=limits) as env:
        benchmark = source.make_benchmark(bitcode)
        name: str = getattr(
            observation_space, "id", getattr(observation_space, "name", observation_space)
        )
        env.reset(benchmark=benchmark, timeout=max(end - time.monotonic(), 0.0))
        remaining = max(end - time.monotonic(), 0.0)
        value, _, _, truncated, info = env.multistep([], name, timeout=remaining)
        if truncated:
            raise info["error"]
        return value


def merge_benchmarks(
    benchmarks: Sequence[Benchmark], timeout: float = 300, *, run: RunSpec | None = None
) -> Benchmark:
    """Return one program with the modules of several linked together.

    Merging all parts of a split program restores it. `run` describes how to run the result; if it
    is None and exactly one of `benchmarks` can be run, the result is run in the same way.
    """
    contents = run_engine("link", [b.contents for b in benchmarks], timeout=timeout)[0]
    runs = [b.run for b in benchmarks if b.run is not None]
    if run is None and len(runs) == 1:
        run = runs[0]
    return source.user_benchmark(contents, [s for b in benchmarks for s in b.sources], run)


def split_benchmark_by_function(
    benchmark: Benchmark, maximum_function_count: int = 0, timeout: float = 300
) -> list[Benchmark]:
    """Return the globals of `benchmark` as one program, followed by one program per function.

    The first holds the variables, constants and aliases, which the others declare; functions and
    variables that were local are visible to the other parts. `merge_benchmarks` of all parts
    restores `benchmark`, linkage and order included, even after the parts were optimised. At most
    `maximum_function_count` functions are returned unless it is 0. Raises `BenchmarkInitError`, a
    `ValueError`, if there is no function.
    """
    if maximum_function_count < 0:
        raise InvalidParameterError(
            f"maximum_function_count must be at least 0 (got {maximum_function_count}); "
            "0 returns all functions"
        )
    *functions, globals_ = run_engine("split", [benchmark.contents], timeout=timeout)
    if not functions:
        raise BenchmarkInitError(f"{benchmark} cannot be split: No functions found")
    selected = functions[: maximum_function_count or None]
    return [source.user_benchmark(part, ()) for part in (globals_, *selected)]


def _split_parts(words: Sequence[str], text: str) -> list[str]:
    """Return the passes in the arguments of an ``opt`` command or in the text of a pipeline."""
    return opt_parts(words[1:]) if words and is_opt(words[0]) else split_passes(text)


def _command(pipelines: Iterable[str], program: str = "input.bc") -> str:
    """Return the command that runs `pipelines`, with ``llc`` if they set its options."""
    passes, options = codegen_options.split_choices(pipelines)
    if not options:
        return opt_command(join_pipelines(passes), program)
    optimise = opt_command(join_pipelines(passes), program, "-")
    return f"{optimise} | {llc_command(codegen_options.llc_words(options))}"


def _read(commandline: str) -> tuple[list[str], dict[str, str]]:
    """Return the passes of a command or pipeline, and the codegen options that it sets.

    Raises `InvalidActionError` for any other text.
    """
    words = split_command(commandline)
    if "|" not in words:
        return codegen_options.split_choices(_split_parts(words, commandline))
    at = words.index("|")
    if is_llc(*words[at + 1 : at + 2] or ("",)):
        before = _split_parts(words[:at], shlex.join(words[:at]))
        return before, codegen_options.read_llc(words[at + 2 :])
    raise InvalidActionError(
        f"{shlex.join(words[at:])!r:.200} is not an llc command; opt can be piped only into llc"
    )


observation_spaces = Enum(  # type: ignore[misc]  # its members come from the table
    "observation_spaces",
    {row.name: row.name for row in TABLE.observations}
    | {derived.id: derived.id for derived in list_derived_observations()},
    type=str,
)
observation_spaces.__doc__ = (
    'Every observation space: ``observation_spaces.Autophase`` equals ``"Autophase"``.'
)

reward_spaces = Enum(  # type: ignore[misc]  # its members come from the table
    "reward_spaces", {reward.name: reward.name for reward in make_rewards()}, type=str
)
reward_spaces.__doc__ = (
    "Every reward space, such as ``reward_spaces.IrInstructionCountOz``; each is also a string."
)
