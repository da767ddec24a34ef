# SPDX-License-Identifier: MIT
"""Check that a program conforms to the session protocol, for ``compiler-gym conformance``.

The checks send recorded requests, random actions and malformed messages to processes of the
program over raw channels. They depend only on the protocol, not on a compiler.
"""

import random
import statistics
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import msgspec

from compiler_gym.core import plain_from_value, space_from_spec
from compiler_gym.errors import ServiceError
from compiler_gym.service import (
    Channel,
    Description,
    SessionSource,
    ZygoteHandle,
    decode_reply,
    describe_status,
    encode,
    last_words,
    sdk_path,
    zygote_for,
)
from compiler_gym.session import ActionSpaceSpec, BenchmarkSpec
from compiler_gym.testing import is_running, wait_until

__all__ = ["Check", "check_service", "matches"]

ANY = "$any"
_SECONDS = 60.0
_LEAVE_SECONDS = 5.0
_MEMORY_BYTES = 2 << 30
_STEPS = 8
_ROUND_TRIPS = 2000
_MOST_SECONDS = 50e-6
_SEED = 1
_LENGTH = 8
_BAD_BYTES = {
    "a byte that msgpack does not use": b"\xc1",
    "an empty message": b"",
    "a string that is longer than the message": b"\xdb\xff\xff\xff\xff",
    "a list that is longer than the message": b"\xdd\xff\xff\xff\xff\x01",
    "a table that is longer than the message": b"\xdf\xff\xff\xff\xff\xa1a",
    "an extension": b"\xc7\x01\x05\x00",
    "lists nested a thousand levels deep": b"\x91" * 1000 + b"\x01",
    "a 64-bit number as the tag": b"\x91\xcf" + b"\xff" * 8,
}


@dataclass(frozen=True, slots=True)
class Check:
    """The result of checking one requirement of the protocol."""

    name: str
    """The requirement."""
    problem: str = ""
    """The violation; empty if the requirement is met."""
    detail: str = ""
    """Further information, such as a measurement."""


class _ViolationError(Exception):
    """A violation of a requirement."""


class _Talk:
    """A connection to a process of the program."""

    def __init__(self, zygote: ZygoteHandle) -> None:
        self.zygote = zygote
        self.channel, self.pid = zygote.spawn(_MEMORY_BYTES)
        self.has_ended = False

    def ask(self, message: Any) -> list[Any]:
        """Return the reply to `message`: plain values, or raw bytes."""
        data = message if isinstance(message, bytes) else msgspec.msgpack.encode(message)
        self.channel.send(data, time.monotonic() + _SECONDS)
        return self.receive()

    def receive(self) -> list[Any]:
        try:
            data = self.channel.receive(time.monotonic() + _SECONDS, 0.0)
        except TimeoutError:
            raise _ViolationError(f"it did not reply within {_SECONDS:.0f} s") from None
        except OSError as error:
            raise _ViolationError(f"it did not reply: {self.ending() or error}") from None
        try:
            decode_reply(data)
            return cast("list[Any]", msgspec.msgpack.decode(data))
        except ValueError as error:
            raise _ViolationError(f"it sent a malformed reply ({error}): {data[:60]!r}") from None

    def ending(self) -> str:
        """Return a description of how the process ended; empty if it is running."""
        process = self.zygote.reap(self.pid, kill=False)
        if process.status is None:
            return ""
        self.has_ended = True
        return f"it {describe_status(process.status)}{last_words(process)}"

    def leaves(self) -> None:
        """Close the channel, and raise an error unless the process exits by itself."""
        self.channel.close()
        process = self.zygote.reap(self.pid, kill=False, seconds=_LEAVE_SECONDS)
        if process.status is None:
            raise _ViolationError(f"it is still running after {_LEAVE_SECONDS:.0f} s")
        self.has_ended = True
        if process.status & 0x7F:
            raise _ViolationError(f"it {describe_status(process.status)}{last_words(process)}")

    def close(self) -> None:
        self.channel.close()
        if self.has_ended:
            return
        try:
            self.zygote.reap(self.pid, kill=True, seconds=_LEAVE_SECONDS)
        except ServiceError:
            pass


def check_service(source: SessionSource, program: BenchmarkSpec) -> Iterator[Check]:
    """Yield a check of each requirement of the protocol for the program `source`.

    Args:
        source: The program.
        program: A benchmark that it can read.

    Raises:
        ServiceInitError: The program does not start.
    """
    zygote = zygote_for(source)
    assert zygote.description is not None
    conformance = _Conformance(zygote, zygote.description, program)
    for name, check in conformance.checks():
        try:
            detail = check()
        except _ViolationError as error:
            yield Check(name, str(error))
        except (ServiceError, OSError, ValueError, LookupError) as error:
            yield Check(name, f"{type(error).__name__}: {error}")
        else:
            yield Check(name, detail=detail or "")


