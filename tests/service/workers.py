# SPDX-License-Identifier: MIT
"""Requests to workers of the fake session, and programs that own some."""

import os
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager

from compiler_gym.service import SessionSource, WorkerConnection
from compiler_gym.service.messages import Start, Step, Stepped
from compiler_gym.session import BenchmarkSpec
from compiler_gym.testing.fakes import BEHAVIOURS

FAKE = SessionSource("compiler_gym.testing.fakes:FakeSession")
ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}

Open = Callable[..., WorkerConnection]

PREAMBLE = """
import os, signal, sys, threading, time
from compiler_gym.testing import FakeEnv, descendants, worker_pid, wait_until, is_running
from compiler_gym.testing.fakes import BEHAVIOURS
ACTIONS = {name: number for number, name in enumerate(BEHAVIOURS)}

def make(**arguments):
    arguments = {"observation_space": "number", "action_space": "Behaviours", **arguments}
    return FakeEnv(**arguments)

def say(pid=None):
    print(*sorted(descendants(pid or os.getpid())), flush=True)
"""


def start(
    contents: bytes = b"7",
    *,
    space: str = "Behaviours",
    observe: tuple[str, ...] = (),
    **parameters: str,
) -> Start:
    """Return the request that starts an episode on a number."""
    benchmark = BenchmarkSpec("benchmark://fake-v0/7", contents, parameters)
    return Start(benchmark, space, list(observe), {})


def step(*names: str, observe: tuple[str, ...] = ("number",)) -> Step:
    """Return the request for the actions `names`."""
    return Step([ACTIONS[name] for name in names], list(observe))


def number(connection: WorkerConnection, *names: str) -> int:
    """Apply the actions `names` and return the program of the session."""
    reply = connection.call(step(*names))
    assert isinstance(reply, Stepped), reply
    return reply.observations[0]


@contextmanager
def client(code: str) -> Generator["subprocess.Popen[str]"]:
    """Run a Python program that uses environments; kill it if it is still there at the end."""
    program = subprocess.Popen(
        [sys.executable, "-c", PREAMBLE + code],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    with program:
        try:
            yield program
        finally:
            program.kill()


def pids_from(program: "subprocess.Popen[str]") -> list[int]:
    """Return the numbers on the next line that `program` prints."""
    assert program.stdout is not None
    line = program.stdout.readline()
    assert line.strip(), "the program printed nothing: see its errors above"
    return [int(word) for word in line.split()]
