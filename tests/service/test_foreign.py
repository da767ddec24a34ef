# SPDX-License-Identifier: MIT
"""Programs as sessions: how they are started, what they print, and how they end."""

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler_gym.core import CompilerEnv
from compiler_gym.datasets import Benchmark
from compiler_gym.errors import (
    CompilerGymError,
    InvalidParameterError,
    ServiceInitError,
    ServiceTransportError,
    WorkerCrashedError,
    WorkerOutOfMemoryError,
    WorkerTimeoutError,
)
from compiler_gym.service import Limits, SessionSource, WorkerConnection, shut_down, supervisor
from compiler_gym.service.foreign import Carrier, LastLines, sdk_path
from compiler_gym.service.messages import Started, Step, Stepped
from compiler_gym.service.supervisor import zygote_for
from compiler_gym.testing import descendants, is_running, wait_until, worker_files
from service.workers import number, start, step

SERVE = (sys.executable, "-m", "compiler_gym.service.serve", "compiler_gym.testing.fakes:")
PROGRAM = (*SERVE[:-1], SERVE[-1] + "FakeSession")
SOURCE = SessionSource.of_program(PROGRAM)


@pytest.fixture(autouse=True, scope="module")
def _nothing_stays() -> Iterator[None]:
    before = descendants(os.getpid())  # processes that fixtures of the whole run keep
    yield
    shut_down()
    assert not descendants(os.getpid()) - before


def script(text: str, carrier: Carrier = Carrier.DESCRIPTOR) -> SessionSource:
    """Return the source of a service that is a shell script."""
    return SessionSource.of_program(["sh", "-c", text], carrier)


@pytest.fixture
def connection() -> Iterator[WorkerConnection]:
    opened = WorkerConnection.open(SOURCE, Limits(step_seconds=30.0))
    opened.call(start())
    yield opened
    opened.close()


@pytest.mark.parametrize("carrier", list(Carrier))
def test_a_program_is_served_over_every_carrier(carrier: Carrier) -> None:
    opened = WorkerConnection.open(SessionSource.of_program(PROGRAM, carrier), Limits())
    assert isinstance(opened.call(start()), Started)
    assert number(opened, "add", "add") == 9
    fork = opened.fork()
    assert fork is not None
    opened.close()
    assert number(fork, "double") == 18
    fork.close()
    assert wait_until(lambda: not is_running(fork.pid) and not is_running(opened.pid))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["./there-is-none"], r"status 127.*\n  cannot start /.*/there-is-none: No such file"),
        (["false"], "ended with exit status 1"),
        (["sh", "-c", "echo one; echo no clang >&2; exit 3"], r"status 3.*\n  one\n  no clang"),
        (["sh", "-c", "kill -SEGV $$"], "was ended by SIGSEGV"),
    ],
)
@pytest.mark.parametrize("carrier", [Carrier.DESCRIPTOR, Carrier.SOCKET])
def test_a_program_that_does_not_start_gives_the_reason(
    command: list[str], said: str, carrier: Carrier
) -> None:
    with pytest.raises(ServiceInitError, match=said) as caught:
        zygote_for(SessionSource.of_program(command, carrier))
    assert "expected a reply to Hello via COMPILER_GYM_SESSION" in str(caught.value)


def test_printing_into_messages_is_reported() -> None:
    with pytest.raises(ServiceTransportError, match="does it print to the stream that carries"):
        zygote_for(script("printf '\\4\\0\\0\\0\\0\\0\\0\\0loud'; cat >&2", Carrier.STDIO))


