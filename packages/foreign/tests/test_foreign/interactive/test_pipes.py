# SPDX-License-Identifier: MIT
"""The side that answers outlives compilers that die, follow one another, or never come."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from compiler_gym.errors import ServiceOSError, ServiceTransportError
from compiler_gym_foreign.interactive import CompilerQuestion, EndedConversation, Header, Pipes

ASKING = """
import json, os, struct, sys
base, numbers = sys.argv[1], [int(word) for word in sys.argv[2:]]
answers, questions = open(base + ".in", "rb", 0), open(base + ".out", "wb", 0)
tensor = {"name": "cost", "type": "int64_t", "port": 0, "shape": [1]}
questions.write(json.dumps({"features": [tensor], "advice": tensor}).encode() + b"\\n")
for at, number in enumerate(numbers):
    questions.write(json.dumps({"observation": at}).encode() + b"\\n")
    questions.write(struct.pack("q", number) + b"\\n")
    print(struct.unpack("q", answers.read(8))[0], flush=True)
"""
"""A compiler: it asks about each number and prints what it is told."""


def asking(pipes: Pipes, *numbers: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-IS", "-c", ASKING, str(pipes.base), *map(str, numbers)]
    return subprocess.Popen(command, stdout=subprocess.PIPE)


def answered(pipes: Pipes, add: int = 1) -> list[int]:
    """Answer each question with a number that is so much larger, until the compiler ends."""
    asked: list[int] = []
    header = pipes.receive(30)
    assert isinstance(header, Header)
    while isinstance(message := pipes.receive(30), CompilerQuestion):
        asked.append(int(message.tensors[0][0]))
        pipes.answer(header.advice.pack(asked[-1] + add))
    assert message == EndedConversation(is_within_message=False)
    return asked


def test_compilers_are_answered_one_after_the_other(tmp_path: Path) -> None:
    with Pipes(tmp_path / "channel") as pipes:
        for numbers in ([1, 2, 3], [10], []):
            with asking(pipes, *numbers) as compiler:
                assert answered(pipes) == numbers
                assert compiler.communicate()[0].split() == [b"%d" % (n + 1) for n in numbers]
    assert not list(tmp_path.iterdir())


def test_an_answer_to_a_compiler_that_died_is_not_given_to_the_next(tmp_path: Path) -> None:
    with Pipes(tmp_path / "channel") as pipes:
        with asking(pipes, 5) as compiler:
            assert isinstance(pipes.receive(30), Header)
            assert isinstance(pipes.receive(30), CompilerQuestion)
            compiler.kill()
        assert compiler.returncode == -signal.SIGKILL
        pipes.answer((77).to_bytes(8, "little"))
        assert pipes.receive(30) == EndedConversation(is_within_message=False)
        with asking(pipes, 1) as compiler:
            assert answered(pipes) == [1]
            assert compiler.communicate()[0] == b"2\n"


def test_a_compiler_that_comes_before_the_end_of_the_last_is_noted_is_not_lost(
    tmp_path: Path,
) -> None:
    with Pipes(tmp_path / "channel") as pipes:
        with asking(pipes) as first:
            pass
        assert first.returncode == 0
        with asking(pipes, 3) as second:  # both have written when the first is read
            assert isinstance(pipes.receive(30), Header)
            message = pipes.receive(30)
            while not isinstance(message, CompilerQuestion):
                message = pipes.receive(30)
            pipes.answer((9).to_bytes(8, "little"))
            assert second.communicate()[0] == b"9\n"


def test_waiting_ends_in_time_and_when_it_is_woken(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with Pipes(tmp_path / "channel") as pipes:
        assert pipes.receive(0) is None
        os.write(writing, b"x")
        assert pipes.receive(wakes=reading) is None
    os.close(reading)
    os.close(writing)


def test_a_compiler_that_stops_within_a_message_is_known(tmp_path: Path) -> None:
    with Pipes(tmp_path / "channel") as pipes:
        with open(f"{pipes.base}.out", "wb") as questions:
            questions.write(b'{"features"')
        assert pipes.receive(30) == EndedConversation(is_within_message=True)


def test_bytes_of_something_else_are_refused(tmp_path: Path) -> None:
    with Pipes(tmp_path / "channel") as pipes:
        with open(f"{pipes.base}.out", "wb") as questions:
            questions.write(b"hello\n")
        with pytest.raises(ServiceTransportError, match="got b'hello'"):
            pipes.receive(30)
    assert not list(tmp_path.iterdir())


def test_pipes_that_cannot_be_made_are_an_error_and_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "channel.out").write_text("somebody's")
    with pytest.raises(ServiceOSError, match=r"channel\.out: File exists"):
        Pipes(tmp_path / "channel")
    assert [path.name for path in tmp_path.iterdir()] == ["channel.out"]
    with pytest.raises(ServiceOSError, match="No such file"):
        Pipes(tmp_path / "nowhere" / "channel")
