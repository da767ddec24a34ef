# SPDX-License-Identifier: MIT
"""Every error this library raises on purpose.

Three branches tell where the problem is::

    CompilerGymError
    ├── RequestError                     in the call: the request cannot be served
    │   ├── BenchmarkInitError           a program cannot be read or built
    │   │   ├── BenchmarkNotFoundError   a file of the program does not exist
    │   │   ├── BenchmarkTimeoutError    it took too long
    │   │   ├── BenchmarkOutOfMemoryError  its worker exceeded the memory limit at the start
    │   │   └── BenchmarkTypeError       a value of that type cannot be a program
    │   ├── DatasetInitError             a dataset cannot be installed or opened
    │   ├── DownloadFailed               a file cannot be fetched
    │   │   └── TooManyRequests
    │   ├── InvalidActionError           an action outside the action space
    │   ├── PipelineError                a pass pipeline that the compiler rejects
    │   ├── PluginError                  a plug-in is missing, or a compiler cannot load it
    │   ├── UnknownNameError             no such benchmark, dataset, space or environment
    │   ├── InvalidParameterError        an unknown session parameter, or an invalid value
    │   │   └── RenderModeError          a render mode that an environment does not have
    │   ├── SandboxError                 this machine cannot make the sandbox, or it is too weak
    │   ├── ValidationUnavailableError   the program cannot be run here, so it cannot be validated
    │   ├── MinimizationError            the hypothesis does not hold for the whole episode
    │   ├── StateFileError               a file of states that cannot be read
    │   │   └── StateFileNotFoundError   it does not exist
    │   ├── CacheError                   a cache that cannot be written
    │   ├── ProjectError                 a project that cannot be built, linked or tested
    │   ├── PlanError                    a plan of a tuned build that cannot be read or applied
    │   ├── PolicyError                  a policy failed, or did something that cannot be recorded
    │   │   ├── PolicyLoadError          it cannot be read, compiled or found in its file
    │   │   ├── PolicyCrashedError       it raised, or its process ended
    │   │   ├── PolicyTimeoutError       it took too long for one decision
    │   │   └── PolicyAnswerError        its answer is not a decision
    │   ├── ExplorerError                a request that the web explorer refuses
    │   └── RecordingError               a record of episodes that cannot be written
    ├── CompilerError                    in the compiler: it ran and failed
    │   ├── CompilerFatalError           it stopped with a fatal error
    │   ├── CompilerDiagnosticError      it reported errors
    │   ├── InvalidIrError               the IR no longer verifies
    │   ├── ModuleTooLargeError          the program exceeded its size limit
    │   ├── ObservationError             an observation cannot be computed on this program
    │   ├── SessionError                 the code of a session raised an exception
    │   ├── TableError                   the tables of a plug-in contradict each other
    │   └── WrongResultError             compiled code computes a different result
    └── ServiceError                     in the worker: the process that runs the compiler
        ├── ServiceInitError             it did not start
        │   └── EnvironmentNotSupported
        ├── ServiceIsClosed              it was closed, or belongs to another process
        ├── ServiceOSError               the operating system refused a request
        ├── ServiceTransportError        messages were lost or malformed
        ├── SessionNotFound              no episode is running
        └── WorkerDied                   it ended in the middle of a request
            ├── WorkerCrashedError       by a signal or an exit
            ├── WorkerTimeoutError       it exceeded its deadline and was ended
            └── WorkerOutOfMemoryError   it exceeded its memory limit

Warnings report omissions that leave the result valid::

    CompilerGymWarning
    └── CacheWarning                     a result could not be stored for the next time

``nearest`` suggests known names for an unknown one. ``finding`` is a finding of a validation, and
``records`` writes records as JSON.

Names that CompilerGym 0.2.5 documents keep the bases they had there. During an episode,
``step()`` never raises errors of the compiler and worker branches: it truncates the
episode, and ``info["error"]`` holds the instance.
"""

import signal as _signal
import sys as _sys
import warnings as _warnings
from typing import TYPE_CHECKING

from compiler_gym.errors.finding import ValidationError as ValidationError
from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.errors.nearest import did_you_mean, unknown_name
    from compiler_gym.errors.records import Record

