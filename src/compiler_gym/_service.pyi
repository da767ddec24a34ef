"""Frames over stream sockets, and requests to many workers at once."""

from collections.abc import Sequence


FRAME_HEADER: str = '<Q'

class Channel:
    """The frames of one socket: requests and their replies."""

    def __init__(self, descriptor: int) -> None: ...

    def close(self) -> None:
        """Stop using the descriptor; it stays open."""

    def send(self, payload: bytes, deadline: float = float('inf')) -> None:
        """
        Send a frame. Raises `OSError`: `ConnectionError` if the other end is closed, `TimeoutError` if it is not sent until `deadline`, by `time.monotonic()`.
        """

    def has_ended(self) -> bool:
        """True if the other end is closed and everything has been read."""

    def receive(self, deadline: float = float('inf'), awake_seconds: float = 0.0) -> bytes:
        """
        Return the next frame. Raises `ConnectionResetError` at the end of the stream, `TimeoutError` after `deadline`, by `time.monotonic()`, and `OSError` for an invalid frame (`EPROTO`) and after `close`.
        """

    def wait(self, deadline: float = float('inf'), awake_seconds: float = 0.0) -> None:
        """Wait until there is something to read, or raise `TimeoutError`."""

    def hold(self, payload: bytes, limit: float) -> None:
        """Store a request, which will have `limit` seconds once it is sent."""

    def send_held(self) -> None:
        """Send the stored request. `receive` raises any error."""

    def place(self, core: int) -> None:
        """
        Bind the process at the other end to this core, or to all of ours (-1).
        """

    def settle(self) -> None:
        """
        Keep the other process on this thread's core while either end finds its core crowded; free it otherwise.
        """

    @property
    def is_crowded(self) -> bool:
        """
        True if other processes recently competed for the core on which this end was spinning.
        """

    @property
    def sleeps(self) -> bool:
        """Whether to wait without spinning first."""

    @sleeps.setter
    def sleeps(self, arg: bool, /) -> None: ...

    @property
    def is_held(self) -> bool:
        """Whether a request is stored."""

    @property
    def awaits(self) -> bool:
        """Whether a request was sent and its reply is outstanding."""

    @awaits.setter
    def awaits(self, arg: bool, /) -> None: ...

    @property
    def is_placed(self) -> bool:
        """Whether the other process is bound to one core."""

    @property
    def deadline(self) -> float:
        """
        The deadline of the reply to the last request, by `time.monotonic()`, if it did not have to wait for its core.
        """

    @property
    def limit(self) -> float:
        """The seconds that the last request had."""

    @property
    def pid(self) -> int:
        """The id of the process at the other end."""

    @pid.setter
    def pid(self, arg: int, /) -> None: ...

    @property
    def core(self) -> int:
        """The number of its core after the last exchange, or -1."""

    @core.setter
    def core(self, arg: int, /) -> None: ...

    @property
    def seconds(self) -> float:
        """The duration of the step in the last exchange, or 0."""

    @seconds.setter
    def seconds(self, arg: float, /) -> None: ...

def current_core() -> int:
    """The number of the core on which this thread runs, or -1 if unknown."""

def exchange_at_once(channels: Sequence[Channel], first_awake_seconds: float, awake_seconds: float) -> None:
    """
    Send the stored requests and wait for the replies, which `receive` then returns. Raises interrupts only: `receive` raises other errors.
    """

def exchange_in_turn(channels: Sequence[Channel], seconds: Sequence[float], share: float, late_seconds: float) -> tuple[int, int]:
    """
    Like `exchange_at_once`, but the longest request first, according to `seconds`. Each core gets its part of `share` at once, then one at a time. Return the number of replies that report how long they were computed, and their total delay in units of `late_seconds`, at most one for each.
    """

STEPPED_TAG: int = 19

STEPPED_FIELDS: tuple = ...
