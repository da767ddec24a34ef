# SPDX-License-Identifier: MIT
"""Frames arrive whole, however they are cut, or not at all."""

import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler_gym._service import exchange_at_once, exchange_in_turn
from compiler_gym.service.transport import Channel, ChannelClosed
from tests.effort import examples
from tests.stand_ins import always


class AwakeChannel(Channel):
    """A channel whose reader looks for a frame before it sleeps."""

    def receive(self, deadline: float = math.inf, awake_seconds: float = 0.02) -> bytes:
        return super().receive(deadline, awake_seconds)

    def receive_with_descriptor(
        self, deadline: float = math.inf, awake_seconds: float = 0.02
    ) -> tuple[bytes, int | None]:
        return super().receive_with_descriptor(deadline, awake_seconds)


@pytest.fixture(params=[Channel, AwakeChannel], ids=["asleep", "awake"])
def pair(request: pytest.FixtureRequest) -> Iterator[tuple[Channel, socket.socket]]:
    """A channel, which waits asleep or awake, and the bare socket at its other end."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield request.param(ours), theirs


def frame(payload: bytes) -> bytes:
    return len(payload).to_bytes(8, "little") + payload


@settings(max_examples=examples(30))
@given(payload=st.binary(max_size=300), cuts=st.lists(st.integers(1, 300), max_size=5))
def test_a_frame_may_come_in_pieces(payload: bytes, cuts: list[int]) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        data = frame(payload)

        def send() -> None:
            position = 0
            for cut in [*sorted(cuts), len(data)]:
                theirs.sendall(data[position:cut])
                position = max(position, cut)

        thread = threading.Thread(target=send)
        thread.start()
        assert bytes(Channel(ours).receive(time.monotonic() + 10)) == payload
        thread.join()


@pytest.mark.parametrize("size", [0, 1, 65527, 65528, 65529, 32767, 32768, 5_000_000])
def test_frames_of_every_size_come_one_after_the_other(
    pair: tuple[Channel, socket.socket], size: int
) -> None:
    ours, theirs = pair
    other = Channel(theirs)
    payloads = [os.urandom(size), b"small", os.urandom(size)]
    for payload in payloads:
        thread = threading.Thread(target=other.send, args=(payload,))
        thread.start()
        assert bytes(ours.receive(time.monotonic() + 10)) == payload
        thread.join()


@pytest.mark.parametrize("sent", [b"", b"\x05", frame(b"hello")[:-1], frame(b"x" * 100_000)[:-1]])
def test_the_end_of_the_stream_inside_a_frame_is_seen(
    pair: tuple[Channel, socket.socket], sent: bytes
) -> None:
    ours, theirs = pair
    theirs.sendall(sent)
    theirs.close()
    with pytest.raises(ChannelClosed):
        ours.receive()


@pytest.mark.parametrize("sent", [b"", b"\x05", frame(b"hello")[:-1]])
def test_a_deadline_holds_inside_a_frame(pair: tuple[Channel, socket.socket], sent: bytes) -> None:
    ours, theirs = pair
    theirs.sendall(sent)
    with pytest.raises(TimeoutError):
        ours.receive(time.monotonic() + 0.05)


def test_available_bytes_are_read_after_the_deadline_too(
    pair: tuple[Channel, socket.socket],
) -> None:
    ours, theirs = pair
    late = time.monotonic() - 1
    with pytest.raises(TimeoutError):
        ours.receive(late)
    theirs.sendall(frame(b"hello"))
    assert ours.receive(late) == b"hello"
    theirs.sendall(frame(b"hello")[:10])
    timer = threading.Timer(0.01, theirs.sendall, [frame(b"hello")[10:]])
    timer.start()
    assert ours.receive(late) == b"hello"
    timer.join()


def test_an_absurd_length_is_refused_before_memory_is_taken(
    pair: tuple[Channel, socket.socket],
) -> None:
    ours, theirs = pair
    theirs.sendall(b"GET / HTTP/1.1\r\n\r\n")
    with pytest.raises(OSError, match="not a valid message"):
        ours.receive()


def test_bytes_after_a_frame_are_refused(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(frame(b"hello") + b"more")
    with pytest.raises(OSError, match="4 unexpected bytes follow"):
        ours.receive()


def test_sending_to_a_closed_channel_is_an_error(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair
    theirs.close()
    with pytest.raises(ChannelClosed):
        ours.send(b"hello")


def test_sending_a_large_unread_frame_has_a_deadline(
    pair: tuple[Channel, socket.socket],
) -> None:
    ours, _ = pair
    with pytest.raises(TimeoutError):
        ours.send(bytes(4_000_000), time.monotonic() + 0.1)


def test_a_descriptor_travels_with_a_frame(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair
    read, write = os.pipe()
    Channel(theirs).send_with_descriptor(b"take this", write)
    os.close(write)
    payload, received = ours.receive_with_descriptor(time.monotonic() + 10)
    assert payload == b"take this"
    assert received is not None
    os.write(received, b"it works")
    assert os.read(read, 100) == b"it works"
    os.close(received)
    os.close(read)


def test_a_frame_without_a_descriptor_has_none(pair: tuple[Channel, socket.socket]) -> None:
    ours, theirs = pair
    data = frame(b"in two pieces")
    theirs.sendall(data[:3])
    threading.Timer(0.05, theirs.sendall, (data[3:],)).start()
    assert ours.receive_with_descriptor(time.monotonic() + 10) == (b"in two pieces", None)


@pytest.mark.parametrize("sent", [b"", b"\x05"])
def test_no_descriptor_comes_from_a_closed_channel(
    pair: tuple[Channel, socket.socket], sent: bytes
) -> None:
    ours, theirs = pair
    theirs.sendall(sent)
    theirs.close()
    with pytest.raises(ChannelClosed):
        ours.receive_with_descriptor()


@pytest.fixture
def pairs() -> Iterator[list[tuple[Channel, Channel]]]:
    """Four pairs of channels."""
    sockets = [socket.socketpair() for _ in range(4)]
    yield [(Channel(ours), Channel(theirs)) for ours, theirs in sockets]
    for two in sockets:
        for one in two:
            one.close()


def at_once(channels: list[Channel]) -> None:
    exchange_at_once(channels, 0.0, 0.005)


def in_turn(channels: list[Channel]) -> None:
    exchange_in_turn(channels, [1e-3] * len(channels), 0.7, 1.0)


Exchange = Callable[[list[Channel]], None]
ways = pytest.mark.parametrize("exchange", [at_once, in_turn])


def asking(pairs: list[tuple[Channel, Channel]], seconds: float = 10.0) -> list[Channel]:
    """Have a question kept back at our end of each pair."""
    for number, (ours, _) in enumerate(pairs):
        ours.hold(b"question %d" % number, seconds)
    return [ours for ours, _ in pairs]


@ways
@pytest.mark.parametrize("size", [0, 5, 1 << 20])
def test_replies_of_several_are_there_after_an_exchange(
    pairs: list[tuple[Channel, Channel]], size: int, exchange: Exchange
) -> None:
    def answer(number: int) -> None:
        theirs = pairs[number][1]
        for _ in range(2):
            assert theirs.receive() == b"question %d" % number
            time.sleep(0.02 * (4 - number))
            theirs.send(bytes([number]) * size)

    threads = [threading.Thread(target=answer, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    long_ago = time.monotonic() - 1
    for _ in range(2):
        exchange(asking(pairs))
        for number, (ours, _) in enumerate(pairs):
            assert ours.awaits
            assert ours.receive(long_ago) == bytes([number]) * size
            assert not ours.awaits
    for thread in threads:
        thread.join()


@ways
def test_an_error_of_one_channel_does_not_affect_others(
    pairs: list[tuple[Channel, Channel]], exchange: Exchange
) -> None:
    (good, sender), (gone, leaver), (odd, babbler), (late, dawdler) = pairs
    asking(pairs[:3], 60.0)
    asking(pairs[3:], 0.1)
    sender.send(b"hello")
    leaver.close()
    babbler.socket.sendall(b"GET / HTTP/1.1\r\n\r\n")
    dawdler.socket.sendall(frame(b"twice")[:10])
    began = time.monotonic()
    exchange([odd, gone, late, good])
    assert time.monotonic() - began < 30
    assert good.receive(time.monotonic() + 10) == b"hello"
    with pytest.raises(ChannelClosed):
        gone.receive(time.monotonic() + 10)
    for _ in range(2):
        with pytest.raises(OSError, match="not a valid message"):
            odd.receive(time.monotonic() + 10)
    with pytest.raises(TimeoutError):
        late.receive(late.deadline)
    dawdler.socket.sendall(frame(b"twice")[10:])
    assert late.receive(time.monotonic() + 10) == b"twice"


@ways
def test_a_large_request_of_several_is_sent_whole_or_is_late(
    pairs: list[tuple[Channel, Channel]], exchange: Exchange
) -> None:
    (read, reader), (unread, _) = pairs[:2]
    large = os.urandom(4_000_000)
    received: list[bytes] = []

    def answer() -> None:
        received.append(reader.receive())
        reader.send(b"thank you")

    thread = threading.Thread(target=answer)
    thread.start()
    read.hold(large, 10.0)
    unread.hold(large, 0.2)
    exchange([unread, read])
    thread.join()
    assert received == [large]
    assert read.receive() == b"thank you"
    with pytest.raises(TimeoutError):
        unread.receive(unread.deadline)


@ways
def test_a_channel_without_a_request_is_not_awaited(
    pairs: list[tuple[Channel, Channel]], exchange: Exchange
) -> None:
    (asked, sender), (idle, _) = pairs[:2]
    sender.send(b"hello")
    exchange([idle, *asking([(asked, sender)])])
    assert asked.receive() == b"hello"
    assert not idle.awaits
    exchange([])


@ways
def test_closing_while_another_thread_waits_for_several(exchange: Exchange) -> None:
    sockets = [socket.socketpair() for _ in range(2)]
    pairs = [(Channel(ours), Channel(theirs)) for ours, theirs in sockets]
    (closed, peer), (other, answers) = pairs

    def close() -> None:
        closed.close()
        peer.close()
        answers.send(b"hello")

    timer = threading.Timer(0.1, close)
    timer.start()
    exchange(asking(pairs, 20))
    timer.join()
    with pytest.raises((OSError, ChannelClosed)) as caught:
        closed.receive(time.monotonic() + 20)
    assert not isinstance(caught.value, TimeoutError)
    assert other.receive() == b"hello"
    other.close()
    answers.close()


@pytest.mark.parametrize("awake_seconds", [0.0, 20.0])
def test_closing_while_another_thread_waits(awake_seconds: float) -> None:
    ours, theirs = socket.socketpair()
    channel = Channel(ours)

    def close() -> None:
        channel.close()
        theirs.close()

    timer = threading.Timer(0.1, close)
    timer.start()
    with pytest.raises((OSError, ChannelClosed)) as caught:
        channel.receive(time.monotonic() + 20, awake_seconds)
    assert not isinstance(caught.value, TimeoutError)
    timer.join()


def one(channel: Channel) -> None:
    channel.receive()


def several_at_once(channel: Channel) -> None:
    channel.hold(b"question", 20.0)
    at_once([channel])


def several_in_turn(channel: Channel) -> None:
    channel.hold(b"question", 20.0)
    in_turn([channel])


waits = pytest.mark.parametrize("wait", [one, several_at_once, several_in_turn])


@waits
def test_a_signal_interrupts_who_waits(
    pair: tuple[Channel, socket.socket], wait: Callable[[Channel], None]
) -> None:
    ours, theirs = pair
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012  # the signal may come early
        timer.start()
        wait(ours)
    timer.join()
    assert ours.awaits is (wait is not one)
    theirs.sendall(frame(b"later"))
    assert ours.receive(time.monotonic() + 10) == b"later"


def test_a_closed_channel_reads_nothing_of_who_has_its_number_now() -> None:
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    number = channel.descriptor
    channel.close()
    new, peer = socket.socketpair()
    with theirs, new, peer:
        assert new.fileno() == number
        peer.sendall(frame(b"private"))
        for _ in range(2):
            with pytest.raises(OSError, match="Bad file descriptor"):
                channel.receive(time.monotonic() + 1)
        assert new.recv(100) == frame(b"private")


@waits
def test_an_exception_of_a_signal_handler_passes_through(
    pair: tuple[Channel, socket.socket], wait: Callable[[Channel], None]
) -> None:
    def out_of_time(*_: object) -> None:
        raise TimeoutError("the user's")

    ours, _theirs = pair
    before = signal.signal(signal.SIGUSR1, out_of_time)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        with pytest.raises(TimeoutError, match="the user's"):  # noqa: PT012  # as above
            timer.start()
            wait(ours)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, before)


def test_signals_do_not_end_a_wait_for_a_descriptor(pair: tuple[Channel, socket.socket]) -> None:
    ours, _theirs = pair
    before = signal.signal(signal.SIGALRM, always(None))
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    try:
        for _ in range(50):
            with pytest.raises(TimeoutError):
                ours.receive_with_descriptor(time.monotonic() + 0.003)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_a_thread_that_waits_does_not_disturb_the_end_of_the_interpreter() -> None:
    code = """
import socket, threading, time
from compiler_gym.service.transport import Channel
ours, theirs = socket.socketpair()
channel = Channel(ours)
def wait():
    while True:
        try: channel.receive(time.monotonic() + 0.001, 0.0005)
        except TimeoutError: pass
threading.Thread(target=wait, daemon=True).start()
time.sleep(0.1)
"""
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