__all__ = [
    "BenchmarkInitError",
    "BenchmarkNotFoundError",
    "BenchmarkOutOfMemoryError",
    "BenchmarkTimeoutError",
    "BenchmarkTypeError",
    "CacheError",
    "CacheWarning",
    "CompilerDiagnosticError",
    "CompilerError",
    "CompilerFatalError",
    "CompilerGymError",
    "CompilerGymWarning",
    "DatasetInitError",
    "DownloadFailed",
    "EnvironmentNotSupported",
    "ExplorerError",
    "InvalidActionError",
    "InvalidIrError",
    "InvalidParameterError",
    "MinimizationError",
    "ModuleTooLargeError",
    "ObservationError",
    "PipelineError",
    "PlanError",
    "PluginError",
    "PolicyAnswerError",
    "PolicyCrashedError",
    "PolicyError",
    "PolicyLoadError",
    "PolicyTimeoutError",
    "ProjectError",
    "Record",
    "RecordingError",
    "RenderModeError",
    "RequestError",
    "SandboxError",
    "ServiceError",
    "ServiceInitError",
    "ServiceIsClosed",
    "ServiceOSError",
    "ServiceTransportError",
    "SessionError",
    "SessionNotFound",
    "StateFileError",
    "StateFileNotFoundError",
    "TableError",
    "TooManyRequests",
    "UnknownNameError",
    "ValidationUnavailableError",
    "WorkerCrashedError",
    "WorkerDied",
    "WorkerOutOfMemoryError",
    "WorkerTimeoutError",
    "WrongResultError",
    "did_you_mean",
    "error_from_name",
    "program_unreadable",
    "unknown_name",
    "warn_of_the_caller",
    "warning_from_name",
]

__getattr__ = door(__name__)


class CompilerGymError(Exception):
    """The root of every error raised on purpose."""

    reproducer: str | None = None
    """The command that reproduces the failure outside this library, if there is one."""


class RequestError(CompilerGymError):
    """The request cannot be served."""


class BenchmarkInitError(RequestError, OSError, ValueError):
    """A program cannot be found, read, compiled or parsed."""


class BenchmarkNotFoundError(BenchmarkInitError, FileNotFoundError):
    """A file that a program needs does not exist."""


class BenchmarkTimeoutError(BenchmarkInitError, TimeoutError):
    """A program was not read, compiled or started in time."""


class BenchmarkTypeError(BenchmarkInitError, TypeError):
    """A value passed as a program, or as a part of one, has the wrong type."""


class SandboxError(RequestError):
    """This machine cannot make the sandbox, or it is too weak for the program."""


class DatasetInitError(RequestError, OSError):
    """A dataset cannot be installed or opened."""


class DownloadFailed(RequestError, OSError):
    """A file cannot be fetched from any of its addresses."""


class TooManyRequests(DownloadFailed):
    """A server rejected a request because there were too many (HTTP 429)."""


class InvalidActionError(RequestError, ValueError):
    """An action is not a member of the action space."""


class PipelineError(RequestError, ValueError):
    """The compiler does not accept a pass pipeline."""


class PluginError(RequestError, ValueError):
    """A compiler's plug-in is missing, is not a plug-in, or was built for another compiler."""


class UnknownNameError(RequestError, KeyError):
    """A benchmark, dataset, space or environment of that name does not exist."""

    __str__ = Exception.__str__  # a KeyError shows its message as a quoted key


class InvalidParameterError(RequestError, ValueError):
    """A session parameter does not exist, or its value is invalid."""


class RenderModeError(InvalidParameterError, TypeError):
    """The environment does not have this render mode.

    Also a `TypeError`, which libraries that try out modes, like Stable-Baselines3, expect.
    """


class ValidationUnavailableError(RequestError):
    """A program declares how to run it, but the environment cannot run its output."""


class MinimizationError(RequestError, ValueError):
    """An episode cannot be shortened: the hypothesis does not hold for the whole episode."""


class StateFileError(RequestError, ValueError):
    """A file of states cannot be read: wrong format, damaged or cut short."""


class StateFileNotFoundError(StateFileError, FileNotFoundError):
    """A file of states does not exist."""


class CacheError(RequestError, OSError):
    """A cache directory cannot be created or written."""


class ProjectError(RequestError, ValueError):
    """A project cannot be built, linked, tested or measured."""


class PlanError(RequestError, ValueError):
    """A plan of a tuned build cannot be read or applied."""


class PolicyError(RequestError):
    """A policy failed, or did something that a collection cannot record."""


class PolicyLoadError(PolicyError, ValueError):
    """A policy cannot be read or compiled, or its file has no such function."""


class PolicyCrashedError(PolicyError):
    """A policy raised an exception, or its process ended."""


class PolicyTimeoutError(PolicyError, TimeoutError):
    """A policy exceeded the time limit of a decision."""


class PolicyAnswerError(PolicyError, ValueError):
    """The answer of a policy is not a decision."""


class ExplorerError(RequestError):
    """A server of this library, such as the web explorer, refuses a request."""

    def __init__(self, message: str, *, status: int = 400, next: str = ""):
        super().__init__(message)
        self.status = status
        """The HTTP status code."""
        self.next = next
        """The suggested remedy."""