@pytest.mark.slow
@pytest.mark.parametrize("carrier", list(Carrier))
def test_a_program_that_stays_silent_is_ended(
    carrier: Carrier, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(supervisor, "START_SECONDS", 4.0)
    before = descendants(os.getpid())
    with pytest.raises(ServiceInitError, match=r"did not (answer|connect)"):
        zygote_for(script("sleep 600", carrier))
    assert wait_until(lambda: descendants(os.getpid()) <= before)


@pytest.mark.parametrize(
    ("action", "error", "said"),
    [
        ("segfault", WorkerCrashedError, "ended by SIGSEGV"),
        ("exit", WorkerCrashedError, "exit status"),
        ("hang", WorkerTimeoutError, "within the deadline of 0.5 s"),
        ("exhaust_memory", WorkerOutOfMemoryError, "its memory limit of"),
    ],
)
def test_errors_of_a_foreign_program_equal_those_of_a_session(
    action: str, error: type[CompilerGymError], said: str
) -> None:
    opened = WorkerConnection.open(SOURCE, Limits(memory_bytes=1 << 30))
    opened.call(start(), timeout=60.0)
    with pytest.raises(error, match=said):
        opened.call(step(action), timeout=0.5 if action == "hang" else 60.0)
    assert wait_until(lambda: not is_running(opened.pid))
    assert not [path for path in worker_files() if f"/{opened.pid}-" in str(path)]


def test_the_last_lines_of_a_program_are_part_of_its_crash() -> None:
    served = shlex.join([sys.executable, "-X", "faulthandler", *PROGRAM[1:]])
    opened = WorkerConnection.open(script(f"exec {served}"), Limits())
    opened.call(start())
    with pytest.raises(WorkerCrashedError, match=r"last lines:\n(.|\n)*serve.py"):
        opened.call(step("segfault"))


@pytest.mark.filterwarnings("ignore:ResourceWarning")
def test_processes_end_with_the_program_that_started_them(connection: WorkerConnection) -> None:
    connection.call(step("background"))
    below = descendants(connection.pid)
    assert below
    connection.close()
    assert wait_until(lambda: not any(map(is_running, below | {connection.pid})))


@pytest.mark.slow
def test_a_program_that_does_not_leave_is_ended() -> None:
    stays = f"trap '' TERM; {shlex.join(PROGRAM)}; sleep 600"
    opened = WorkerConnection.open(script(stays), Limits())
    opened.call(start())
    opened.close()
    assert is_running(opened.pid)
    assert wait_until(lambda: not is_running(opened.pid))


def test_its_files_are_removed_when_it_ends(connection: WorkerConnection) -> None:
    connection.call(step("write_file"))
    assert [path for path in worker_files() if f"/{connection.pid}-" in str(path)]
    os.kill(connection.pid, signal.SIGKILL)
    with pytest.raises(WorkerCrashedError, match="SIGKILL"):
        connection.call(step("add"))
    assert not [path for path in worker_files() if f"/{connection.pid}-" in str(path)]


def test_a_program_without_forks_is_copied_by_replay() -> None:
    source = SessionSource.of_program([*SERVE[:-1], SERVE[-1] + "UnforkableSession"])
    program = Benchmark("benchmark://fake-v0/7", b"7")
    with CompilerEnv(source, benchmark=program, observation_space="number") as env:
        env.reset()
        env.step(0)
        with env.fork() as fork:
            assert fork.observation["number"] == env.observation["number"] == 8


def test_a_program_gets_the_clients_own_python_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/nowhere/special")
    with pytest.raises(ServiceInitError, match=r"found: /nowhere/special$"):
        zygote_for(script("echo found: $PYTHONPATH; exit 1"))


def test_messages_of_a_level_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    from compiler_gym.service.worker import give_again

    with caplog.at_level("INFO", "compiler_gym.service"):
        give_again([("info", "unrolled 3 loops"), ("debug", "not shown")])
    assert caplog.messages == ["unrolled 3 loops"]


@pytest.mark.parametrize("command", [[], [""], "./one-word"])
def test_an_invalid_command_is_refused(command: list[str]) -> None:
    with pytest.raises(InvalidParameterError, match=r"must be a list of arguments, such as"):
        SessionSource.of_program(command)


def test_an_unknown_carrier_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="no carrier 'stdoi': did you mean stdio"):
        SessionSource.of_program(["x"], "stdoi")


def test_a_program_runs_in_no_process_but_its_own() -> None:
    with pytest.raises(InvalidParameterError, match=r"must be 'process', because .* is a program"):
        CompilerEnv(SOURCE, isolation="in-process")


def test_a_relative_path_is_that_of_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert SessionSource.of_program(["./x", "./y"]).command == (str(tmp_path / "x"), "./y")
    assert SessionSource.of_program(["x"]).command == ("x",)


def test_the_last_lines_are_the_end_of_the_output() -> None:
    reader, writer = os.pipe()
    lines = LastLines(reader)
    assert lines.take()
    assert lines.text == ""
    for line in range(3000):
        os.write(writer, b"line %d\n" % line)
        lines.take()
    assert lines.text.splitlines() == [f"line {n}" for n in range(2988, 3000)]
    os.close(writer)
    assert not lines.take()
    os.close(reader)


def test_the_folder_for_other_languages_is_there() -> None:
    assert (sdk_path() / "include" / "compiler_gym" / "session.h").is_file()


def test_a_request_that_is_none_leaves_the_session_as_it_was(connection: WorkerConnection) -> None:
    channel = connection.channel
    assert channel is not None
    channel.send(b"\x91\x63", 1e18)
    reply = channel.receive(1e18, 0.0)
    assert b"ServiceTransportError" in reply
    stepped = connection.call(Step([], ["number"]))
    assert isinstance(stepped, Stepped)
    assert stepped.observations == [7]
