# SPDX-License-Identifier: MIT
"""Flags and helpers of scripts for CompilerGym 0.2.5, and its ``random_search``.

``absl`` is imported here, and only by scripts that import it themselves. Each old module defines
only its own flags, because scripts define others.
"""

import json
import shlex
import statistics
import textwrap
import time
from collections.abc import Callable, Iterable, Sequence
from os import cpu_count
from pathlib import Path
from time import monotonic
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.errors import InvalidParameterError
from compiler_gym.files.paths import create_user_logs_dir
from compiler_gym.registration import COMPILER_GYM_ENVS, make
from compiler_gym.search import (
    Budget,
    Improvement,
    ProgressLog,
    SearchProgress,
    available_jobs,
    run_search,
    write_results,
)
from compiler_gym.wrappers import LegacyGym

_OLD_ACTIONS = "CompilerGymV0"
_FLAGS: dict[str, dict[str, tuple[str, Any, str]]] = {
    "benchmark_from_flags": {
        "benchmark": ("string", None, "The URI of a program, such as cbench-v1/qsort."),
    },
    "env_from_flags": {
        "env": ("string", None, "The id of the environment, such as llvm-v0."),
        "observation": ("string", None, "The observation space."),
        "reward": ("string", None, "The reward space."),
        "ls_env": ("boolean", False, "List the environments and exit."),
    },
    "episode_length": {"episode_length": ("integer", 5, "Steps of an episode.")},
    "episodes": {"episodes": ("integer", 2000, "Episodes to run.")},
    "learning_rate": {"learning_rate": ("float", 0.008, "The learning rate.")},
    "nproc": {"nproc": ("integer", cpu_count(), "Processes or threads to run.")},
    "output_dir": {"output_dir": ("string", None, "The folder for results.")},
    "seed": {"seed": ("integer", None, "The seed of random choices.")},
}
"""The flags of each old module: their type, default and help."""


def define_flags(module: str) -> None:
    """Define the flags of ``compiler_gym.util.flags.<module>``."""
    from absl import flags

    for name, (kind, default, help) in _FLAGS.get(module, {}).items():
        getattr(flags, f"DEFINE_{kind}")(name, default, help)


def benchmark_from_flags() -> str | None:
    """Return the value of ``--benchmark``."""
    return _flag_values().benchmark or None


def env_from_flags(benchmark: Any = None) -> LegacyGym:
    """Return the environment of ``--env`` with the interface and the actions of 0.2.5.

    Raises `InvalidParameterError` without ``--env``.
    """
    values = _flag_values()
    if values.ls_env:
        print("\n".join(sorted(COMPILER_GYM_ENVS)))
        raise SystemExit(0)
    if not values.env:
        raise InvalidParameterError("no environment is chosen: use --env, such as --env=llvm-v0")
    env = make(values.env)
    if benchmark:
        env.benchmark = benchmark
    if _OLD_ACTIONS in env.episode.selection.action_specs:
        env.action_space = _OLD_ACTIONS
    if values.observation:
        env.observation_space = values.observation
    if values.reward:
        env.reward_space = values.reward
    return LegacyGym(env)


def _flag_values() -> Any:
    from absl import flags

    return flags.FLAGS


_RESULTS = "results.json"
_PROGRESS = "progress.jsonl"
_FOREVER = 10.0**9


