"""Frames over stream sockets, and requests to many workers at once."""

from collections.abc import Sequence


FRAME_HEADER: str = '<Q'

class Channel:
    """
    One socket's frames: writing and reading them, requests and their replies.
    """

    def __init__(self, descriptor: int) -> None: ...

    def close(self) -> None:
        """Use the descriptor no more; it stays open."""

    def send(self, payload: bytes, deadline: float = float('inf')) -> None:
        """
        Send a frame. Raises `OSError`: `ConnectionError` if nobody can read it, `TimeoutError` if it is not sent until `deadline`, by `time.monotonic()`.
        """

    def has_ended(self) -> bool:
        """Whether the other side has gone and all of it is read."""

    def receive(self, deadline: float = float('inf'), awake_seconds: float = 0.0) -> bytes:
        """
        Return the next frame. Raises `ConnectionResetError` at the end of the stream, `TimeoutError` after `deadline`, by `time.monotonic()`, and `OSError` for what is no frame (`EPROTO`) and when `close` was called.
        """

    def wait(self, deadline: float = float('inf'), awake_seconds: float = 0.0) -> None:
        """Wait until there is something to read, or raise `TimeoutError`."""

    def hold(self, payload: bytes, limit: float) -> None:
        """Keep a request back that has `limit` seconds from when it is sent."""

    def send_held(self) -> None:
        """Send what was kept back. What goes wrong is raised by `receive`."""

    def place(self, core: int) -> None:
        """
        Let the process at the other end run on this core, or on all of ours (-1).
        """

    @property
    def is_crowded(self) -> bool:
        """
        Whether other processes lately wanted the core on which this end looked.
        """

    @property
    def sleeps(self) -> bool:
        """Whether to wait without looking first."""

    @sleeps.setter
    def sleeps(self, arg: bool, /) -> None: ...

    @property
    def is_held(self) -> bool:
        """Whether a request is kept back."""

    @property
    def awaits(self) -> bool:
        """Whether a request was sent and its reply not received."""

    @awaits.setter
    def awaits(self, arg: bool, /) -> None: ...

    @property
    def is_placed(self) -> bool:
        """Whether the other process has one core only."""

    @property
    def deadline(self) -> float:
        """
        When the reply to the last request is overdue, by `time.monotonic()`, if it did not have to wait for its core.
        """

    @property
    def limit(self) -> float:
        """How many seconds the last request had."""

    @property
    def pid(self) -> int:
        """The number of the process at the other end."""

    @pid.setter
    def pid(self, arg: int, /) -> None: ...

    @property
    def core(self) -> int:
        """The number of the core that it was on after the last exchange, or -1."""

    @core.setter
    def core(self, arg: int, /) -> None: ...

    @property
    def seconds(self) -> float:
        """How long the step of the last exchange took it, or 0."""

    @seconds.setter
    def seconds(self, arg: float, /) -> None: ...

def current_core() -> int:
    """
    The number of the core that this thread is on, or -1 where nobody can say.
    """

def exchange_at_once(channels: Sequence[Channel], first_awake_seconds: float, awake_seconds: float) -> None:
    """
    Send what the channels hold and wait for the replies, which `receive` then returns. Only what interrupts is raised: `receive` raises the rest.
    """

def exchange_in_turn(channels: Sequence[Channel], seconds: Sequence[float], share: float, late_seconds: float) -> tuple[int, int]:
    """
    As `exchange_at_once`, the longest first by what they are expected to take, `seconds`. Each core gets its part of `share` of them at once, then one at a time. Return how many replies say how long they were computed, and how many `late_seconds` they came later than that, but no more than there were.
    """

STEPPED_TAG: int = 19

STEPPED_FIELDS: tuple = ...
