# SPDX-License-Identifier: MIT
"""Every error this library raises on purpose.

Three branches tell the reader whom to ask::

    CompilerGymError
    ├── RequestError                     the caller: the request cannot be served
    │   ├── BenchmarkInitError           a program cannot be read or built
    │   │   ├── BenchmarkNotFoundError   a file of it does not exist
    │   │   ├── BenchmarkTimeoutError    it took too long
    │   │   ├── BenchmarkOutOfMemoryError  its worker passed its memory limit at the start
    │   │   └── BenchmarkTypeError       a value of that type cannot be a program
    │   ├── DatasetInitError             a dataset cannot be installed or opened
    │   ├── DownloadFailed               a file cannot be fetched
    │   │   └── TooManyRequests
    │   ├── InvalidActionError           an action outside the action space
    │   ├── PipelineError                a pass pipeline the compiler refuses
    │   ├── PluginError                  a plug-in is missing, or a compiler cannot load it
    │   ├── UnknownNameError             no such benchmark, dataset, space or environment
    │   ├── InvalidParameterError        a session parameter that does not exist or fit
    │   │   └── RenderModeError          a render mode that an environment does not have
    │   ├── SandboxError                 this machine cannot make the sandbox, or it is too weak
    │   ├── ValidationUnavailableError   the program cannot be run here, so it cannot be validated
    │   ├── MinimizationError            the hypothesis is false of the whole episode
    │   ├── StateFileError               a file of states that cannot be read
    │   │   └── StateFileNotFoundError   it does not exist
    │   ├── CacheError                   a cache that cannot be written
    │   ├── ProjectError                 a project that cannot be built, linked or tested as asked
    │   ├── PlanError                    a plan of a tuned build that cannot be read or applied
    │   ├── PolicyError                  a policy failed, or did what cannot be recorded
    │   │   ├── PolicyLoadError          it cannot be read, compiled or found in its file
    │   │   ├── PolicyCrashedError       it raised, or its process ended
    │   │   ├── PolicyTimeoutError       it took too long for one decision
    │   │   └── PolicyAnswerError        it answered what is no decision
    │   ├── ExplorerError                a request of the web explorer that is refused
    │   └── RecordingError               a record of episodes that cannot be written
    ├── CompilerError                    the compiler: it ran and said no
    │   ├── CompilerFatalError           it gave up with a fatal error
    │   ├── CompilerDiagnosticError      it reported errors
    │   ├── InvalidIrError               the IR no longer verifies
    │   ├── ModuleTooLargeError          the program outgrew its limit
    │   ├── ObservationError             an observation cannot be computed on this program
    │   ├── SessionError                 a session's own code raised
    │   ├── TableError                   its plug-in's tables contradict themselves
    │   └── WrongResultError             compiled code computes something else
    └── ServiceError                     the worker: the process that holds the compiler
        ├── ServiceInitError             it did not start
        │   └── EnvironmentNotSupported
        ├── ServiceIsClosed              it was closed, or belongs to another process
        ├── ServiceOSError               the operating system refused
        ├── ServiceTransportError        messages were lost or malformed
        ├── SessionNotFound              no episode is running
        └── WorkerDied                   it ended in mid-request
            ├── WorkerCrashedError       by a signal or an exit
            ├── WorkerTimeoutError       it passed its deadline and was ended
            └── WorkerOutOfMemoryError   it passed its memory limit

Warnings report what was not done although the result is valid::

    CompilerGymWarning
    └── CacheWarning                     a result could not be kept for the next time

``nearest`` suggests known names for an unknown one. ``finding`` is a finding of a validation, and
``records`` writes records as JSON.

Names that CompilerGym 0.2.5 documents keep the bases they had there. During an
episode the compiler and worker branches are never raised by ``step()``: the
episode is truncated and ``info["error"]`` holds the instance.
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
    """The command that shows the failure outside this library, where one exists."""


class RequestError(CompilerGymError):
    """The caller asked for something that cannot be served."""


class BenchmarkInitError(RequestError, OSError, ValueError):
    """A program cannot be found, read, compiled or parsed."""


class BenchmarkNotFoundError(BenchmarkInitError, FileNotFoundError):
    """A file that a program is to be made of does not exist."""


class BenchmarkTimeoutError(BenchmarkInitError, TimeoutError):
    """A program was not read, compiled or started within its time."""


class BenchmarkTypeError(BenchmarkInitError, TypeError):
    """A value given as a program, or as a part of one, has the wrong type."""


class SandboxError(RequestError):
    """This machine cannot make the sandbox, or it is too weak for the program to be run."""


class DatasetInitError(RequestError, OSError):
    """A dataset cannot be installed or opened."""


class DownloadFailed(RequestError, OSError):
    """A file cannot be fetched from any of its addresses."""


class TooManyRequests(DownloadFailed):
    """A server asked for fewer requests (HTTP 429)."""


class InvalidActionError(RequestError, ValueError):
    """An action is not a member of the action space."""


class PipelineError(RequestError, ValueError):
    """The compiler does not accept a pass pipeline."""


class PluginError(RequestError, ValueError):
    """A compiler's plug-in is missing, is not a plug-in, or was built for another compiler."""


class UnknownNameError(RequestError, KeyError):
    """There is no benchmark, dataset, space or environment of that name."""

    __str__ = Exception.__str__  # a KeyError shows its message as a quoted key


class InvalidParameterError(RequestError, ValueError):
    """A session parameter does not exist or its value does not fit."""


class RenderModeError(InvalidParameterError, TypeError):
    """The environment does not have this render mode.

    Also a `TypeError`: libraries that try a mode, as Stable-Baselines3 does, expect one.
    """


class ValidationUnavailableError(RequestError):
    """A program declares how it is run, but the environment cannot run what it compiles."""


class MinimizationError(RequestError, ValueError):
    """An episode cannot be shortened: the hypothesis is false of the whole of it."""


class StateFileError(RequestError, ValueError):
    """A file of states cannot be read: it has another format, is damaged or cut short."""


class StateFileNotFoundError(StateFileError, FileNotFoundError):
    """A file of states does not exist."""


class CacheError(RequestError, OSError):
    """A cache directory cannot be created or written."""


class ProjectError(RequestError, ValueError):
    """A project cannot be built, linked, tested or measured as asked."""


class PlanError(RequestError, ValueError):
    """A plan of a tuned build cannot be read or applied."""


class PolicyError(RequestError):
    """A policy failed, or did what a collection cannot record."""


class PolicyLoadError(PolicyError, ValueError):
    """A policy cannot be read or compiled, or its file has no such function."""


class PolicyCrashedError(PolicyError):
    """A policy raised an exception, or the process it ran in ended."""


class PolicyTimeoutError(PolicyError, TimeoutError):
    """A policy took longer for one decision than it may."""


class PolicyAnswerError(PolicyError, ValueError):
    """A policy answered what is no decision."""


class ExplorerError(RequestError):
    """A server of this library, such as the web explorer, refuses a request."""

    def __init__(self, message: str, *, status: int = 400, next: str = ""):
        super().__init__(message)
        self.status = status
        """The HTTP status code."""
        self.next = next
        """What to do about it."""


class RecordingError(RequestError, OSError):
    """A file of episodes cannot be written."""


class CompilerError(CompilerGymError):
    """The compiler ran and said no."""


class CompilerFatalError(CompilerError):
    """The compiler stopped with an internal or usage error of its own."""


class CompilerDiagnosticError(CompilerError):
    """The compiler reported one or more errors about the program."""


class InvalidIrError(CompilerError, ValueError):
    """The IR does not pass the compiler's verifier."""


class ModuleTooLargeError(CompilerError):
    """An action grew the program beyond its limit."""


class ObservationError(CompilerError, ValueError):
    """An observation has no value on this program."""


class SessionError(CompilerError):
    """The code of a compiler session raised an exception of its own."""


class WrongResultError(CompilerError):
    """The compiled code computes another result than the program."""


class TableError(CompilerError, ValueError):
    """The rows of a compiler's tables contradict each other or its engine."""


class ServiceError(CompilerGymError):
    """The process that holds the compiler failed or was lost."""


class ServiceInitError(ServiceError, OSError):
    """The process that holds the compiler did not start."""


class EnvironmentNotSupported(ServiceInitError):
    """This environment cannot run on this machine; the message says what is missing."""


class ServiceIsClosed(ServiceError, TypeError):
    """The environment was closed, or the call came from a process that does not own it."""


class ServiceOSError(ServiceError, OSError):
    """The operating system refused something the service needs."""


class ServiceTransportError(ServiceError, OSError):
    """A message between client and worker was lost or malformed."""


class SessionNotFound(ServiceError):
    """No episode is running: call ``reset()`` first."""


class WorkerDied(ServiceError):
    """A worker process ended while a request was under way."""


class WorkerCrashedError(WorkerDied):
    """A worker process ended by a signal or an unexpected exit."""

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
    """A request passed its deadline, so its worker was ended."""

    def __init__(self, message: str, *, seconds: float | None = None):
        super().__init__(message)
        self.seconds = seconds
        """The deadline that passed."""


class WorkerOutOfMemoryError(WorkerDied, MemoryError):
    """A request needed more memory than its worker may have."""

    def __init__(self, message: str, *, limit_bytes: int | None = None):
        super().__init__(message)
        self.limit_bytes = limit_bytes
        """The limit that was passed, where one is set."""


class BenchmarkOutOfMemoryError(BenchmarkInitError, WorkerOutOfMemoryError):
    """A program was not started because its worker needs more memory than it may have."""


class CompilerGymWarning(UserWarning):
    """Something was not done although the result is valid."""


class CacheWarning(CompilerGymWarning):
    """A result could not be kept for the next time: it will be computed again."""


def program_unreadable(path: object, error: OSError) -> BenchmarkInitError:
    """Return the error to raise if reading the file `path` of a program failed with `error`."""
    missing = isinstance(error, FileNotFoundError)
    kind = BenchmarkNotFoundError if missing else BenchmarkInitError
    return kind(f"cannot read {path}: {error.strerror}")


def warn_of_the_caller(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line outside this library, however many wrappers are between."""
    frame, level = _sys._getframe(1), 2  # pyright: ignore[reportPrivateUsage]  # as `warnings` does
    while frame is not None and str(frame.f_globals.get("__name__")).startswith("compiler_gym."):
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