def random_search(
    make_env: Callable[[], CompilerEnv],
    outdir: str | Path | None = None,
    total_runtime: float | None = 600,
    patience: int = 0,
    nproc: int = available_jobs(),
    skip_done: bool = False,
) -> tuple[float, list[Any]]:
    """Return the best reward and the actions that earn it, after a random search.

    Searches the environment's own program on `nproc` threads for `total_runtime` seconds (None
    or 0: until interrupted). `patience` ends the search after that many sequences without an
    improvement; 0 means never. Writes ``results.json`` and ``progress.jsonl`` to `outdir`
    (default: a new directory in ``$COMPILER_GYM_LOGS/random_search``, or
    ``~/logs/compiler_gym/random_search``). With `skip_done`, existing results are returned
    instead.
    """
    directory = Path(outdir) if outdir else create_user_logs_dir("random_search")
    if skip_done and (directory / _RESULTS).is_file():
        result = json.loads((directory / _RESULTS).read_text(encoding="utf-8"))["results"][0]
        return result["reward"], result["actions"]
    with ProgressLog(directory / _PROGRESS) as log:
        results = run_search(
            make_env,
            algorithm="random",
            budget=Budget(seconds=total_runtime or _FOREVER),
            jobs=nproc,
            seed=time.time_ns() & 0xFFFFFFFF,
            watcher=_Patience(patience, log),
        )
    write_results(directory / _RESULTS, results)
    return results[0].reward, list(results[0].actions)


class _Patience:
    """Logs improvements, and ends the search after too many sequences without one."""

    def __init__(self, patience: int, log: ProgressLog) -> None:
        self._patience = patience
        self._log = log
        self._sequences = 0

    def improved(self, improvement: Improvement) -> None:
        self._log.add(improvement)
        self._sequences = improvement.sequences

    def tick(self, seconds: float, programs: Sequence[SearchProgress]) -> None:
        if self._patience and programs[0].sequences - self._sequences > self._patience:
            raise KeyboardInterrupt


_UNITS = ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms"))


def humanize_duration(seconds: float) -> str:
    """Return a duration with a unit.

    >>> humanize_duration(0.0125), humanize_duration(2.5), humanize_duration(90)
    ('12.5ms', '2.500s', '90.0s')
    """
    size = abs(seconds)
    for limit, factor, unit in _UNITS:
        if size < limit:
            return f"{seconds * factor:.1f}{unit}"
    return f"{seconds:.{3 if size < 60 else 1}f}s"


class Timer:
    """A context manager that measures its ``with`` block.

    With a `label` it reports the duration through `print_fn` at the end.
    """

    def __init__(self, label: str | None = None, print_fn: Callable[[str], object] = print) -> None:
        self.label = label
        self.print_fn = print_fn
        self._start = monotonic()
        self._end: float | None = None

    def __enter__(self) -> "Timer":
        self._start, self._end = monotonic(), None
        return self

    def __exit__(self, *args: object) -> None:
        self._end = monotonic()
        if self.label:
            self.print_fn(f"{self.label} in {self}")

    @property
    def time(self) -> float:
        """The duration of the block, in seconds, or the time so far."""
        return (monotonic() if self._end is None else self._end) - self._start

    def reset(self) -> "Timer":
        """Start again."""
        return self.__enter__()

    def __str__(self) -> str:
        return humanize_duration(self.time)


def emph(value: object) -> str:
    """Return the text of `value`, bold and blue in a terminal."""
    return f"\033[1m\033[94m{value}\033[0m"


def plural(quantity: int, singular: str, plural: str) -> str:
    """Return a count with its noun.

    >>> plural(1, "step", "steps"), plural(1200, "step", "steps")
    ('1 step', '1,200 steps')
    """
    return f"{quantity:,d} {singular if quantity == 1 else plural}"


def indent(text: str, n: int = 4) -> str:
    """Return `text` with each line indented by `n` blanks."""
    return textwrap.indent(text, " " * n)


def join_cmd(command: Iterable[object]) -> str:
    """Return a command line that a shell reads as the items of `command`."""
    return shlex.join(map(str, command))


def arithmetic_mean(values: Sequence[float]) -> float:
    """Return the mean, or 0 for no values."""
    return statistics.fmean(values) if len(values) else 0.0


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean, or 0 if there are no values or one is 0.

    Raises `ValueError` for a negative value.
    """
    return statistics.geometric_mean(values) if len(values) and all(values) else 0.0


def stdev(values: Sequence[float]) -> float:
    """Return the standard deviation of a population, or 0 for no values."""
    return statistics.pstdev(values) if len(values) else 0.0
