# SPDX-License-Identifier: MIT
"""Warnings of a session travel with its next reply, each text once."""

import warnings
from collections.abc import Iterator

import pytest

from compiler_gym.errors import CompilerGymWarning
from compiler_gym.service.messages import ParameterReply, Started, Stepped
from compiler_gym.service.worker_warnings import WarningCollector, give_again


@pytest.fixture
def collector() -> Iterator[WarningCollector]:
    with warnings.catch_warnings():
        collected = WarningCollector()
        collected.install()
        yield collected


def test_a_warning_waits_for_a_reply_that_carries_it(collector: WarningCollector) -> None:
    warnings.warn("the tool is old", RuntimeWarning, stacklevel=1)
    collector.load(ParameterReply("x"))
    reply = Stepped(False, None, True, [], 1)
    collector.load(reply)
    assert reply.warnings == [("RuntimeWarning", "the tool is old")]


def test_each_text_is_shown_once(collector: WarningCollector) -> None:
    for text in ("a", "b", "a"):
        warnings.warn(text, UserWarning, stacklevel=1)
    first, second = Started(None, []), Started(None, [])
    collector.load(first)
    warnings.warn("b", UserWarning, stacklevel=1)
    collector.load(second)
    assert first.warnings == [("UserWarning", "a"), ("UserWarning", "b")]
    assert second.warnings is None


def test_warnings_of_a_worker_are_repeated() -> None:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        give_again([("CompilerGymWarning", "old tool"), ("NoSuchWarning", "of a plug-in")])
    assert [str(one.message) for one in heard] == ["old tool", "NoSuchWarning: of a plug-in"]
    assert [one.category for one in heard] == [CompilerGymWarning, UserWarning]
