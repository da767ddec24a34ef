# SPDX-License-Identifier: MIT
"""Serves a policy to any number of compilers at once, each with a pair of pipes of its own."""

import os
import shlex
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from compiler_gym.envs.llvm.toolchain import find_tool, require_tool, tool_name
from compiler_gym.errors import (
    CompilerGymError,
    InvalidParameterError,
    ServiceOSError,
    UnknownNameError,
)
from compiler_gym.files import scratch_directory
from compiler_gym.plugins.interactive import Pipes
from compiler_gym.tools.inline.llvm.policies import FeaturePolicy, find_feature_policy
from compiler_gym.tools.inline.llvm.serving import launcher
from compiler_gym.tools.inline.llvm.serving.answering import answer_compilers, words_to_ask

__all__ = ["PolicyServer", "serve"]

_DRIVERS, _OPT = ("clang", "clang++"), "opt"
_SECONDS_TO_END = 3.0
"""More than a launcher gives its compiler."""
_LONGEST_KIND = 16
_WAITING = 64


class PolicyServer:
    """Answers compilers with a policy, from its start to its end as a context manager.

    A folder is filled with programs named ``clang``, ``clang++`` and ``opt``, with and without
    LLVM's version, which run the real ones and make them ask. Whoever has that folder first on
    PATH compiles with the policy. A compiler whose policy fails is ended, says why and fails.
    The policy decides one call at a time, however many compilers there are.

    Args:
        policy: What decides.
        folder: An empty folder for the programs, the socket and the pipes. Not removed.

    Raises:
        EnvironmentNotSupported: clang of this version is not installed.
    """

    def __init__(self, policy: FeaturePolicy, folder: Path) -> None:
        self._policy, self._folder = policy, folder
        self._one_at_a_time = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._clients: set[socket.socket] = set()
        self._count = 0
        self.failures: list[CompilerGymError] = []
        """Why policies failed."""
        self.bin = folder / "bin"
        """What belongs on PATH."""
        require_tool("clang", "to ask the policy")
        self._address = str(folder / "socket")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.bind(self._address)
        except OSError as error:
            self._socket.close()
            raise ServiceOSError(
                f"cannot make the socket {self._address}: {error}: TMPDIR may name a shorter folder"
            ) from error
        self._socket.listen(_WAITING)
        self._write_launchers()

    @property
    def asked(self) -> int:
        """Number of decisions that were asked for."""
        return self._policy.asked

    @property
    def agreed(self) -> int:
        """How many of them were LLVM's own."""
        return self._policy.agreed

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return `variables` for a command that compiles with the policy."""
        path = os.pathsep.join((str(self.bin), variables.get("PATH", os.defpath)))
        chosen = {"CC": tool_name("clang"), "CXX": tool_name("clang++")}
        return {**variables, **chosen, "PATH": path}

    def close(self) -> None:
        """End every compiler that still asks, and stop; a second time does nothing."""
        if self._socket.fileno() < 0:
            return
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for client in list(self._clients):
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        end = time.monotonic() + _SECONDS_TO_END
        for thread in self._threads:  # one whose policy takes longer ends with this process
            thread.join(max(end - time.monotonic(), 0.0))

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _write_launchers(self) -> None:
        self.bin.mkdir()
        for tool in (*_DRIVERS, _OPT):
            real = find_tool(tool)
            if real is None:
                continue
            kind = "opt" if tool == _OPT else "driver"
            words = [sys.executable, "-IS", launcher.__file__, self._address, kind, real]
            text = f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n'
            for name in (tool, tool_name(tool)):
                (self.bin / name).write_text(text)
                (self.bin / name).chmod(0o755)

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, name="policy", daemon=True)
        self._threads = [one for one in self._threads if one.is_alive()]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._socket.accept()
            except OSError:  # closed
                return
            self._clients.add(client)
            self._count += 1
            self._start(self._serve, client, self._folder / f"pipes-{self._count}")

    def _serve(self, client: socket.socket, base: Path) -> None:
        def refuse(error: CompilerGymError) -> float:
            self.failures.append(error)
            with suppress(OSError):  # who asked is no more
                client.sendall(" ".join(str(error).split()).encode() + b"\n")
            return _SECONDS_TO_END

        try:
            with client, Pipes(base) as pipes:
                kind = client.recv(_LONGEST_KIND)
                words = words_to_ask(base, is_driver=kind != b"opt\n")
                client.sendall("\0".join(words).encode() + b"\n")
                answer_compilers(pipes, self._compilation, wakes=client.fileno(), refuse=refuse)
        except (CompilerGymError, OSError) as error:
            self.failures += [error] if isinstance(error, CompilerGymError) else []
        finally:
            self._clients.discard(client)

    @contextmanager
    def _compilation(self) -> Generator[Callable[[NDArray[np.int64]], bool]]:
        with self._policy.compilation() as decide:

            def decide_alone(features: NDArray[np.int64]) -> bool:
                with self._one_at_a_time:
                    return decide(features)

            yield decide_alone


def serve(
    policy: str,
    *,
    command: Sequence[str] = (),
    channel: Path | None = None,
    say: Callable[[str], None],
) -> int:
    """Serve a policy, and return the exit status of the command that was given.

    Args:
        policy: Its name; see `find_feature_policy`.
        command: What to run while it is served; without one, until Ctrl-C.
        channel: Answer at this pair of pipes instead, one compiler after the other.
        say: Told what a user should know.

    Raises:
        PolicyLoadError: There is no such policy.
        InvalidParameterError: Both a command and a channel were given.
        UnknownNameError: The command cannot be run.
        ServiceOSError: The pipes cannot be made.
    """
    found = find_feature_policy(policy)
    if channel is not None:
        if command:
            raise InvalidParameterError(
                "a command gets pipes of its own: expected a command or --channel, found both"
            )
        return _serve_channel(found, channel, say)
    with scratch_directory("policy") as folder, PolicyServer(found, Path(folder)) as server:
        if command:
            status = _run(command, server)
        else:
            say(f"compile with PATH={server.bin}:$PATH, as in:")
            say(f"  PATH={server.bin}:$PATH make CC={tool_name('clang')}")
            say("Ctrl-C ends it")
            status = _wait()
    say(
        f"{server.asked:,} decisions, {server.agreed:,} of them as LLVM's"
        + (f"; the policy failed {len(server.failures)} times" if server.failures else "")
    )
    return status or bool(server.failures)


def _serve_channel(policy: FeaturePolicy, base: Path, say: Callable[[str], None]) -> int:
    failures: list[CompilerGymError] = []

    def refuse(error: CompilerGymError) -> float:
        failures.append(error)
        say(f"{error}; LLVM decides the rest of this compilation")
        return 0.0

    with Pipes(base.absolute()) as pipes:
        say("compile with " + shlex.join(["clang", *words_to_ask(pipes.base, is_driver=True)]))
        with suppress(KeyboardInterrupt):
            answer_compilers(pipes, policy.compilation, refuse=refuse)
    return bool(failures)


def _run(command: Sequence[str], server: PolicyServer) -> int:
    try:
        process = subprocess.Popen(command, env=server.environment(os.environ))
    except OSError as error:
        raise UnknownNameError(f"cannot run {command[0]}: {error.strerror}") from error
    try:
        status = process.wait()
    except BaseException:
        server.close()  # first, because it ends compilers in good order
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_SECONDS_TO_END)
        process.kill()
        process.wait()
        raise
    return status if status >= 0 else 128 - status


def _wait() -> int:
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
    return 0
