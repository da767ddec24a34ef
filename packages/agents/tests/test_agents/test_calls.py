# SPDX-License-Identifier: MIT
"""Calls are answered one at a time, bounded, and a defect of a tool is an answer too."""

import logging
import threading
from typing import Any

import pytest

from compiler_gym.errors import SessionNotFound
from compiler_gym_agents.calls import Calls

inside = threading.Semaphore(1)


def alone(text: str = "x") -> dict[str, Any]:
    """Fail if two are in here.

    Args:
        text: What to say.
    """
    assert inside.acquire(blocking=False)
    inside.release()
    return {"said": text}


def broken() -> str:
    """Be a defect."""
    raise ZeroDivisionError("of the tool")


def long() -> str:
    """Say too much."""
    return "x" * 10_000


@pytest.fixture
def calls() -> Calls:
    def check(tool: str) -> None:
        if tool == "long" and refused:
            raise SessionNotFound("not now")

    refused.clear()
    return Calls([alone, broken, long], longest_answer=500, check=check)


refused: list[bool] = []


def test_an_answer_is_bounded_and_says_how_many_calls_are_left(calls: Calls) -> None:
    assert calls.answer("alone") == ('{"said": "x"}', False)
    assert len(calls.answer("long")[0]) < 540
    calls.left = 3
    assert calls.answer("alone", '{"text": "y"}') == ('{"said": "y", "calls_left": 3}', False)
    assert calls.answer("nobody")[0].endswith("(3 calls left)")
    refused.append(True)
    assert calls.answer("long")[0].startswith("error (SessionNotFound): not now\nnext: undo")


def test_a_defect_of_a_tool_is_reported_and_logged(
    calls: Calls, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        text, is_error = calls.answer("broken")
    assert is_error
    assert text.startswith("error (ZeroDivisionError): of the tool\nnext: this is a bug")
    assert "the tool 'broken' failed" in caplog.text


def test_bytes_that_are_not_text_are_written_too() -> None:
    def say(what: str) -> str:
        """Say it.

        Args:
            what: What to say.
        """
        return what

    calls = Calls([say], longest_answer=500)
    assert calls.answer("say", {"what": "\ud800x"}) == ("?x", False)
    calls.answer("\ud800", None)[0].encode()


def test_threads_wait_for_each_other(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[tuple[str, bool]] = []
    threads = [
        threading.Thread(target=lambda: found.append(calls.answer("alone"))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [('{"said": "x"}', False)] * 8
    monkeypatch.setattr("compiler_gym_agents.calls._WAITS", 0.01)
    entered, leave = threading.Event(), threading.Event()

    def slow() -> str:
        """Take long."""
        entered.set()
        leave.wait(10)
        return "done"

    busy = Calls([slow], longest_answer=500)
    thread = threading.Thread(target=lambda: found.append(busy.answer("slow")))
    thread.start()
    entered.wait(10)
    assert "another call of this session is still running" in busy.answer("slow")[0]
    leave.set()
    thread.join()
    assert found[-1] == ("done", False)