def matches(pattern: Any, found: Any, *, is_message: bool = True) -> bool:
    """Return True if `found` matches the pattern of a transcript; extra fields are allowed.

    >>> matches([23, "SessionNotFound", "$any"], [23, "SessionNotFound", "no episode", 0, True])
    True
    """
    if pattern == ANY:
        return True
    if isinstance(pattern, list):
        if not isinstance(found, list):
            return False
        patterns, items = cast("list[Any]", pattern), cast("list[Any]", found)
        fits = len(items) >= len(patterns) if is_message else len(items) == len(patterns)
        pairs = zip(patterns, items, strict=False)
        return fits and all(matches(expected, item, is_message=False) for expected, item in pairs)
    return type(found) is type(pattern) and bool(pattern == found)


class _Conformance:
    def __init__(
        self, zygote: ZygoteHandle, description: Description, program: BenchmarkSpec
    ) -> None:
        self._zygote = zygote
        self._description = description
        self._program = msgspec.to_builtins(program, builtin_types=(bytes,))
        self._steady = [s.name for s in description.observation_spaces if s.deterministic]

    def checks(self) -> Iterator[tuple[str, Callable[[], str | None]]]:
        """Yield every requirement and the function that checks it."""
        yield "it describes itself", self._describes_itself
        for line in (sdk_path() / "transcripts/requests-v1.jsonl").read_text().splitlines():
            case = msgspec.json.decode(line)
            if case.get("needs", "fork") in ("fork", *self._description.capabilities) and (
                "needs" not in case or self._description.forkable
            ):
                yield f"transcript: {case['case']}", lambda case=case: self._replay(case["talk"])
        yield "the same actions produce the same observations", self._is_deterministic
        yield "several actions at once have the same effect as one by one", self._accepts_several
        if self._description.forkable:
            yield "a fork is exact and outlives the original", self._forks
        for name, data in _BAD_BYTES.items():
            yield f"bad bytes: {name}", lambda data=data: self._survives(data)
        yield "bad bytes: random bytes", self._survives_noise
        yield "bad bytes: a length of 2^63", lambda: self._exits_after(b"\xff" * 7 + b"\x7f")
        yield (
            "it exits after a partial message",
            lambda: self._exits_after(b"\x50" + b"\0" * 7),
        )
        yield "it exits when the client disconnects", lambda: self._exits_after(b"")
        yield "a round trip takes at most 50 microseconds", self._is_fast

    @contextmanager
    def _talk(self, *, starts: bool = False) -> Generator[_Talk]:
        talk = _Talk(self._zygote)
        try:
            if starts:
                self._expect(talk, [1, self._program, None, [], {}], [18, ANY, []])
            yield talk
        finally:
            talk.close()

    @staticmethod
    def _expect(talk: _Talk, message: Any, pattern: Any) -> list[Any]:
        reply = talk.ask(message)
        if not matches(pattern, reply):
            raise _ViolationError(
                f"the reply to {_shorten(message)} is {_shorten(reply)}, not {_shorten(pattern)}"
            )
        return reply

    def _describes_itself(self) -> str:
        description = self._description
        for kind, names in (
            ("action spaces", [space.name for space in description.action_spaces]),
            ("observation spaces", [space.name for space in description.observation_spaces]),
        ):
            if not names or len(names) != len(set(names)):
                raise _ViolationError(f"the {kind} must have different names (got {names})")
        if not description.compiler_version:
            raise _ViolationError("the version of the compiler is empty")
        return description.compiler_version

    @cached_property
    def _action_space(self) -> ActionSpaceSpec:
        with self._talk() as talk:
            started = decode_reply(_encode(talk.ask([1, self._program, None, [], {}])))
        return getattr(started, "action_space", None) or self._description.action_spaces[0]

    def _actions(self, seed: int) -> list[Any]:
        spec = self._action_space
        space = space_from_spec(spec.space, spec.name)
        space.seed(seed)
        return [plain_from_value(space, space.sample()) for _ in range(_STEPS)]

    def _replay(self, lines: list[Any]) -> None:
        values = {
            "$benchmark": self._program,
            "$space": self._description.action_spaces[0].name,
            "$observation": self._steady[0],
            "$action": self._actions(_SEED)[0],
        }
        with self._talk() as talk:
            for message, pattern in zip(lines[::2], lines[1::2], strict=True):
                self._expect(talk, _fill_in(message, values), pattern)

    def _walk(self, actions: Sequence[Any], *, by_one: bool = True) -> Any:
        """Return the observations after `actions`, or at the earlier end of the episode."""
        with self._talk(starts=True) as talk:
            for request in [[action] for action in actions] if by_one else [list(actions)]:
                stepped = self._expect(talk, [2, request, [], True], [19])
                if stepped[1] or stepped[2] is not None:
                    break
            return self._observe_all(talk)

    def _observe_all(self, talk: _Talk) -> list[Any]:
        """Return every deterministic observation, or its error."""
        replies = [self._expect(talk, [2, [], [name], True], [19]) for name in self._steady]
        return [reply[4] or reply[6] for reply in replies]

    def _is_deterministic(self) -> None:
        actions = self._actions(_SEED)
        self._same(self._walk(actions), self._walk(actions))

    def _accepts_several(self) -> None:
        actions = self._actions(_SEED + 1)
        self._same(self._walk(actions), self._walk(actions, by_one=False))

    def _same(self, first: Any, second: Any) -> None:
        for name, first_value, second_value in zip(self._steady, first, second, strict=True):
            if first_value != second_value:
                raise _ViolationError(
                    f"{name} differs: {_shorten(first_value)} and {_shorten(second_value)}"
                )

    def _forks(self) -> None:
        actions = self._actions(_SEED)
        with self._talk(starts=True) as talk:
            self._expect(talk, [2, actions[:1], [], True], [19])
            before = self._observe_all(talk)
            talk.channel.send(msgspec.msgpack.encode([3, self._steady, False]), _SECONDS + 1e9)
            data, descriptor = talk.channel.receive_with_descriptor(time.monotonic() + _SECONDS)
            forked = cast("list[Any]", msgspec.msgpack.decode(data))
            if descriptor is None or not matches([20, ANY], forked):
                raise _ViolationError(f"the reply is not Forked with a descriptor: {forked}")
            copy = _Talk.__new__(_Talk)
            copy.zygote, copy.pid, copy.has_ended = self._zygote, forked[1], False
            copy.channel = Channel.from_descriptor(descriptor)
            try:
                talk.ask([2, actions[1:], [], True])
                talk.leaves()
                self._same(self._observe_all(copy), before)
                copy.channel.close()
                if not wait_until(lambda: not is_running(copy.pid), seconds=_LEAVE_SECONDS):
                    raise _ViolationError("the fork does not exit when its client disconnects")
                copy.has_ended = True
            finally:
                copy.close()

    def _survives(self, data: bytes) -> None:
        with self._talk(starts=True) as talk:
            self._expect(talk, data, [23, "ServiceTransportError", ANY, 0, True])
            self._expect(talk, [2, [], self._steady[:1], True], [19, False, None, True, [ANY], 0])

    def _survives_noise(self) -> str:
        """Send random bytes, and requests with one byte changed."""
        dice = random.Random(_SEED)
        request = _encode([1, self._program, None, self._steady[:1], {}])
        with self._talk(starts=True) as talk:
            for _ in range(200):
                noise = bytearray(request if dice.random() < 0.5 else dice.randbytes(40))
                noise[dice.randrange(len(noise))] = dice.randrange(256)
                if bytes(noise[:2]) not in (b"\x91\x05", b"\x93\x03", b"\x92\x03"):
                    talk.ask(bytes(noise))
            self._expect(talk, [5], [22])
        return "200 messages"

    def _exits_after(self, data: bytes) -> None:
        with self._talk(starts=True) as talk:
            if data:
                talk.channel.socket.sendall(data)
            talk.leaves()

    def _is_fast(self) -> str:
        seconds: list[float] = []
        request = _encode([2, [], [], True])
        with self._talk(starts=True) as talk:
            channel = talk.channel
            for _ in range(_ROUND_TRIPS):
                began = time.perf_counter()
                channel.send(request, began + 1e9)
                channel.receive(began + 1e9, 5e-3)
                seconds.append(time.perf_counter() - began)
        # On a busy machine, only the fastest round trips are uninterrupted.
        quick = statistics.quantiles(seconds, n=10)[0]
        summary = f"{quick * 1e6:.0f} microseconds (10th percentile of {_ROUND_TRIPS} round trips)"
        if quick > _MOST_SECONDS:
            raise _ViolationError(summary)
        return summary


def _encode(message: Any) -> bytes:
    """Return a message of plain values as bytes."""
    return encode(message)


def _fill_in(message: Any, values: dict[str, Any]) -> Any:
    if isinstance(message, str):
        return values.get(message, message)
    if isinstance(message, list):
        return [_fill_in(item, values) for item in cast("list[Any]", message)]
    return message


def _shorten(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
