# SPDX-License-Identifier: MIT
"""Serve a policy to any number of compilers at once, each with its own pair of pipes."""

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
from compiler_gym_foreign.interactive import Pipes
from compiler_gym_inline.llvm.policies import FeaturePolicy, find_feature_policy
from compiler_gym_inline.llvm.serving import launcher
from compiler_gym_inline.llvm.serving.answering import answer_compilers, words_to_ask

__all__ = ["PolicyServer", "serve"]

_DRIVERS, _OPT = ("clang", "clang++"), "opt"
_SECONDS_TO_END = 3.0
"""Longer than the time that a launcher gives its compiler to end."""
_LONGEST_KIND = 16
_WAITING = 64


class PolicyServer:
    """A server that lets a policy decide in compilers; used as a context manager.

    It fills a folder with programs named ``clang``, ``clang++`` and ``opt``, with and without
    LLVM's version, which run the real ones and make them ask. Commands with this folder first on
    PATH compile with the policy. If the policy fails, the compiler is killed and reports the error.
    The policy decides one call at a time, even for several compilers.

    Args:
        policy: The policy that decides.
        folder: An empty folder for the programs, the socket and the pipes. It is not removed.

    Raises:
        EnvironmentNotSupported: This version's clang is not installed.
    """

    def __init__(self, policy: FeaturePolicy, folder: Path) -> None:
        self._policy, self._folder = policy, folder
        self._one_at_a_time = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._clients: set[socket.socket] = set()
        self._count = 0
        self.failures: list[CompilerGymError] = []
        """The errors of the policy."""
        self.bin = folder / "bin"
        """The folder to put on PATH."""
        require_tool("clang", "to compile with the policy")
        self._address = str(folder / "socket")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.bind(self._address)
        except OSError as error:
            self._socket.close()
            raise ServiceOSError(
                f"cannot create the socket {self._address}: {error}; set TMPDIR to a shorter path"
            ) from error
        self._socket.listen(_WAITING)
        self._write_launchers()

    @property
    def asked(self) -> int:
        """Number of requested decisions."""
        return self._policy.asked

    @property
    def agreed(self) -> int:
        """Number of decisions that equal LLVM's own."""
        return self._policy.agreed

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """Return `variables` changed so that a command compiles with the policy."""
        path = os.pathsep.join((str(self.bin), variables.get("PATH", os.defpath)))
        compilers = {"CC": tool_name("clang"), "CXX": tool_name("clang++")}
        return {**variables, **compilers, "PATH": path}

    def close(self) -> None:
        """End all active compilers and stop; a second call does nothing."""
        if self._socket.fileno() < 0:
            return
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for client in list(self._clients):
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        deadline = time.monotonic() + _SECONDS_TO_END
        for thread in self._threads:  # a slower policy ends with this process
            thread.join(max(deadline - time.monotonic(), 0.0))

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
            command = [sys.executable, "-IS", launcher.__file__, self._address, kind, real]
            text = f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n'
            for name in (tool, tool_name(tool)):
                (self.bin / name).write_text(text)
                (self.bin / name).chmod(0o755)

    def _start(self, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, name="policy", daemon=True)
        self._threads = [other for other in self._threads if other.is_alive()]
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
            with suppress(OSError):  # the compiler may have ended
                client.sendall(" ".join(str(error).split()).encode() + b"\n")
            return _SECONDS_TO_END

        try:
            with client, Pipes(base) as pipes:
                kind = client.recv(_LONGEST_KIND)
                flags = words_to_ask(base, is_driver=kind != b"opt\n")
                client.sendall("\0".join(flags).encode() + b"\n")
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
    """Serve a policy while a command runs, and return the command's exit status.

    Args:
        policy: The name of the policy; see `find_feature_policy`.
        command: The command to run; without one, the policy is served until Ctrl-C.
        channel: Use this pair of pipes instead, for one compiler at a time.
        say: Receives messages for the user.

    Raises:
        PolicyLoadError: The policy does not exist or cannot be loaded.
        InvalidParameterError: Both a command and a channel were given.
        UnknownNameError: The command cannot be run.
        ServiceOSError: The pipes cannot be created.
    """
    rule = find_feature_policy(policy)
    if channel is not None:
        if command:
            raise InvalidParameterError(
                "--channel cannot be combined with a command, which gets its own pipes; omit one"
            )
        return _serve_channel(rule, channel, say)
    with scratch_directory("policy") as folder, PolicyServer(rule, Path(folder)) as server:
        if command:
            status = _run(command, server)
        else:
            say(f"compile with PATH={server.bin}:$PATH, for example:")
            say(f"  PATH={server.bin}:$PATH make CC={tool_name('clang')}")
            say("press Ctrl-C to stop")
            status = _wait()
    say(
        f"{server.asked:,} decisions; {server.agreed:,} match LLVM's own"
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
        server.close()  # first, because it ends compilers cleanly
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
