"""Frames over a stream socket."""



class Line:
    """The reading and the writing of one socket's frames."""

    def __init__(self, descriptor: int) -> None: ...

    def close(self) -> None:
        """Use the descriptor no more; it stays open."""

    def send_some(self, payload: bytes) -> int:
        """
        Send a frame, or the part of it that there is room for; return how many bytes, with the eight of the length. Raises `OSError`.
        """

    def has_ended(self) -> bool:
        """Whether the other side has gone and all of it is read."""

    def receive(self, deadline: float = float('inf'), awake_seconds: float = 0.0) -> bytes:
        """
        Return the next frame. Raises `ConnectionResetError` at the end of the stream, `TimeoutError` after `deadline`, by `time.monotonic()`, and `OSError` for what is no frame (`EPROTO`) and when `close` was called.
        """

    def wait(self, deadline: float = float('inf'), awake_seconds: float = 0.0) -> None:
        """Wait until there is something to read, or raise `TimeoutError`."""

def receive_all(lines: list, deadline: float, first_awake_seconds: float, awake_seconds: float) -> None:
    """
    Wait for the next frame of each of the lines in turn, which `receive` then returns. Only what interrupts is raised: `receive` raises the rest.
    """

def current_core() -> int:
    """
    The number of the core that this thread is on, or -1 where nobody can say.
    """
