# SPDX-License-Identifier: MIT
"""A compiler that requests its decisions over two pipes, as an environment without code.

LLVM's ``InteractiveModelRunner`` does so: ``opt`` and ``clang`` for inlining, ``llc`` for register
allocation. An episode is one run of the command, and a step answers one question. The module is
independent of the kind of question.
"""

import os
import subprocess
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from compiler_gym.errors import (
    BenchmarkInitError,
    CompilerDiagnosticError,
    EnvironmentNotSupported,
    InvalidActionError,
    ObservationError,
    ServiceTransportError,
)
from compiler_gym.sandbox import in_own_session
from compiler_gym.service import SessionSource
from compiler_gym.session import (
    ActionSpaceSpec,
    BenchmarkSpec,
    BoxSpec,
    CompilerSession,
    DiscreteSpec,
    ObservationSpec,
    OpaqueSpec,
    ScalarSpec,
    TextSpec,
)
from compiler_gym_foreign.interactive import CompilerQuestion, EndedConversation, Header, Pipes

__all__ = ["ModelRunnerSession", "runner_source"]

_SECONDS = 600.0
_LAST_LINES = 8


def runner_source(command: list[str], choices: int) -> SessionSource:
    """Return the source of sessions that are runs of `command`."""
    arguments = msgspec.json.encode(command).decode()
    options = (("command", arguments), ("choices", str(choices)))
    return SessionSource(f"{__name__}:ModelRunnerSession", options)


class ModelRunnerSession(CompilerSession):
    """One run of a compiler, stopped at a question.

    Options: ``command`` is the list of arguments of the command as JSON, in which ``{channel}``,
    ``{program}`` and ``{output}`` are paths; ``choices`` is the number of possible answers if an
    answer is a whole number.
    """

    forkable: ClassVar[bool] = False
    command: ClassVar[tuple[str, ...]] = ()
    """The command and its arguments."""
    observation_spaces: ClassVar[tuple[ObservationSpec, ...]] = (
        ObservationSpec(
            "Features",
            BoxSpec(float("-inf"), float("inf"), (-1,), "float64"),
            "The numbers of the question, tensor by tensor; empty after the last question.",
        ),
        ObservationSpec(
            "FeatureNames", OpaqueSpec("json"), "Name and shape of each tensor.", default="[]"
        ),
        ObservationSpec("Context", TextSpec(), "The subject of the question.", default=""),
        ObservationSpec(
            "Questions", ScalarSpec(0, None, "int"), "Number of answered questions.", default=0
        ),
        ObservationSpec(
            "Bytes",
            ScalarSpec(0, None, "int"),
            "The size of the output file; before the end, of the input program.",
            default=0,
        ),
    )

    @classmethod
    def prepare(cls, options: dict[str, str]) -> "type[CompilerSession]":
        """Return the class of the sessions of that command."""
        command = msgspec.json.decode(options["command"], type=tuple[str, ...])
        space = DiscreteSpec(int(options.get("choices", "2")))
        try:
            result = subprocess.run([command[0], "--version"], capture_output=True, check=False)
        except OSError as error:
            raise EnvironmentNotSupported(f"cannot run {command[0]}: {error.strerror}") from error
        lines = [line.strip() for line in result.stdout.decode(errors="replace").splitlines()]
        version = next((line for line in lines if "version" in line), command[0])
        spaces = (ActionSpaceSpec("Advice", space, "The answer to the question"),)
        attributes = {"command": command, "compiler_version": version, "action_spaces": spaces}
        return type(cls.__name__, (cls,), attributes)

    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        working_dir.mkdir(parents=True)
        self._program = working_dir / "program"
        self._program.write_bytes(benchmark.contents)
        self._output = working_dir / "output"
        self._said = working_dir / "said"
        self._answered = 0
        self._header: Header | None = None
        self._question: CompilerQuestion | None = None
        self._pipes = Pipes(working_dir / "channel")
        self._ending = ExitStack()
        self._process = self._begin()
        try:
            self._go_on()
        except BaseException as error:
            self.close()
            if isinstance(error, CompilerDiagnosticError):
                raise BenchmarkInitError(f"{benchmark.uri}: {error}") from error
            raise
        advice = self._header.advice if self._header else None
        if advice is not None and (advice.dtype.kind == "f" or advice.shape not in ((), (1,))):
            box = BoxSpec(float("-inf"), float("inf"), advice.shape, "float64")
            self.initial_action_space = ActionSpaceSpec("Advice", box, advice.name)

    def apply_action(self, action: Any) -> tuple[bool, ActionSpaceSpec | None, bool]:
        """Answer the question, and wait for the next one or the end."""
        if self._question is None or self._header is None:
            return True, None, True
        try:
            advice = self._header.advice.pack(action)
        except (ServiceTransportError, TypeError, ValueError) as error:
            raise InvalidActionError(f"{action!r} is not valid advice: {error}") from error
        self._pipes.answer(advice)
        self._answered += 1
        return not self._go_on(), None, False

    def get_observation(self, name: str) -> Any:
        """Return the plain value of observation `name`."""
        question, header = self._question, self._header
        if name == "Features":
            tensors = question.tensors if question else ()
            return [float(number) for tensor in tensors for number in tensor.ravel()]
        if name == "FeatureNames":
            names_and_shapes = [[f.name, f.shape] for f in header.features] if header else []
            return msgspec.json.encode(names_and_shapes).decode()
        if name == "Context":
            return question.context if question else ""
        if name == "Questions":
            return self._answered
        path = self._output if question is None else self._program
        try:
            return path.stat().st_size
        except OSError as error:
            raise ObservationError(f"the compiler wrote no output: {error.strerror}") from error

    def close(self) -> None:
        """End the compiler and all processes that it started."""
        with suppress(OSError):  # the command may not have started
            self._ending.close()
        self._pipes.close()

    def _begin(self) -> "subprocess.Popen[Any]":
        paths = {
            "{channel}": self._pipes.base,
            "{program}": self._program,
            "{output}": self._output,
        }
        arguments: list[str] = []
        for argument in self.command:
            for name, path in paths.items():
                argument = argument.replace(name, str(path))
            arguments.append(argument)
        try:
            with self._said.open("wb") as log:
                return self._ending.enter_context(in_own_session(arguments, stdout=log, stderr=log))
        except OSError as error:
            self._pipes.close()
            raise BenchmarkInitError(f"cannot run {arguments[0]}: {error.strerror}") from error

    def _go_on(self) -> bool:
        """Wait for the next question; return False if the compiler ended instead.

        Raises:
            CompilerDiagnosticError: The compiler failed.
        """
        self._question = None
        wakes = os.pidfd_open(self._process.pid)
        try:
            until = time.monotonic() + _SECONDS
            while self._question is None and time.monotonic() < until:
                message = self._pipes.receive(until - time.monotonic(), wakes=wakes)
                if isinstance(message, Header):
                    self._header = message
                elif isinstance(message, CompilerQuestion):
                    self._question = message
                elif isinstance(message, EndedConversation) or self._process.poll() is not None:
                    break
        finally:
            os.close(wakes)
        if self._question is not None:
            return True
        try:
            status = self._process.wait(max(until - time.monotonic(), 0.0))
        except subprocess.TimeoutExpired as error:
            raise CompilerDiagnosticError(
                f"{self.command[0]} neither sent a question nor ended within {_SECONDS:g} s"
            ) from error
        if status != 0:
            lines = self._said.read_text(errors="replace").splitlines()[-_LAST_LINES:]
            raise CompilerDiagnosticError(
                f"{self.command[0]} ended with status {status}: " + "\n".join(lines)
            )
        return False
