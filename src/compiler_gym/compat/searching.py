# SPDX-License-Identifier: MIT
"""``compiler_gym.random_search``, with the signature that CompilerGym 0.2.5 documents."""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from compiler_gym.core import CompilerEnv
from compiler_gym.files.paths import create_user_logs_dir
from compiler_gym.search import (
    Budget,
    Improvement,
    ProgressLog,
    SearchProgress,
    available_jobs,
    run_search,
    write_results,
)

__all__ = ["random_search"]

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
