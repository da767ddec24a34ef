# SPDX-License-Identifier: MIT
"""The settings for opening sessions: the process, the limits and the cache."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal

from compiler_gym.errors import InvalidParameterError
from compiler_gym.service import (
    Connection,
    Limits,
    LocalConnection,
    SessionSource,
    WorkerConnection,
    describe_source,
)
from compiler_gym.service.caching import CachingConnection, TranspositionCache
from compiler_gym.service.messages import Description
from compiler_gym.version import __version__

Isolation = Literal["process", "in-process"]


@dataclass(frozen=True)
class Sessions:
    """The settings with which an environment opens sessions.

    Raises `InvalidParameterError` for an isolation that does not exist.
    """

    source: SessionSource
    """The class of the sessions, or the program."""
    isolation: Isolation
    """``"process"`` to run each session in a separate process."""
    limits: Limits
    """The limits of a worker."""
    cache: TranspositionCache | None = None
    """The cache of results of actions, if there is one."""
    key: str | None = None
    """The observation that identifies a state; a cache needs it."""

    def __post_init__(self) -> None:
        if self.isolation not in ("process", "in-process"):
            raise InvalidParameterError(
                f"isolation must be 'process' or 'in-process' (got {self.isolation!r})"
            )
        if self.source.command and self.isolation != "process":
            raise InvalidParameterError(
                f"isolation must be 'process', because {self.source.session} is a program (got "
                f"{self.isolation!r})"
            )

    @cached_property
    def description(self) -> Description:
        """The description of the sessions."""
        return describe_source(self.source, in_process=self.isolation == "in-process")

    def open(self) -> Connection:
        """Return a connection to a new session; with a cache, it opens only when necessary."""
        if self.cache is None:
            return self._opener()()
        if self.key is None:
            raise InvalidParameterError(
                "a cache needs the name of an observation that identifies states (got None)"
            )
        return CachingConnection(
            self._opener(),
            self.cache,
            key=self.key,
            steady=[s.name for s in self.description.observation_spaces if s.deterministic],
            varying={s.name: frozenset(s.varying) for s in self.description.action_spaces},
            version=f"{__version__} {self.description.compiler_version} {self.source}",
        )

    def _opener(self) -> Callable[[], Connection]:
        if self.isolation == "in-process":
            return partial(LocalConnection, self.source)
        return partial(WorkerConnection.open, self.source, self.limits)
