# SPDX-License-Identifier: MIT
"""Short episodes of language models: how many a minute, judged and not, and how soon it begins."""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import get_context
from pathlib import Path
from statistics import quantiles

from benchmarks.measure import Figure, median_seconds
from benchmarks.memory import measure_memory
from compiler_gym_agents import AgentEpisode, AgentTask, tasks

SECONDS = 10.0
CORES = 16
OPEN = 256
"""Episodes that are open at once in one server."""
PROMISED = 1_000
"""Episodes a minute on that many cores."""
CALLS: Sequence[tuple[str, dict[str, object]]] = (
    ("describe", {}),
    ("actions", {"search": "inline"}),
    ("try_actions", {"actions": ["sroa", "early-cse", "simplifycfg"]}),
    ("apply", {"actions": ["sroa", "early-cse", "simplifycfg"]}),
    ("show", {"function": "main"}),
    ("apply", {"actions": ["-Oz"]}),
    ("explain", {}),
    ("submit", {}),
)
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "1"},
    },
}


def measure() -> list[Figure]:
    """Measure with one process and with two: what is left of twice as many is the scaling."""
    one, two = (_a_minute(processes, judged=False) for processes in (1, 2))
    share = PROMISED / CORES
    processor = _processor_seconds(judged=False)
    return [
        Figure("processor time of a short episode", processor, "s", 60 / share),
        Figure("with the judge's verdict", _processor_seconds(judged=True), "s"),
        Figure("short episodes a minute, one process", one, "", share, "at least"),
        Figure("short episodes a minute, two processes", two, "", 2 * share, "at least"),
        Figure("with two processes, of twice as many", 50 * two / one, "%"),
        Figure(
            "short episodes a minute with the judge's verdict, two processes",
            _a_minute(2, judged=True),
            "",
        ),
        *_measure_open(),
        Figure("start of an MCP server", median_seconds(_start, repeats=5), "s", 2.0),
        Figure("processor time of the start of an MCP server", _processor_of_start(), "s", 2.0),
    ]


def _measure_open() -> list[Figure]:
    """Open many episodes at once in this process, and call each a few times."""
    programs = _programs()
    with ExitStack() as stack:
        began, before = time.perf_counter(), measure_memory(os.getpid())
        episodes = [
            stack.enter_context(AgentEpisode(programs[number % len(programs)]))
            for number in range(OPEN)
        ]
        for episode in episodes:
            episode.call("apply", {"actions": ["sroa"]})
        opened = time.perf_counter() - began
        each = (measure_memory(os.getpid()) - before) / OPEN
        seconds: list[float] = []
        for name in ("early-cse", "simplifycfg", "-Oz"):
            for episode in episodes:
                start = time.perf_counter()
                episode.call("apply", {"actions": [name]})
                seconds.append(time.perf_counter() - start)
    cuts = quantiles(seconds, n=100)
    return [
        Figure(f"opening {OPEN} episodes, with one call each", opened, "s"),
        Figure(f"memory (PSS) of each of {OPEN} open episodes", each, "MB", 30),
        Figure(f"a call with {OPEN} open episodes, median", cuts[49] * 1e3, "ms"),
        Figure(f"a call with {OPEN} open episodes, 99 of 100", cuts[98] * 1e3, "ms"),
    ]


def _processor_seconds(*, judged: bool) -> float:
    """Return the processor time of an episode, the compiler's and the judge's included.

    Unlike the clock it says the same on a busy machine.
    """
    _played(0.1, judged)
    before = sum_processor_time(os.getpid())
    for task in _programs():
        _play(task, judged=judged)
    return (sum_processor_time(os.getpid()) - before) / len(_programs())


def sum_processor_time(pid: int) -> float:
    """Return the processor seconds of a process and all that it has started; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(sum_processor_time(int(child)) for child in children)


def _processor_of_start() -> float:
    before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
    _start()
    return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before


def _a_minute(processes: int, *, judged: bool) -> float:
    """Return how many episodes a minute so many processes play together."""
    with ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        list(pool.map(_played, [0.1] * processes, [judged] * processes))  # all is loaded then
        counts = list(pool.map(_played, [SECONDS] * processes, [judged] * processes))
    return sum(counts)


def _played(seconds: float, judged: bool) -> float:
    """Play episodes for some time and return how many a minute they were."""
    programs = _programs()
    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        _play(programs[count % len(programs)], judged=judged)
        count += 1
    return 60 * count / (time.perf_counter() - began)


def _programs() -> list[AgentTask]:
    return [one for one in tasks("train", "fewer-instructions") if "cbench" in one.id]


def _play(task: AgentTask, *, judged: bool) -> None:
    with AgentEpisode(task) as episode:
        for tool, arguments in CALLS:
            episode.call(tool, arguments)
        if judged:
            episode.reward()


def _start() -> None:
    words = [sys.executable, "-m", "compiler_gym_agents.libraries.mcp", "llvm-ic-v0"]
    with subprocess.Popen(
        [*words, "--benchmark", "cbench-v1/crc32"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdin.flush()
        assert b"compiler_gym" in server.stdout.readline()
        server.kill()
