# SPDX-License-Identifier: MIT
"""What users hold: the environment, its command line, and programs made by hand."""

import copy
import operator
import re
import shlex
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, SupportsIndex

from compiler_gym.builds.command_words import split_command
from compiler_gym.core import (
    CompilerEnvState,
    DerivedObservation,
    Listing,
    Panes,
    RunnableEnv,
    require_state,
)
from compiler_gym.datasets import Benchmark, BenchmarkUri, Dataset, RunSpec
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
from compiler_gym.envs.llvm.validation import QUICK, validate
from compiler_gym.envs.llvm.validation.bug_report import BugReport, write_bug_report
from compiler_gym.envs.llvm.validation.runs import compare_module
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
from compiler_gym.validation import ValidationError, ValidationResult, choose_cases
from compiler_gym.version import __version__

if TYPE_CHECKING:
    from compiler_gym.envs.llvm.observations.typed import LlvmObservationView

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


class LlvmCommandLine(Commandline):
    """Actions that are written as one run of ``opt``."""

    flags_differ = False  # several actions of CompilerGym 0.2.5 are one pass today

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
        """The pass pipeline that each value runs, in order."""
        return [item.flag for item in self.items]

    def to_string(
        self, actions: SupportsIndex | Iterable[SupportsIndex], *, program: str = "input.bc"
    ) -> str:
        """Return the ``opt`` command that applies `actions` to `program`.

        Analyses are cleared between actions and value names are not kept, as in
        the environment: the command gives the same bytes. Where options of the code generator
        were chosen it goes on to ``llc``, which makes the same object with them.
        """
        return _command(self._texts(actions), program)

    def pipeline(self, actions: SupportsIndex | Iterable[SupportsIndex]) -> str:
        """Return the pass pipeline that `actions`, one or several, stand for.

        Options of the code generator are none of its passes.
        """
        return join_pipelines(codegen_options.split_choices(self._texts(actions))[0])

    def from_string(self, string: str) -> list[int]:
        """Return the actions of an ``opt`` command or of a bare pass pipeline.

        Raises `InvalidActionError` when a part of it is not in this action space.
        """
        passes, chosen = _read(string)
        parts = [*passes, *(f"{name}={value}" for name, value in chosen.items())]
        index = {text: i for i, text in reversed(list(enumerate(self.pipelines)))}
        index |= {name: i for i, name in reversed(list(enumerate(self.names))) if name not in index}
        actions: list[int] = []
        for part in parts:
            if part not in index:
                raise InvalidActionError(
                    f"{part!r} is not an action of {self.name}: expected the pipeline text of one"
                    + self.advice(part)
                )
            actions.append(index[part])
        return actions

    def advice(self, text: object) -> str:
        """Return where the action `text` is that is not here, for a message; or nothing."""
        if self.name == LEGACY or text not in legacy_flags():
            return ""
        return f': it is an action of CompilerGym 0.2.5: expected action_space="{LEGACY}"'

    def _texts(self, actions: SupportsIndex | Iterable[SupportsIndex]) -> list[str]:
        several = [actions] if isinstance(actions, SupportsIndex) else actions
        return [self.items[operator.index(action)].flag for action in several]

    def _flags(self) -> list[str]:
        """Return what stands for each value where flags are listed."""
        return self.pipelines


class LegacyCommandLine(LlvmCommandLine):
    """The actions of CompilerGym 0.2.5: their flags are those of its ``opt``, their command
    line is today's."""

    def _flags(self) -> list[str]:
        return self.names


class _Flags(list[str]):
    """Flags; `advice` says of one that is not among them where it is."""

    def __init__(self, flags: Iterable[str], advice: Callable[[object], str]) -> None:
        super().__init__(flags)
        self._advice = advice

    def __deepcopy__(self, memo: dict[int, Any]) -> "_Flags":
        """Return a copy of the copied space's: texts are not copied one by one for each fork."""
        return _Flags(self, copy.deepcopy(self._advice, memo))

    def index(self, value: str, *bounds: SupportsIndex) -> int:
        """Return the place of `value`, or raise a `ValueError` that says where it is."""
        try:
            return super().index(value, *bounds)
        except ValueError:
            raise InvalidActionError(
                f"{value!r} is no flag of this action space{self._advice(value)}"
            ) from None


