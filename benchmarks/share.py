# SPDX-License-Identifier: MIT
"""What a vector of eight leaves of the engine's own speed, by the clock and in processor time.

The same eight columns of random actions, by a vector and by bare modules in as many processes
as there are cores, each of which has its share of the columns and waits for nobody. Kinds take
turns, and each column is as fast as it was in its fastest round.
"""

import multiprocessing
import os
import resource
import time
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from benchmarks.measure import Figure
from benchmarks.vector import COLUMNS, ENVIRONMENT, LARGE, SMALL, STEPS
from compiler_gym import _llvm, make, make_vec
from compiler_gym.testing import worker_pid

ROUNDS = {SMALL: 24, LARGE: 8}


def measure() -> list[Figure]:
    """Compare on a small and on a large program."""
    return [*_figures(SMALL, "small"), *_figures(LARGE, "large")]


def _figures(program: str, size: str) -> list[Figure]:
    actions = np.random.default_rng(0).integers(0, 123, size=(STEPS, COLUMNS))
    with make(ENVIRONMENT, benchmark=program) as env:
        contents = env.datasets.benchmark(program).contents
        flags = [env.action_space.flags[action] for action in range(123)]
    count = min(len(os.sched_getaffinity(0)), COLUMNS)
    context = multiprocessing.get_context("spawn")
    ends: list[Connection] = []
    for share in np.array_split(np.arange(COLUMNS), count):
        ours, theirs = context.Pipe()
        columns = [[flags[action] for action in actions[:, column]] for column in share]
        context.Process(target=_serve, args=(theirs, contents, columns), daemon=True).start()
        ends.append(ours)
    bare, vector, bare_cpu, vector_cpu, switches = [], [], [], [], []
    with make_vec(ENVIRONMENT, COLUMNS, benchmark=program) as envs:
        for _ in range(ROUNDS[program]):
            wall, cpu = _bare(ends)
            bare.append(wall)
            bare_cpu.append(cpu)
            wall, cpu, switched = _vector(envs, actions)
            vector.append(wall)
            vector_cpu.append(cpu)
            switches.append(switched)
    for end in ends:
        end.send(None)
    steps = STEPS * COLUMNS
    return [
        Figure(
            f"{size} program, 8 rows against the engine alone in {count} processes",
            min(bare) / min(vector),
            "x",
            0.95,
            "at least",
        ),
        Figure(
            f"{size} program, the engine's processor time over that of workers and client",
            min(bare_cpu) / min(vector_cpu),
            "x",
        ),
        Figure(f"{size} program, context switches per row and step", min(switches) / steps, ""),
    ]


def _serve(end: Connection, contents: bytes, columns: list[list[str]]) -> None:
    """Run `columns` whenever asked to; reply with the seconds and those of the processor."""
    while end.recv() is not None:
        modules = [_llvm.Module(contents) for _ in columns]
        for module in modules:
            module.set_goal("size")
        end.send(None)
        end.recv()
        started, used = time.perf_counter(), time.process_time()
        for step in range(STEPS):
            for module, flags in zip(modules, columns, strict=True):
                module.run(flags[step])
                module.autophase()
                module.instruction_count()
        end.send((time.perf_counter() - started, time.process_time() - used))


def _bare(ends: list[Connection]) -> tuple[float, float]:
    _asked(ends)  # to read the program; then all begin together
    replies = _asked(ends)
    return max(wall for wall, _ in replies), sum(cpu for _, cpu in replies)


def _asked(ends: list[Connection]) -> list[tuple[float, float]]:
    for end in ends:
        end.send(True)
    return [end.recv() for end in ends]


def _vector(envs, actions) -> tuple[float, float, int]:
    envs.reset(seed=0)
    pids = [pid for env in envs.envs if (pid := worker_pid(env)) is not None]
    started, used, switched = time.perf_counter(), time.process_time(), _switches(pids)
    workers = _worker_seconds(pids)
    for row in actions:
        envs.step(row)
    wall = time.perf_counter() - started
    cpu = time.process_time() - used + _worker_seconds(pids) - workers
    return wall, cpu, _switches(pids) - switched


def _worker_seconds(pids: list[int]) -> float:
    """Return the processor time of the workers so far (``/proc/<pid>/schedstat``)."""
    return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in pids) / 1e9


def _switches(pids: list[int]) -> int:
    """Return how often the client and the workers have given a core away, or lost it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    lines = [
        line
        for pid in pids
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if "ctxt_switches" in line
    ]
    return used.ru_nvcsw + used.ru_nivcsw + sum(int(line.split()[1]) for line in lines)