class RecordingError(RequestError, OSError):
    """A file of episodes cannot be written."""


class CompilerError(CompilerGymError):
    """The compiler ran and failed."""


class CompilerFatalError(CompilerError):
    """The compiler stopped with an internal error or a usage error."""


class CompilerDiagnosticError(CompilerError):
    """The compiler reported one or more errors about the program."""


class InvalidIrError(CompilerError, ValueError):
    """The IR does not pass the compiler's verifier."""


class ModuleTooLargeError(CompilerError):
    """An action grew the program beyond its size limit."""


class ObservationError(CompilerError, ValueError):
    """An observation has no value for this program."""


class SessionError(CompilerError):
    """The code of a compiler session raised an exception."""


class WrongResultError(CompilerError):
    """The compiled code computes a different result than the program."""


class TableError(CompilerError, ValueError):
    """The rows of a compiler's tables contradict each other or its engine."""


class ServiceError(CompilerGymError):
    """The process that runs the compiler failed or was lost."""


class ServiceInitError(ServiceError, OSError):
    """The process that runs the compiler did not start."""


class EnvironmentNotSupported(ServiceInitError):
    """This environment cannot run on this machine; the message names the missing part."""


class ServiceIsClosed(ServiceError, TypeError):
    """The environment was closed, or the call came from a process that does not own it."""


class ServiceOSError(ServiceError, OSError):
    """The operating system refused a resource that the service needs."""


class ServiceTransportError(ServiceError, OSError):
    """A message between client and worker was lost or malformed."""


class SessionNotFound(ServiceError):
    """No episode is running: call ``reset()`` first."""


class WorkerDied(ServiceError):
    """A worker process ended during a request."""


class WorkerCrashedError(WorkerDied):
    """A worker process ended with a signal or an unexpected exit."""

    def __init__(self, message: str, *, signal: int | None = None, exit_status: int | None = None):
        super().__init__(message)
        self.signal = signal
        """The number of the signal that ended the worker, if one did."""
        self.exit_status = exit_status
        """The exit status of the worker, if it exited by itself."""

    @property
    def signal_name(self) -> str | None:
        """The name of the signal, for example ``SIGSEGV``."""
        return None if self.signal is None else _signal.Signals(self.signal).name


class WorkerTimeoutError(WorkerDied, TimeoutError):
    """A request exceeded its deadline, so its worker was ended."""

    def __init__(self, message: str, *, seconds: float | None = None):
        super().__init__(message)
        self.seconds = seconds
        """The deadline, in seconds."""


class WorkerOutOfMemoryError(WorkerDied, MemoryError):
    """A request needed more memory than its worker may use."""

    def __init__(self, message: str, *, limit_bytes: int | None = None):
        super().__init__(message)
        self.limit_bytes = limit_bytes
        """The limit, if one is set."""


class BenchmarkOutOfMemoryError(BenchmarkInitError, WorkerOutOfMemoryError):
    """A program was not started because its worker needs more memory than it may use."""


class CompilerGymWarning(UserWarning):
    """An omission that leaves the result valid."""


class CacheWarning(CompilerGymWarning):
    """A result could not be stored: it will be computed again next time."""


def program_unreadable(path: object, error: OSError) -> BenchmarkInitError:
    """Return the error to raise if reading the file `path` of a program failed with `error`."""
    missing = isinstance(error, FileNotFoundError)
    kind = BenchmarkNotFoundError if missing else BenchmarkInitError
    return kind(f"cannot read {path}: {error.strerror}")


def warn_of_the_caller(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line outside this library, across any number of wrappers."""
    frame, level = _sys._getframe(1), 2  # pyright: ignore[reportPrivateUsage]  # as `warnings` does
    ours = ("compiler_gym.", "compiler_gym_")
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(ours):
        frame, level = frame.f_back, level + 1
    _warnings.warn(message, category, stacklevel=level)


def warning_from_name(name: str, message: str) -> Warning:
    """Return the warning of class `name`, or a `UserWarning` that names it."""
    cls = globals().get(name)
    if isinstance(cls, type) and issubclass(cls, CompilerGymWarning):
        return cls(message)
    return UserWarning(f"{name}: {message}")


def error_from_name(name: str, message: str) -> CompilerGymError:
    """Return the error of class `name`, or a `SessionError` that names it.

    Errors cross the process border as a class name and a message.
    """
    cls = globals().get(name)
    if isinstance(cls, type) and issubclass(cls, CompilerGymError):
        return cls(message)
    return SessionError(f"{name}: {message}")
