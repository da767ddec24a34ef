# SPDX-License-Identifier: MIT
"""Frames over a stream socket: whole messages, or an error.

A frame is an eight-byte little-endian length and that many bytes. A channel has
one reader and one writer at a time; it does not interpret what it carries.
"""

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


class ChannelClosed(Exception):
    """The other side has gone."""


class Channel:
    """One end of a socket pair that carries frames."""

    __slots__ = ("_buffer", "_view", "socket")

    def __init__(self, sock: _Socket):
        self.socket = sock
        self._buffer = bytearray(_FIRST_READ)
        self._view = memoryview(self._buffer)

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
                self._set_timeout(deadline)
                self.socket.sendall(header)
                self.socket.sendall(payload)
        except (BrokenPipeError, ConnectionResetError) as error:
            raise ChannelClosed from error

    def receive(self, deadline: float | None = None) -> memoryview | bytearray:
        """Return the next frame, valid until the next call.

        Raises `ChannelClosed` when the other side has gone and `TimeoutError`
        when `deadline`, a `time.monotonic()` value, passes first.
        """
        try:
            count = self._read_some(self._view, deadline)
            while count < 8:
                count += self._read_some(self._view[count:], deadline)
            length: int = _LENGTH.unpack_from(self._buffer)[0]
            if length > _LONGEST:
                raise ServiceTransportError(f"a frame of {length} bytes is not a message of ours")
            end = 8 + length
            if end <= _FIRST_READ:
                while count < end:
                    count += self._read_some(self._view[count:end], deadline)
                if count > end:
                    raise ServiceTransportError(f"{count - end} bytes follow a frame unasked")
                return self._view[8:end]
            return self._read_large(length, count - 8, deadline)
        except ConnectionResetError as error:
            raise ChannelClosed from error

    def receive_with_descriptor(self, deadline: float | None = None) -> tuple[bytes, int | None]:
        """Return the next frame, which must be short, and the descriptor sent with it.

        The descriptor is None if none was sent or this process may not open more.
        """
        self._set_timeout(deadline)
        try:
            data, descriptors, _, _ = socket.recv_fds(self.socket, _FIRST_READ, 1)
            descriptor = descriptors[0] if descriptors else None
            while len(data) < 8 or len(data) < 8 + _LENGTH.unpack_from(data)[0]:
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

    def _set_timeout(self, deadline: float | None) -> None:
        if deadline is None:
            return
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise TimeoutError
        self.socket.settimeout(remaining)

    def _read_some(self, view: memoryview, deadline: float | None) -> int:
        self._set_timeout(deadline)
        count = self.socket.recv_into(view)
        if count == 0:
            raise ChannelClosed
        return count

    def _read_large(self, length: int, have: int, deadline: float | None) -> bytearray:
        message = bytearray(length)
        message[:have] = self._view[8 : 8 + have]
        view = memoryview(message)
        while have < length:
            have += self._read_some(view[have:], deadline)
        return message
