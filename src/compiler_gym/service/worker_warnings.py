# SPDX-License-Identifier: MIT
"""Warnings that a session raises in its worker, shown in the environment's process.

A worker has no terminal: it collects the warnings of its session, the next reply carries them,
and the client raises the same warnings again.
"""

import logging
import warnings
from typing import Any

from compiler_gym.errors import warning_from_name
from compiler_gym.service.messages import Reply, Started, Stepped

_Warning = tuple[str, str]
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
_log = logging.getLogger("compiler_gym.service")


class WarningCollector:
    """Collects the warnings of this process, each text once, until a reply can carry them."""

    def __init__(self) -> None:
        self._waiting: list[_Warning] = []
        self._given: set[_Warning] = set()

    def install(self) -> None:
        """Collect warnings from now on, regardless of the warning filters of the owner."""
        warnings.simplefilter("default")
        warnings.showwarning = self._take

    def load(self, reply: Reply) -> None:
        """Attach pending warnings to `reply`, if it is of a kind that carries them."""
        if self._waiting and isinstance(reply, (Started, Stepped)):
            reply.warnings, self._waiting = self._waiting, []

    def _take(self, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        warning = (category.__name__, str(message))
        if warning not in self._given:
            self._given.add(warning)
            self._waiting.append(warning)


def give_again(collected: list[_Warning]) -> None:
    """Raise each warning in the user's process; texts with a log level are logged."""
    for name, text in collected:
        if name in _LEVELS:
            _log.log(_LEVELS[name], text)
        else:
            warnings.warn(warning_from_name(name, text), stacklevel=2)
