# SPDX-License-Identifier: MIT
"""Frames over a stream socket: whole messages, or an error.

A frame is an eight-byte little-endian length and that many bytes. A channel has
one reader and one writer at a time; it does not interpret what it carries.
A reader that expects its frame soon may look for it a while before it sleeps:
waking a sleeper on an idle core costs more than most passes do.
"""

import os
import resource
import select
import socket
import struct
import time

from compiler_gym.errors import ServiceTransportError

__all__ = ["Channel", "ChannelClosed"]

_Socket = socket.socket  # a channel has an attribute of the module's name
_LENGTH = struct.Struct("<Q")
_FIRST_READ = 1 << 16
_COPY_BELOW = 1 << 15
_LONGEST = 1 << 36
_CROWDED_SECONDS = 300e-6
"""A yield that takes longer than this, and in which the core went to somebody else, is one too
many. Without a change of process it was an interrupt, or the host of this machine."""
_LEAST_SHY, _MOST_SHY = 2, 256
"""How many frames are awaited asleep after the core was found crowded."""


class ChannelClosed(Exception):
    """The other side has gone."""


class Channel:
    """One end of a socket pair that carries frames."""

    __slots__ = (
        "_asleep_for",
        "_buffer",
        "_poll",
        "_shyness",
        "_view",
        "descriptor",
        "socket",
    )

    def __init__(self, sock: _Socket):
        self.socket = sock
        self.descriptor = sock.fileno()
        self._buffer = bytearray(_FIRST_READ)
        self._view = memoryview(self._buffer)
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        self._poll = poll.poll
        self._asleep_for = 0
        self._shyness = _LEAST_SHY

    @classmethod
    def from_descriptor(cls, descriptor: int) -> "Channel":
        """Return the channel over a socket received from another process."""
        return cls(socket.socket(fileno=descriptor))

    def send(self, payload: bytes, deadline: float | None = None) -> None:
        """Send one frame; raise `ChannelClosed` if nobody can read it.

        Raises `TimeoutError` when `deadline` passes first. Short frames fit into
        the socket's buffer, so they need none.
        """
        header = _LENGTH.pack(len(payload))
        try:
            if len(payload) < _COPY_BELOW:
                self.socket.sendall(header + payload)
            else:
                self._send_large(header, payload, deadline)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ChannelClosed from error

    def receive(
        self, deadline: float | None = None, awake_seconds: float = 0.0
    ) -> memoryview | bytearray:
        """Return the next frame, valid until the next call.

        For `awake_seconds` it is looked for before the reader sleeps; every other process
        that wants the core has it meanwhile.

        Raises `ChannelClosed` when the other side has gone and `TimeoutError`
        when `deadline`, a `time.monotonic()` value, passes first.
        """
        try:
            count = self._read_some(self._view, deadline, awake_seconds)
            if count > 8 and count == 8 + _LENGTH.unpack_from(self._buffer)[0]:
                return self._view[8:count]
            return self._receive_rest(count, deadline, awake_seconds)
        except ConnectionResetError as error:
            raise ChannelClosed from error

    def receive_with_descriptor(
        self, deadline: float | None = None, awake_seconds: float = 0.0
    ) -> tuple[bytes, int | None]:
        """Return the next frame, which must be short, and the descriptor sent with it.

        It is awaited as by `receive`. The descriptor is None if none was sent or this
        process may not open more.
        """
        try:
            self._wait(deadline, awake_seconds)
            data, descriptors, _, _ = socket.recv_fds(self.socket, _FIRST_READ, 1)
            descriptor = descriptors[0] if descriptors else None
            while len(data) < 8 or len(data) < 8 + _LENGTH.unpack_from(data)[0]:
                self._wait(deadline)
                more = self.socket.recv(_FIRST_READ) if data else b""
                if not more:
                    raise ChannelClosed
                data += more
        except ConnectionResetError as error:
            raise ChannelClosed from error
        return data[8:], descriptor

    def send_with_descriptor(self, payload: bytes, descriptor: int) -> None:
        """Send one short frame together with an open file."""
        socket.send_fds(self.socket, [_LENGTH.pack(len(payload)) + payload], [descriptor])

    def close(self) -> None:
        """Close this end; the other side sees the end of the stream."""
        self.socket.close()

    def _send_large(self, header: bytes, payload: bytes, deadline: float | None) -> None:
        if deadline is not None:
            self.socket.settimeout(_remaining(deadline))
        try:
            # One call, so that the reader does not wake for the header alone.
            sent = self.socket.sendmsg([header, payload])
            if sent < len(header):
                self.socket.sendall(header[sent:])
                sent = len(header)
            self.socket.sendall(memoryview(payload)[sent - len(header) :])
        finally:
            self.socket.settimeout(None)

    def _is_readable_soon(self, deadline: float | None, seconds: float) -> bool:
        """Look for a frame for `seconds`, yielding the core between two looks.

        Where others want the core, looking is a bad plan: they keep it for
        milliseconds, and a sleeper is woken before that. Then the next frames
        are awaited asleep, the more of them the more often it happens.
        """
        if self._asleep_for:
            self._asleep_for -= 1
            return False
        poll, clock, step_aside = self._poll, time.monotonic, os.sched_yield
        now = clock()
        if deadline is not None and deadline <= now:
            raise TimeoutError
        until = now + seconds if deadline is None else min(now + seconds, deadline)
        switches = _switches()
        while not poll(0):
            if now > until:
                return False
            step_aside()
            before, now = now, clock()
            if now - before > _CROWDED_SECONDS and _switches() > switches:
                self._shyness = min(2 * self._shyness, _MOST_SHY)
                self._asleep_for = self._shyness
                return False
        self._shyness = max(self._shyness // 2, _LEAST_SHY)
        return True

    def _wait(self, deadline: float | None, awake_seconds: float = 0.0) -> None:
        """Look for something to read for `awake_seconds`, then sleep until there is."""
        if awake_seconds and self._is_readable_soon(deadline, awake_seconds):
            return
        # Not in `recv`: the kernel wakes who sleeps there when a reply is read, too.
        if not self._poll(None if deadline is None else _remaining(deadline) * 1000):
            raise TimeoutError

    def _read_some(self, view: memoryview, deadline: float | None, awake_seconds: float) -> int:
        self._wait(deadline, awake_seconds)
        count = self.socket.recv_into(view)
        if count == 0:
            raise ChannelClosed
        return count

    def _receive_rest(
        self, count: int, deadline: float | None, awake_seconds: float
    ) -> memoryview | bytearray:
        """Return the frame of which `count` bytes are in the buffer."""
        while count < 8:
            count += self._read_some(self._view[count:], deadline, awake_seconds)
        length: int = _LENGTH.unpack_from(self._buffer)[0]
        if length > _LONGEST:
            raise ServiceTransportError(f"a frame of {length} bytes is not a message of ours")
        end = 8 + length
        if end <= _FIRST_READ:
            while count < end:
                count += self._read_some(self._view[count:end], deadline, awake_seconds)
            if count > end:
                raise ServiceTransportError(f"{count - end} bytes follow a frame unasked")
            return self._view[8:end]
        return self._read_large(length, count - 8, deadline, awake_seconds)

    def _read_large(
        self, length: int, have: int, deadline: float | None, awake_seconds: float
    ) -> bytearray:
        message = bytearray(length)
        message[:have] = self._view[8 : 8 + have]
        view = memoryview(message)
        while have < length:
            have += self._read_some(view[have:], deadline, awake_seconds)
        return message


def _switches() -> int:
    """Return how often this thread had to leave its core to another."""
    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


def _remaining(deadline: float) -> float:
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds
