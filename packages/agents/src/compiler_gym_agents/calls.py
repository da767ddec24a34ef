# SPDX-License-Identifier: MIT
"""Answer a model's tool calls: one at a time, with bounded length, without raising errors."""

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
from compiler_gym_agents.calling import make_tool, read_arguments
from compiler_gym_agents.texts import as_json, cut

__all__ = ["Calls"]

_log = logging.getLogger(__name__)
_LONGEST_NAME = 100
_WAITS = 600.0
"""The time in seconds that a call waits for another call of the same agent."""
_ADVICE: Sequence[tuple[type[Exception], str]] = (
    (InvalidActionError, "call actions, with a search text, to list the names of actions"),
    (SessionNotFound, "undo reverts a step, reset starts again"),
    (RequestError, "correct the arguments and call again"),
    (CompilerGymError, "the program has not changed: try something else"),
    (Exception, "this is a bug in the tool: try something else"),
)


class Calls:
    """The calls of one agent. Thread-safe; calls run one at a time.

    Args:
        methods: The tools. Each returns a string or a dictionary of plain values.
        longest_answer: The maximum length of an answer, in characters.
        check: Called with the name of the tool before each call; raises an error to refuse it.
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
        """The tools by name."""
        self.left: int | None = None
        """The number of calls left, which every answer includes; None is unlimited."""
        self._room = longest_answer
        self._allow = check
        self._lock = threading.RLock()

    def answer(self, name: object, arguments: object = None) -> tuple[str, bool]:
        """Return the answer to a call, and whether it is an error; see `Toolbox.call`."""
        if not self._lock.acquire(timeout=_WAITS):
            busy = "another call of this session is still running: call again once it has answered"
            return self._refusal(ServiceError(busy)), True
        try:
            text = cut(self._answer(name, arguments), self._room)
            return text.encode("utf-8", "replace").decode(), False  # programs may contain any bytes
        except CompilerGymError as error:
            return self._refusal(error), True
        except Exception as error:  # a bug must not end the agent's episode
            _log.exception("the tool %.100r failed", name)
            return self._refusal(error), True
        finally:
            self._lock.release()

    def _answer(self, name: object, arguments: object) -> str:
        tool = self.tools.get(name) if isinstance(name, str) else None
        if tool is None:
            raise UnknownNameError(unknown_name("tool", str(name)[:_LONGEST_NAME], self.tools))
        values = read_arguments(tool, arguments)
        self._allow(tool.name)
        result = self._methods[tool.name](**values)
        if isinstance(result, str):
            return result if self.left is None else f"{result}\n({self.left} calls left)"
        return as_json(result if self.left is None else {**result, "calls_left": self.left})

    def _refusal(self, error: Exception) -> str:
        text = cut(" ".join(str(error).split()), self._room // 2)
        text = text.encode("utf-8", "replace").decode()
        advice = next(advice for kind, advice in _ADVICE if isinstance(error, kind))
        suffix = "" if self.left is None else f" ({self.left} calls left)"
        return f"error ({type(error).__name__}): {text}\nnext: {advice}{suffix}"
