# SPDX-License-Identifier: MIT
"""Runs Python programs in processes that begin with the library loaded.

Of the processor time of a command most goes to imports. One process has done them and is forked
for each program: what runs is a process of its own, with its own arguments, variables, folder and
standard streams, and it ends as any interpreter does. Only the seed of hashes is shared.
"""

import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from compiler_gym import registration
from compiler_gym.service.limits import bind_to_parent

__all__ = ["Warm"]

_LOADED = (
    "numpy", "gymnasium", "rich.console", "rich.default_styles", "rich.markup", "rich.table",
    "typer._adapters",  # what reads every option, and imports pydantic for it
    "compiler_gym.core", "compiler_gym.envs.llvm.environment",
)  # fmt: skip
_CLIENT = """#!/bin/sh
'''exec' '{python}' -IS "$0" "$@"
'''
import json, os, signal, socket, sys

with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as channel:
    channel.connect("\\0{address}")
    job = dict(module="compiler_gym.cli", arguments=sys.argv[1:], folder=os.getcwd())
    job.update(variables=dict(os.environ), commands=None)
    socket.send_fds(channel, [json.dumps(job).encode()], [0, 1, 2])
    command = int(channel.recv(64))
    signal.signal(signal.SIGTERM, lambda *_: os.kill(command, signal.SIGTERM))
    signal.signal(signal.SIGINT, lambda *_: None)  # which the command gets from the terminal too
    status = int(channel.recv(64))
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
sys.exit(status)
"""
"""A command that runs in a fork: it starts in a tenth of the time of the library's own."""
_LONGEST = 1 << 18
"""Bytes of a request; variables are most of it."""


class Warm:
    """The process that is forked; it ends when this is closed, or its client ends."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def close(self) -> None:
        """End the process."""
        self._channel.close()
        self._process.wait()

    def run(
        self,
        program: str | Path,
        arguments: Sequence[str],
        *,
        folder: Path,
        variables: dict[str, str],
        stdin: bytes = b"",
        timeout: float | None = None,
        commands: Path | None = None,
    ) -> "subprocess.CompletedProcess[bytes]":
        """Run a module, or the file of a path, in `folder` with these variables and no others.

        The folder `commands`, if there is to be one, is the first of its ``PATH`` and holds a
        ``compiler-gym`` that runs in forks as well.

        Raises:
            subprocess.TimeoutExpired: It ran for longer than `timeout` seconds.
        """
        job = {
            "path" if isinstance(program, Path) else "module": str(program),
            "arguments": list(arguments),
            "folder": str(folder),
            "variables": variables,
            "commands": str(commands) if commands else None,
        }
        with (
            tempfile.TemporaryFile() as given,
            tempfile.TemporaryFile() as output,
            tempfile.TemporaryFile() as errors,
        ):
            given.write(stdin)
            given.seek(0)
            files = [file.fileno() for file in (given, output, errors)]
            socket.send_fds(self._channel, [json.dumps(job).encode()], files)
            self._channel.settimeout(timeout)
            try:
                status = json.loads(self._channel.recv(_LONGEST))
            except TimeoutError:
                os.killpg(self._process.pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(str(program), timeout or 0) from None
            output.seek(0)
            errors.seek(0)
            words = [str(program), *arguments]
            return subprocess.CompletedProcess(words, status, output.read(), errors.read())


def _load() -> None:
    """Import what most programs do."""
    commands = importlib.import_module("compiler_gym.cli")
    names = [f"compiler_gym.cli.{found.name}" for found in pkgutil.iter_modules(commands.__path__)]
    for name in [*_LOADED, *(name for name in names if not name.endswith("__main__"))]:
        importlib.import_module(name)
    gc.collect()
    gc.freeze()  # so that no collection writes to pages that are shared


def _serve(channel: socket.socket) -> dict[str, Any] | None:
    """Fork for each request; return it in the fork, or nothing when there are no more."""
    while True:
        message, files, _, _ = socket.recv_fds(channel, _LONGEST, 3)
        if not message:
            return None
        child = _forked(channel, files)
        if child == 0:
            return json.loads(message)
        _, status = os.waitpid(child, 0)
        channel.send(json.dumps(os.waitstatus_to_exitcode(status)).encode())


def _forked(channel: socket.socket, files: Sequence[int]) -> int:
    """Fork and give `files` to the fork as its standard streams; return 0 in it, as `os.fork`."""
    child = os.fork()
    if child == 0:
        channel.close()
        for number, file in enumerate(files):
            os.dup2(file, number)
    for file in files:
        os.close(file)
    return child


def _serve_commands(folder: Path) -> dict[str, Any] | None:
    """Put a command into `folder` and return; for each call of it, return its job in a fork."""
    folder.mkdir(exist_ok=True)
    address, program = f"compiler-gym-tests-{os.getpid()}", os.getpid()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(f"\0{address}")
    listener.listen()
    command = folder / "compiler-gym"
    command.write_text(_CLIENT.format(python=sys.executable, address=address))
    command.chmod(0o755)
    if os.fork():
        listener.close()
        return None
    bind_to_parent(program)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that serve one call
    while True:
        channel, _ = listener.accept()
        if not os.fork():
            break
        channel.close()
    listener.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    message, files, _, _ = socket.recv_fds(channel, _LONGEST, 3)
    child = _forked(channel, files)
    if child == 0:
        return json.loads(message)
    channel.send(str(child).encode())
    _, status = os.waitpid(child, 0)
    with suppress(BrokenPipeError):  # who called it was ended
        channel.send(str(os.waitstatus_to_exitcode(status)).encode())
    os._exit(0)


def _become(job: dict[str, Any]) -> None:
    """Run the program that `job` asks for as this process."""
    os.environ.clear()
    if job["commands"]:
        command = _serve_commands(Path(job["commands"]))
        if command is not None:
            _become(command)
            return
        path = job["variables"]["PATH"]
        job["variables"]["PATH"] = os.pathsep.join([job["commands"], path])
    os.environ.update(job["variables"])
    if "COMPILER_GYM_PLUGINS" in job["variables"]:  # which is read when the library is imported
        registration.compilers.cache_clear()
        registration.register_with_gymnasium()
    os.chdir(job["folder"])
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr
    added = job["variables"].get("PYTHONPATH", "").split(os.pathsep)
    place = str(Path(job["path"]).parent) if "path" in job else job["folder"]
    sys.path[:1] = [place, *(path for path in added if path and path not in sys.path)]
    sys.argv = [job.get("path") or job["module"], *job["arguments"]]
    if "path" in job:
        runpy.run_path(job["path"], run_name="__main__")
    else:
        runpy.run_module(job["module"], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as requests:
        _load()
        asked = _serve(requests)
    if asked is not None:
        _become(asked)
