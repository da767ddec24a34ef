# SPDX-License-Identifier: MIT
"""Answers what a model sends to methods that are tools: bounded, one at a time, never raising."""

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from compiler_gym.errors import (
    CompilerGymError,
    InvalidActionError,
    RequestError,
    ServiceError,
    SessionNotFound,
    UnknownNameError,
    unknown_name,
)
from compiler_gym.tools.agents.calling import make_tool, read_arguments
from compiler_gym.tools.agents.texts import as_json, cut

__all__ = ["Calls"]

_log = logging.getLogger(__name__)
_LONGEST_NAME = 100
_WAITS = 600.0
"""The seconds that a call waits for another one of the same agent."""
_ADVICE: Sequence[tuple[type[Exception], str]] = (
    (InvalidActionError, "call actions, with a search word, to see the names of actions"),
    (SessionNotFound, "undo takes back a step, reset begins again"),
    (RequestError, "correct the arguments and call again"),
    (CompilerGymError, "the program is as before this call: go on with something else"),
    (Exception, "this is a defect of the tool: go on with something else"),
)


class Calls:
    """The calls of one agent. Safe to use from several threads: one waits for the other.

    Args:
        methods: The tools. Each returns a text, or a dictionary of plain values.
        longest_answer: The most characters of an answer.
        check: Is told the name of the tool before a call, and may refuse it.
    """

    def __init__(
        self,
        methods: Iterable[Callable[..., Any]],
        *,
        longest_answer: int,
        check: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._methods = {method.__name__: method for method in methods}
        self.tools = {name: make_tool(method) for name, method in self._methods.items()}
        """Every tool by its name."""
        self.left: int | None = None
        """Number of calls that are left, which every answer says; None: without a limit."""
        self._room = longest_answer
        self._allow = check
        self._lock = threading.RLock()

    def answer(self, name: object, arguments: object = None) -> tuple[str, bool]:
        """Return the answer to a call, and whether it is an error; see `Toolbox.call`."""
        if not self._lock.acquire(timeout=_WAITS):
            busy = "another call of this session is still running: call again when it has answered"
            return self._refusal(ServiceError(busy)), True
        try:
            text = cut(self._answer(name, arguments), self._room)
            return text.encode("utf-8", "replace").decode(), False  # programs hold any bytes
        except CompilerGymError as error:
            return self._refusal(error), True
        except Exception as error:  # a defect must not end what an agent learns from
            _log.exception("the tool %.100r failed", name)
            return self._refusal(error), True
        finally:
            self._lock.release()

    def _answer(self, name: object, arguments: object) -> str:
        tool = self.tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise UnknownNameError(unknown_name("tool", str(name)[:_LONGEST_NAME], self.tools))
        given = read_arguments(tool, arguments)
        self._allow(tool.name)
        found = self._methods[tool.name](**given)
        if isinstance(found, str):
            return found if self.left is None else f"{found}\n({self.left} calls left)"
        return as_json(found if self.left is None else {**found, "calls_left": self.left})

    def _refusal(self, error: Exception) -> str:
        text = cut(" ".join(str(error).split()), self._room // 2)
        text = text.encode("utf-8", "replace").decode()
        advice = next(words for kind, words in _ADVICE if isinstance(error, kind))
        left = "" if self.left is None else f" ({self.left} calls left)"
        return f"error ({type(error).__name__}): {text}\nnext: {advice}{left}"
