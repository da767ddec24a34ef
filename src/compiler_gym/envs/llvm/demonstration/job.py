# SPDX-License-Identifier: MIT
"""The demonstration itself: count, search, check. It prints nothing but its progress."""

import subprocess
import sys
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark
from compiler_gym.envs.llvm.demonstration.check import find_opt, reproduce
from compiler_gym.envs.llvm.demonstration.comparison import Comparison
from compiler_gym.envs.llvm.demonstration.display import Display, Interrupts
from compiler_gym.envs.llvm.demonstration.plot import draw
from compiler_gym.envs.llvm.demonstration.report import print_conclusion, print_table, write
from compiler_gym.envs.llvm.toolchain.tools import package_of, tool_name
from compiler_gym.errors import CacheError
from compiler_gym.files import made
from compiler_gym.registration import make
from compiler_gym.search import Budget, SearchResult, default_starts, level_sequences, run_search
from compiler_gym.version import install_hint

__all__ = ["Demonstration"]

_ENV = "llvm-v0"
_SPACES: dict[str, Any] = {
    "reward_space": "IrInstructionCount",
    "action_space": "PassesAndPipelines",
}


class Demonstration:
    """One demonstration, with its folder of files."""

    def __init__(
        self,
        directory: Path,
        console: Console,
        interrupts: Interrupts,
        find_program: Callable[[CompilerEnv, str], Benchmark],
    ) -> None:
        self.rows: list[Comparison] = []
        self.facts: dict[str, Any] = {"environment": _ENV}
        self.opt: str | None = None
        """The name of LLVM's own ``opt``, where one of the right version is installed."""
        self._directory = directory
        self._console = console
        self._interrupts = interrupts
        self._find_program = find_program
        self._files: list[Path] = []
        self._benchmarks: list[Benchmark] = []

    @property
    def is_interrupted(self) -> bool:
        """Whether it ended early."""
        return bool(self.facts["is_interrupted"])

    def to_json(self) -> dict[str, Any]:
        """Return everything that was found."""
        return {**self.facts, "programs": [row.to_json() for row in self.rows]}

    def show(self) -> None:
        """Print the comparison, and in three sentences what it says."""
        print_table(self._console, self.rows, opt=self.opt)
        if self.is_interrupted:
            self._console.print("Interrupted: this is what was found so far.", style="yellow")
        elif self.opt is None:
            self._console.print(
                "Not checked with LLVM's own opt: it is not installed "
                f"(apt install {package_of('opt')}).",
                style="yellow",
            )
        print_conclusion(self._console, self.rows, opt=self.opt, files=self._files)

    def run(self, programs: Iterable[str], *, seconds: float, jobs: int, seed: int) -> None:
        """Do everything, or what there is time for before Ctrl-C, and write it down."""
        with _created(self._directory):
            self._find(programs, Budget(seconds=seconds), jobs, seed)
        self._files = write(self._directory, self.rows, self.facts)
        if self.rows:
            self._plot(self._directory / "results.png", seconds)

    def _find(self, programs: Iterable[str], budget: Budget, jobs: int, seed: int) -> None:
        with make(_ENV, **_SPACES) as env:
            self.opt = find_opt(env.compiler_version)
            self.facts |= {
                "compiler": f"LLVM {env.compiler_version}", "seconds": budget.seconds,
                "jobs": jobs, "seed": seed,
            }  # fmt: skip
            for program in programs:
                if not self._interrupts.requested:
                    self._measure(env, program)
            if not self._interrupts.requested:
                self._search(env, budget, jobs, seed)
        for row in self.rows:
            if self.opt is not None and not self._interrupts.requested:
                self._check(row)
        self.facts["is_interrupted"] = self._interrupts.requested

    def _plot(self, path: Path, seconds: float) -> None:
        try:
            draw(self.rows, path, seconds=seconds)
        except ImportError:
            sys.stderr.write(f"no plot: it needs matplotlib: {install_hint('plot')}\n")
            return
        self._files.append(path)

    def _measure(self, env: CompilerEnv, program: str) -> None:
        """Count a program at the standard levels, and write the bitcode that `opt` will read."""
        benchmark = self._find_program(env, program)
        env.reset(benchmark=benchmark)
        initial, o0, o3, oz, opt_oz = (
            int(env.observation[f"IrInstructionCount{level}"])
            for level in ("", "O0", "O3", "Oz", "OptOz")
        )
        name = self._name_for(benchmark)
        (self._directory / f"{name}.bc").write_bytes(env.observation["Bitcode"].tobytes())
        level, count, commandline = min(
            _measured_levels(env, benchmark), key=lambda tried: tried[1]
        )
        command = self._command(name, commandline)
        row = Comparison(
            name=name, benchmark=str(benchmark), initial=initial, o0=o0, o3=o3, oz=oz,
            opt_oz=opt_oz, baseline=count, found=count, actions=[level], command=command,
        )  # fmt: skip
        self.rows.append(row)
        self._benchmarks.append(benchmark)

    def _search(self, env: CompilerEnv, budget: Budget, jobs: int, seed: int) -> None:
        assert budget.seconds is not None
        with Display(
            self._console, self.rows, seconds=budget.seconds, jobs=jobs, interrupts=self._interrupts
        ) as display:
            results = run_search(
                lambda: make(_ENV, **_SPACES),
                self._benchmarks,
                budget=budget,
                jobs=jobs,
                seed=seed,
                starts=default_starts(env.action_space),
                watcher=display,
            )
        for row, result in zip(self.rows, results, strict=True):
            self._take(row, result)

    def _take(self, row: Comparison, result: SearchResult) -> None:
        """Note what was found; stopped early, it may be worse than a level, which is kept then."""
        row.sequences = result.sequences
        found = row.initial - round(result.reward)
        if found <= row.baseline:
            row.found, row.actions = found, list(result.action_names)
            row.command = self._command(row.name, result.commandline)
        else:
            row.found = row.baseline

    def _command(self, name: str, commandline: str) -> str:
        """Return `commandline` for the files in the folder."""
        opt, options = self.opt or tool_name("opt"), commandline.removeprefix("opt ")
        options = options.removesuffix(" input.bc -o output.bc")
        return f"{opt} {options} {name}.bc -o {name}.found.bc"

    def _check(self, row: Comparison) -> None:
        try:
            row.counted = reproduce(row.command, self._directory)
        except subprocess.CalledProcessError as error:
            row.problem = (error.stderr or str(error)).strip().partition("\n")[0]
        except (OSError, subprocess.SubprocessError) as error:
            row.problem = str(error)

    def _name_for(self, benchmark: Benchmark) -> str:
        name = Path(benchmark.uri.path).stem
        taken = sum(row.name.partition("~")[0] == name for row in self.rows)
        return f"{name}~{taken + 1}" if taken else name


def _measured_levels(env: CompilerEnv, benchmark: Benchmark) -> Iterator[tuple[str, int, str]]:
    """Yield each level as an action, the instructions it leaves and its command line."""
    names = env.action_space.names  # type: ignore[attr-defined]  # its actions have names
    for (action,) in reversed(level_sequences(names)):
        env.reset(benchmark=benchmark)
        env.multistep([action])
        yield names[action], int(env.observation["IrInstructionCount"]), env.commandline()


@contextmanager
def _created(directory: Path) -> Generator[None]:
    """Make the folder of the results; where the block fails before anything is in it, it goes."""
    with ExitStack() as stack:
        try:
            stack.enter_context(made(directory))
        except OSError as error:
            raise CacheError(
                f"cannot create {directory}: {error.strerror}: name another folder with --output"
            ) from error
        yield
