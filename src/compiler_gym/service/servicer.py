# SPDX-License-Identifier: MIT
"""Answers requests with one compiler session; independent of processes.

The same code serves a worker process and an in-process environment, so both give the same
answers. Exceptions never escape: they become `Failed` replies.
"""

import errno
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from time import monotonic_ns
from typing import Any

from compiler_gym.errors import (
    CompilerGymError,
    EnvironmentNotSupported,
    InvalidActionError,
    InvalidParameterError,
    ObservationError,
    PipelineError,
    SessionNotFound,
    UnknownNameError,
)
from compiler_gym.errors.nearest import unknown_name
from compiler_gym.sandbox import Sandbox, use
from compiler_gym.service.messages import (
    PROTOCOL,
    Description,
    Failed,
    Hello,
    Parameter,
    ParameterReply,
    Reply,
    Request,
    Resume,
    Start,
    Started,
    Step,
    Stepped,
    Stop,
    Stopped,
)
from compiler_gym.service.stopwatch import TIMES, Stopwatch, TimedSession
from compiler_gym.session import CompilerSession

_RECOVERABLE = (
    InvalidActionError,
    InvalidParameterError,
    ObservationError,
    PipelineError,
    SessionNotFound,
    UnknownNameError,
)
"""Errors that a session raises before it has changed anything."""
_RAISED = (Exception, SystemExit)
"""Errors that a session may raise: ``sys.exit()`` ends the session, not its process."""

_NO_EPISODE = "no episode is running: call reset() first"

_REFUSALS = {errno.EAGAIN, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOSPC}
_REFUSED_TO_LOADER = re.compile("failed to map segment|cannot allocate memory", re.IGNORECASE)


class Servicer:
    """Holds at most one session of `session_class` and its memoized observations."""

    def __init__(
        self, session_class: type[CompilerSession], make_working_dir: Callable[[], Path]
    ) -> None:
        self.session: CompilerSession | None = None
        self._class = session_class
        self._make_working_dir = make_working_dir
        self._working_dir: Path | None = None
        self._memo: dict[str, Any] = {}
        self._memoable = {s.name: s.deterministic for s in session_class.observation_spaces}
        self._action_spaces = {s.name: s for s in session_class.action_spaces}
        self._stopwatch: Stopwatch | None = None

    def handle(self, request: Request) -> Reply:
        """Return the reply to `request`; a failure is a reply too."""
        if type(request) is Step:
            return self.step(request)
        try:
            if type(request) is Start:
                return self._start(request)
            if type(request) is Resume:
                return self._start_episode(self._running(), request.observations)
            if type(request) is Parameter:
                if request.key == TIMES:
                    return ParameterReply(self._time(request.value))
                session, self._memo = self._running(), {}  # a parameter may change the program
                return ParameterReply(session.handle_session_parameter(request.key, request.value))
            if type(request) is Stop:
                self.stop()
                return Stopped()
            if type(request) is Hello:
                return _greet(request, self._class)
            raise UnknownNameError(f"a servicer cannot answer {type(request).__name__}")
        except _RECOVERABLE as error:
            return report_failure(error, recoverable=True)
        except _RAISED as error:  # the boundary: any error of a session becomes a reply
            self.stop()
            return report_failure(error)

    def stop(self, *, leaves: bool = False) -> None:
        """End the session, if there is one, and remove its directory.

        Set `leaves` if this process exits right after.
        """
        session, self.session = self.session, None
        self._memo = {}
        if session is not None:
            try:
                (session.leave if leaves else session.close)()
            except _RAISED:  # a broken session must not stop its own clean-up
                pass
        working_dir, self._working_dir = self._working_dir, None
        if working_dir is not None and os.path.lexists(working_dir):  # most sessions write no file
            shutil.rmtree(working_dir, ignore_errors=True)

    def remember(self, names: list[str]) -> None:
        """Compute observations for the copies of this process; ignore failures."""
        for name in names:
            try:
                if self._memoable.get(name):
                    self._observe(name)
            except _RAISED:
                continue

    @property
    def has_files(self) -> bool:
        """True if the session has made its directory."""
        return self._working_dir is not None and self._working_dir.exists()

    def move_files(self, has_files: bool) -> None:
        """Create a new working directory, with a copy of the files, after a fork of the process.

        `has_files` tells whether there were any before the fork; later ones belong to the parent.
        """
        self._time("off")  # timing was requested from the parent only
        before, session = self._working_dir, self.session
        if before is None or session is None:
            return
        self._working_dir = self._make_working_dir()
        if has_files:
            shutil.copytree(before, self._working_dir, symlinks=True)
        session.moved(self._working_dir)

    def _start(self, request: Start) -> Reply:
        began = monotonic_ns()
        self.stop()
        action_spaces = self._class.action_spaces
        if request.action_space is None:
            action_space = action_spaces[0]
        else:
            try:
                action_space = self._action_spaces[request.action_space]
            except KeyError:
                raise UnknownNameError(
                    unknown_name("action space", request.action_space, self._action_spaces)
                ) from None
        self._working_dir = self._make_working_dir()
        session = self._class(self._working_dir, action_space, request.benchmark)
        self.session = session if self._stopwatch is None else self._stopwatch.watch(session, began)
        limits = dict(request.limits)
        use(Sandbox.of_strength(limits.pop("sandbox", None)))
        for key, value in limits.items():
            session.handle_session_parameter(f"limits.{key}", str(value))
        return self._start_episode(session, request.observations)

    def _start_episode(self, session: CompilerSession, names: list[str]) -> Started:
        return Started(session.initial_action_space, [self._observe(name) for name in names])

    def step(self, request: Step) -> Reply:
        """Return the reply to `request`, like `handle`."""
        session = self.session
        if session is None:
            return report_failure(SessionNotFound(_NO_EPISODE), recoverable=True)
        end, new_space, no_effect, applied = False, None, True, 0
        for action in request.actions:
            result = self.apply(action, had_effect=not no_effect)
            if type(result) is Failed:
                result.applied = applied
                return result
            applied += 1
            if type(result) is bool:
                no_effect = no_effect and result
                continue
            assert type(result) is Stepped
            no_effect, end = no_effect and result.no_effect, result.end
            new_space = result.action_space or new_space
            if end:
                break
        if not request.observations:
            return Stepped(end, new_space, no_effect, [], applied)
        try:
            observations = [self._observe(name) for name in request.observations]
        except (ObservationError, UnknownNameError) as error:
            # The actions were applied: only the observations are missing.
            failure = [type(error).__name__, str(error)]
            return Stepped(end, new_space, no_effect, [], applied, failure)
        except _RAISED as error:  # a compiler that works lazily, on observation, fails here
            self.stop()
            return report_failure(error, applied=applied)
        return Stepped(end, new_space, no_effect, observations, applied)

    def apply(self, action: Any, *, had_effect: bool = False) -> bool | Reply:
        """Apply one action; return a bool instead of a reply if nothing else is to report.

        True means that the action changed nothing; after one that `had_effect` in the same request
        it may be False all the same.
        """
        session = self.session
        if session is None:
            return report_failure(SessionNotFound(_NO_EPISODE), recoverable=True)
        try:
            apply = session.apply_further if had_effect else session.apply_action
            end, new_space, no_effect = apply(action)
        except InvalidActionError as error:
            return report_failure(error, recoverable=True)
        except _RAISED as error:  # the boundary: any error of a session becomes a reply
            self.stop()
            return report_failure(error)
        except BaseException:  # an interrupt may leave the session in any state
            self.stop()
            raise
        if not no_effect and self._memo:
            self._memo = {}
        if end is not False or new_space is not None:  # the client rejects a number
            return Stepped(end, new_space, bool(no_effect), [], 1)
        return bool(no_effect)

    def _time(self, value: str) -> str:
        """Start or stop timing, or return the times: a text for `TIMES`."""
        if value == "take":
            return "[]" if self._stopwatch is None else self._stopwatch.take()
        if value not in ("on", "off"):
            raise InvalidParameterError(f"{TIMES} must be on, off or take (got {value!r})")
        session = self.session
        if isinstance(session, TimedSession):
            self.session = session = session.session
            session.time_parts(False)
        self._stopwatch = None
        if value == "on":
            self._stopwatch = Stopwatch()
            if session is not None:
                self.session = self._stopwatch.watch(session)
        return value

    def _observe(self, name: str) -> Any:
        memo = self._memo
        if name in memo:
            return memo[name]
        session = self._running()
        deterministic = self._memoable.get(name)
        if deterministic is None:
            raise UnknownNameError(unknown_name("observation space", name, self._memoable))
        value = session.get_observation(name)
        if deterministic:
            memo[name] = value
        return value

    def _running(self) -> CompilerSession:
        if self.session is None:
            raise SessionNotFound(_NO_EPISODE)
        return self.session


