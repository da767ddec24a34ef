# SPDX-License-Identifier: MIT
"""Warnings that a session gives in its worker, heard where the environment lives.

A worker has no terminal of its own to warn on: it collects what its session warns
of, the next reply carries it, and the client gives the same warning again.
"""

import logging
import warnings
from typing import Any

from compiler_gym.errors import warning_from_name
from compiler_gym.service.messages import Reply, Started, Stepped

__all__ = ["WarningCollector", "give_again"]

_Warning = tuple[str, str]
_LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}
_log = logging.getLogger("compiler_gym.service")


class WarningCollector:
    """Takes the warnings of this process, each text once, until a reply can carry them."""

    def __init__(self) -> None:
        self._waiting: list[_Warning] = []
        self._given: set[_Warning] = set()

    def install(self) -> None:
        """Collect from now on, whatever the owner's environment says of warnings."""
        warnings.simplefilter("default")
        warnings.showwarning = self._take

    def load(self, reply: Reply) -> None:
        """Put what waits on `reply`, if it is of a kind that carries warnings."""
        if self._waiting and isinstance(reply, (Started, Stepped)):
            reply.warnings, self._waiting = self._waiting, []

    def _take(self, message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        warning = (category.__name__, str(message))
        if warning not in self._given:
            self._given.add(warning)
            self._waiting.append(warning)


def give_again(given: list[_Warning]) -> None:
    """Give each warning to the user of the environment; messages of a level are logged."""
    for name, text in given:
        if name in _LEVELS:
            _log.log(_LEVELS[name], text)
        else:
            warnings.warn(warning_from_name(name, text), stacklevel=2)