class LlvmEnv(RunnableEnv):
    """Optimise an LLVM module with passes of LLVM.

    - Actions: passes; spaces ``Passes`` (default), ``PassesAll``, ``Pipelines``,
      ``PassesAndPipelines`` and ``CompilerGymV0``; ``Parameters``: passes and values for them;
      ``Marks`` adds decisions on each call site, loop and function. Options of the code
      generator: ``Codegen``, ``CodegenOptions``, ``PassesAndCodegen``,
      ``PipelinesAndCodegen``, and ``MarksAndCodegen``, which has everything but values.
    - Observations: text, bitcode, counts, graphs, vectors and records of the module; size and
      speed of the program it becomes.
    - Rewards: instructions or bytes of code saved, plain or against -O3, -Oz and what
      opt's -Oz leaves without size attributes (OptOz); speed gained.
    - End: never by itself; an episode is truncated when a pass crashes, hangs or
      outgrows its limits.
    - Programs: ``cbench-v1``, files, and what `make_benchmark` makes.

    A program is optimised for a goal: ``size`` (default) marks every function
    ``minsize optsize`` at reset, ``benchmark://cbench-v1/qsort?goal=speed`` takes
    the marks off. ``?scope=program`` makes local what nothing outside the module can
    name (``main`` stays, and ``&keep=name,name``), and compares with ``clang -flto``.
    ``?target=aarch64`` or ``riscv64`` makes the module one for that machine: passes,
    sizes, cycles and baselines are then of it, and nothing of the program is run.

        >>> import compiler_gym
        >>> with compiler_gym.make("llvm-v0", reward_space="IrInstructionCount") as env:
        ...     _ = env.reset(benchmark="cbench-v1/crc32")
        ...     _, reward, *_ = env.step(env.action_space["sroa"])
        >>> reward > 0
        True
    """

    source: ClassVar[SessionSource] = SOURCE
    """What runs in the worker."""
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
                    f"{type(self).__name__} runs the pipeline of a level: expected no plug-ins "
                    "(llvm-v0 takes them)"
                )
            if options.get("isolation", "process") != "process":
                raise PluginError(
                    f"isolation is {options['isolation']!r}: plug-ins are loaded in a process of "
                    "their own, expected 'process'"
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
        """The plug-ins whose passes are there beside LLVM's own."""
        return self._plugins

    @property
    def panes(self) -> Panes:
        """What people look at of a module."""
        return PANES

    def commandline(self) -> str:
        """Return the actions of the episode as a command of the shell: runs of ``opt``, and of
        ``llc`` where they choose options of the code generator."""
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
        """The options of the code generator that are chosen, by name, without defaults.

        Setting it chooses these and leaves the others to LLVM: one action in ``Codegen``, one
        for each option that changes in a space that has ``CodegenOptions``. Raises
        `InvalidActionError` in any other space, and for what is not offered.
        """
        numbers = self.observation["CodegenChoices"].tolist()
        chosen = zip(codegen_options.OPTIONS, numbers, strict=True)
        return {option.name: option.values[number] for option, number in chosen if number}

    @codegen.setter
    def codegen(self, chosen: Mapping[str, str]) -> None:
        if not isinstance(chosen, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise InvalidActionError(f"expected options by name, as a dict, found {chosen!r}")
        numbers = codegen_options.find_numbers(chosen)
        actions: list[Any] = [numbers]
        if not self._is_codegen:
            actions = self._codegen_changes(numbers)
        *_, truncated, info = self.multistep(actions)
        if truncated:
            raise info["error"]

    def _codegen_changes(self, numbers: Sequence[int]) -> list[int]:
        """Return the actions that set one option each, of those that are not as in `numbers`."""
        space: Any = self.action_space
        before = codegen_options.find_numbers(self.codegen)
        changes = zip(codegen_options.OPTIONS, numbers, before, strict=True)
        wanted = [f"{o.name}={o.values[now]}" for o, now, old in changes if now != old]
        names: Sequence[str] = getattr(space, "names", ())
        for name in wanted:
            if name not in names:
                raise InvalidActionError(
                    f"{space.name} has no options of the code generator: expected the action "
                    f"space {CODEGEN}, CodegenOptions or PassesAndCodegen"
                )
        return [space[name] for name in wanted]

    def commandline_to_actions(self, commandline: str) -> list[Any]:
        """Return actions of the action space that do what `commandline` does.

        Raises `InvalidActionError` where a part of it is not in this action space.
        """
        if not self._is_codegen:
            return super().commandline_to_actions(commandline)
        passes, chosen = _read(commandline)
        if passes:
            raise InvalidActionError(f"{passes[0]!r} is not an action of {CODEGEN}")
        return [codegen_options.find_numbers(chosen)] if chosen else []

    @property
    def _is_codegen(self) -> bool:
        return self.episode.selection.action_space_name == CODEGEN

    def apply(self, state: CompilerEnvState) -> None:
        """Reset to the program of `state` and apply its command line; see `CompilerEnv.apply`.

        Raises `InvalidActionError` too where marks lead to another program than this version
        recorded: then they are ids of another program than `state` names. The episode that is
        there then begins anew, without actions.
        """
        require_state(state)
        require_recorded(state.compiler_version, self._plugins)
        super().apply(state)
        if not self._has_marks or not state.state_hash or not state.is_repeatable:
            return
        made_by = (state.version, state.compiler_version)
        if made_by != (__version__, self.compiler_version):
            return
        found = self._state_hash()
        if found != state.state_hash:
            self.reset(benchmark=self.benchmark)
            raise InvalidActionError(
                f"the marks of this state are not of {state.benchmark}: expected the program "
                f"{state.state_hash}, they make {found}: ids of call sites, loops and functions "
                "mean something in the program that they were recorded in alone"
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
        of the passes since.

        In action spaces without marks that is the module at reset. What ``opt`` makes of
        it is the module of this episode, to the byte where no pass came before the last mark, and
        otherwise as it is when it is read: reading gives declarations of intrinsics LLVM's own
        attributes again. In ``MarksAndCodegen`` the options of the code generator are in it too.
        """
        path, actions = Path(path).expanduser(), self.actions
        name = self.episode.require().action_space
        with self._twin() as start:
            start.reset(benchmark=self.benchmark, action_space=name, observation_space=None)
            module, pipeline = _apply_marks(start, actions)
        path.write_bytes(module)
        return self._with_plugins(opt_command(pipeline, shlex.quote(str(path))))

    def _with_plugins(self, command: str) -> str:
        """Return `command` with each run of ``opt`` in it loading the plug-ins first."""
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
        rungs: Iterable[str] | None = QUICK,
        sandbox: str | None = None,
    ) -> ValidationResult:
        """Replay `state` (default: the current one) in a fresh worker, run it and compare.

        `rungs` names the checks: see ``compiler_gym.envs.llvm.validation.RUNGS``. None
        makes all of them, the sanitizers too, which takes seconds. `sandbox` names what the
        program is kept from when it runs, by default what the environment's limits say: see
        `compiler_gym.sandbox`.
        """
        with use_sandbox(sandbox if sandbox is not None else self.limits.sandbox):
            return validate(self.state if state is None else state, self._twin, rungs)

    def behaviour_errors(self) -> tuple[ValidationError, ...]:
        """Build the program as it is now, run it on its inputs and return what is wrong.

        Nothing is returned where it cannot be told: `validate` says so.
        """
        benchmark = self.benchmark
        assert benchmark is not None
        with use_sandbox(self.limits.sandbox):
            return compare_module(benchmark, self.observation["Bitcode"].tobytes()).errors

    def write_bug_report(
        self, folder: str | Path, kind: Literal["crash", "miscompile"] = "crash"
    ) -> BugReport:
        """Write what LLVM's tracker needs to see what the actions of this episode do.

        The folder gets the program, the ``opt`` command, what was expected and, where
        ``llvm-reduce`` is installed, the smallest IR that still shows it. The episode
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
            module, pipeline = _apply_marks(start, actions)
        spec = benchmark.run
        case = next((c for c in choose_cases(spec) if c.name in names), None) if spec else None
        with use_sandbox(self.limits.sandbox):
            return write_bug_report(
                Path(folder),
                module=module,
                pipeline=pipeline,
                kind=kind,
                case=case,
                link=tuple(spec.link) if spec else (),
                details="; ".join(map(str, errors)),
            )

    def _rewards(self) -> list[Reward]:
        """Return what can be earned, fresh."""
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
    """Go on in `start`, just reset, to the last mark; return its module and the pipeline then."""
    space: Any = start.action_space
    if isinstance(space, LlvmCommandLine):
        return start.observation["Bitcode"].tobytes(), space.pipeline(actions)
    if not isinstance(space, MarksSpace):
        raise MinimizationError(
            f"a report is about passes: expected another action space than {space.name}"
        )
    # What opt would not take: marks, and options of the code generator.
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

    Raises `WorkerTimeoutError` or `BenchmarkTimeoutError`, both a `TimeoutError`, where it takes
    more than `timeout` seconds in all.
    """
    limits = Limits(step_seconds=timeout)
    end = time.monotonic() + timeout
    with LlvmEnv(isolation="process", limits=limits) as env:
        benchmark = source.make_benchmark(bitcode)
        name: str = getattr(
            observation_space, "id", getattr(observation_space, "name", observation_space)
        )
        env.reset(benchmark=benchmark, timeout=max(end - time.monotonic(), 0.0))
        left = max(end - time.monotonic(), 0.0)
        seen, _, _, truncated, info = env.multistep([], name, timeout=left)
        if truncated:
            raise info["error"]
        return seen


def merge_benchmarks(
    benchmarks: Sequence[Benchmark], timeout: float = 300, *, run: RunSpec | None = None
) -> Benchmark:
    """Return one program with the modules of several linked together.

    The parts of a program that was split, where all are there, become what they were.
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
    """Return the globals of `benchmark` as one program, and behind it one per function.

    The first holds the variables, constants and aliases, which the others declare; functions and
    variables that were local are visible to the other parts. `merge_benchmarks` of all parts is
    `benchmark` again, linkage and order included, also after the parts were optimised. No
    more than `maximum_function_count` functions are returned, if it is not 0. Raises
    `BenchmarkInitError`, a `ValueError`, if there is no function.
    """
    if maximum_function_count < 0:
        raise InvalidParameterError(
            f"maximum_function_count is {maximum_function_count}: expected 0 for all, or more"
        )
    *functions, rest = run_engine("split", [benchmark.contents], timeout=timeout)
    if not functions:
        raise BenchmarkInitError(f"No functions found in {benchmark}: expected at least one")
    chosen = functions[: maximum_function_count or None]
    return [source.user_benchmark(part, ()) for part in (rest, *chosen)]


def _split_parts(words: Sequence[str], text: str) -> list[str]:
    """Return the actions that the words of a command, or the text of a pipeline, name."""
    return opt_parts(words[1:]) if words and is_opt(words[0]) else split_passes(text)


def _command(pipelines: Iterable[str], program: str = "input.bc") -> str:
    """Return the command that runs `pipelines`, and makes code where they choose how."""
    passes, chosen = codegen_options.split_choices(pipelines)
    if not chosen:
        return opt_command(join_pipelines(passes), program)
    optimise = opt_command(join_pipelines(passes), program, "-")
    return f"{optimise} | {llc_command(codegen_options.llc_words(chosen))}"


def _read(commandline: str) -> tuple[list[str], dict[str, str]]:
    """Return the passes of a command or of a pipeline, and what it chooses of the code generator.

    Raises `InvalidActionError` for what is neither.
    """
    words = split_command(commandline)
    if "|" not in words:
        return codegen_options.split_choices(_split_parts(words, commandline))
    at = words.index("|")
    if is_llc(*words[at + 1 : at + 2] or ("",)):
        before = _split_parts(words[:at], shlex.join(words[:at]))
        return before, codegen_options.read_llc(words[at + 2 :])
    raise InvalidActionError(
        f"{shlex.join(words[at:])!r:.200} is no llc command behind that of opt"
    )


observation_spaces = Enum(  # type: ignore[misc]  # its members come from the table
    "observation_spaces",
    {row.name: row.name for row in TABLE.observations}
    | {derived.id: derived.id for derived in list_derived_observations()},
    type=str,
)
observation_spaces.__doc__ = (
    'Every observation space: ``observation_spaces.Autophase`` is the text ``"Autophase"``.'
)

reward_spaces = Enum(  # type: ignore[misc]  # its members come from the table
    "reward_spaces", {reward.name: reward.name for reward in make_rewards()}, type=str
)
reward_spaces.__doc__ = (
    "Every reward space, each a text as well: ``reward_spaces.IrInstructionCountOz``."
)
