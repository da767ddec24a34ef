# SPDX-License-Identifier: MIT
"""Frames over a stream socket: whole messages, or an error.

A frame is an eight-byte little-endian length followed by that many bytes. A channel has one
reader and one writer at a time; it does not interpret payloads. A reader that expects its frame
soon may poll for a while before it sleeps: waking a process on an idle core costs more than most
passes do.
"""

import errno
import math
import os
import socket
import struct
import time

from compiler_gym._service import FRAME_HEADER
from compiler_gym._service import Channel as NativeChannel
from compiler_gym.errors import ServiceTransportError

_Socket = socket.socket  # a channel has an attribute named like the module
_LENGTH = struct.Struct(FRAME_HEADER)
_SHORT = 1 << 16
_REST_SECONDS = 0.25

ChannelClosed = ConnectionError
"""The other side has closed."""


class Channel(NativeChannel):
    """One end of a socket pair that carries frames.

    ``send(payload, deadline)`` sends one; it raises `ChannelClosed` if the other side has closed.
    ``receive(deadline, awake_seconds)`` returns the next one. It polls for `awake_seconds` before
    it sleeps, and yields the core to any other process meanwhile. It raises `ChannelClosed` when
    the other side has closed, `TimeoutError` when `deadline`, a `time.monotonic()` value, passes
    first, and `OSError` with ``EPROTO`` for malformed frames.

    A request can be held back (``hold``), to send several at once.
    """

    def __init__(self, sock: _Socket):
        super().__init__(sock.fileno())
        self.socket = sock
        self.descriptor = sock.fileno()

    @classmethod
    def from_descriptor(cls, descriptor: int) -> "Channel":
        """Return the channel over a socket received from another process, and take ownership.

        Raises `ServiceTransportError`, without taking ownership, if it is not a stream socket.
        """
        sock = None
        try:
            sock = socket.socket(fileno=descriptor)
            if (sock.family, sock.type) == (socket.AF_UNIX, socket.SOCK_STREAM):
                return cls(sock)
        except OSError:
            pass
        if sock is not None:
            sock.detach()
        raise ServiceTransportError("the descriptor that came with a fork is not a stream socket")

    def receive_with_descriptor(
        self, deadline: float = math.inf, awake_seconds: float = 0.0
    ) -> tuple[bytes, int | None]:
        """Return the next frame, which must be short, and the descriptor sent with it.

        Waits like `receive`. The descriptor is None if none was sent or this process may not open
        more.
        """
        self.wait(deadline, awake_seconds)
        data, descriptors, _, _ = socket.recv_fds(self.socket, _SHORT, 1, socket.MSG_DONTWAIT)
        descriptor = descriptors[0] if descriptors else None
        deadline = max(deadline, time.monotonic() + _REST_SECONDS)
        try:
            while not _is_complete_frame(data):
                if not data:
                    raise _error(errno.ECONNRESET)
                if time.monotonic() >= deadline:
                    raise _error(errno.ETIMEDOUT)
                self.wait(deadline)
                more = self.socket.recv(_SHORT, socket.MSG_DONTWAIT)
                data = data + more if more else b""
        except BaseException:
            if descriptor is not None:
                os.close(descriptor)
            raise
        return data[_LENGTH.size :], descriptor

    def send_with_descriptor(self, payload: bytes, descriptor: int) -> None:
        """Send one short frame together with an open file."""
        socket.send_fds(self.socket, [_LENGTH.pack(len(payload)) + payload], [descriptor])

    def cut(self) -> None:
        """Stop sending and receiving; the other side does not notice before `close`."""
        super().close()

    def close(self) -> None:
        """Close this end; the other side sees the end of the stream."""
        super().close()
        self.socket.close()


def _is_complete_frame(data: bytes) -> bool:
    """Return whether a short frame is complete; raise `OSError` if it can't become one."""
    if len(data) < _LENGTH.size:
        return False
    end = _LENGTH.size + _LENGTH.unpack_from(data)[0]
    if len(data) > end or end > _SHORT:
        raise OSError(errno.EPROTO, f"a frame of {end - _LENGTH.size} bytes is not a short message")
    return len(data) == end


def _error(number: int) -> OSError:
    """Return the `OSError` of `number`; errors of a channel always have a number."""
    return OSError(number, os.strerror(number))