def describe_session(session_class: type[CompilerSession]) -> Description:
    """Return the description of `session_class`, after its `prepare`."""
    return Description(
        PROTOCOL,
        session_class.compiler_version,
        list(session_class.action_spaces),
        list(session_class.observation_spaces),
        ["fork"] if session_class.forkable else [],
    )


def _greet(hello: Hello, session_class: type[CompilerSession]) -> Reply:
    """Return the description of `session_class` for a client that speaks these versions."""
    description = describe_session(session_class)
    if description.protocol not in hello.protocols:
        message = f"the session needs version {description.protocol}, got {hello.protocols}"
        return report_failure(EnvironmentNotSupported(message), recoverable=True)
    if "descriptors" not in hello.capabilities:
        description.capabilities = [name for name in description.capabilities if name != "fork"]
    return description


def report_failure(error: BaseException, *, applied: int = 0, recoverable: bool = False) -> Failed:
    """Return `error` as a reply; the class name is kept if it is one of ours."""
    if isinstance(error, MemoryError) or _is_of_refused_memory(error):
        return Failed("WorkerOutOfMemoryError", "an allocation failed", applied)
    if isinstance(error, CompilerGymError):
        return Failed(type(error).__name__, str(error), applied, recoverable)
    if isinstance(error, OSError) and error.errno in _REFUSALS:
        return Failed("ServiceOSError", str(error), applied)
    return Failed("SessionError", f"{type(error).__name__}: {error}", applied, recoverable)


def _is_of_refused_memory(error: BaseException | None) -> bool:
    """Return whether the system refused memory; loaders and threads report it differently."""
    while error is not None:
        if isinstance(error, OSError) and error.errno == errno.ENOMEM:
            return True
        if isinstance(error, (ImportError, OSError)) and _REFUSED_TO_LOADER.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False
