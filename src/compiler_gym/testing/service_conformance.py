# SPDX-License-Identifier: MIT
"""Checks that a program keeps the session protocol: what ``compiler-gym conformance`` runs.

It talks to processes of the program over bare channels: recorded requests, random actions, and
bytes that are no message. It knows the protocol and no compiler.
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
from compiler_gym.service import Channel, SessionSource
from compiler_gym.service.foreign import sdk_path
from compiler_gym.service.messages import Description, decode_reply, encode
from compiler_gym.service.supervisor import ZygoteHandle, describe_status, last_words, zygote_for
from compiler_gym.session import ActionSpaceSpec, BenchmarkSpec
from compiler_gym.testing.processes import is_running, wait_until

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
    "a text that is longer than the message": b"\xdb\xff\xff\xff\xff",
    "a list that is longer than the message": b"\xdd\xff\xff\xff\xff\x01",
    "a table that is longer than the message": b"\xdf\xff\xff\xff\xff\xa1a",
    "an extension": b"\xc7\x01\x05\x00",
    "lists a thousand deep": b"\x91" * 1000 + b"\x01",
    "a number of 64 bits as the tag": b"\x91\xcf" + b"\xff" * 8,
}


@dataclass(frozen=True, slots=True)
class Check:
    """One promise of the protocol."""

    name: str
    """What is promised."""
    problem: str = ""
    """What was found instead; empty if it is kept."""
    detail: str = ""
    """What else is worth knowing."""


class _BrokenPromiseError(Exception):
    """What was found instead of what is promised."""


class _Talk:
    """A process of the program, and its channel."""

    def __init__(self, zygote: ZygoteHandle) -> None:
        self.zygote = zygote
        self.channel, self.pid = zygote.spawn(_MEMORY_BYTES)
        self.has_ended = False

    def ask(self, message: Any) -> list[Any]:
        """Return the reply to `message`, which is plain or bytes that are none."""
        data = message if isinstance(message, bytes) else msgspec.msgpack.encode(message)
        self.channel.send(data, time.monotonic() + _SECONDS)
        return self.receive()

    def receive(self) -> list[Any]:
        try:
            data = self.channel.receive(time.monotonic() + _SECONDS, 0.0)
        except TimeoutError:
            raise _BrokenPromiseError(f"no reply within {_SECONDS:.0f} s") from None
        except OSError as error:
            raise _BrokenPromiseError(f"no reply: {self.ending() or error}") from None
        try:
            decode_reply(data)
            return cast("list[Any]", msgspec.msgpack.decode(data))
        except ValueError as error:
            raise _BrokenPromiseError(f"a reply that is none ({error}): {data[:60]!r}") from None

    def ending(self) -> str:
        """Return how the process ended, in words; empty if it runs."""
        ended = self.zygote.reap(self.pid, kill=False)
        if ended.status is None:
            return ""
        self.has_ended = True
        return f"it {describe_status(ended.status)}{last_words(ended)}"

    def leaves(self) -> None:
        """Close the channel, and raise unless the process leaves by itself, and by an exit."""
        self.channel.close()
        ended = self.zygote.reap(self.pid, kill=False, seconds=_LEAVE_SECONDS)
        if ended.status is None:
            raise _BrokenPromiseError(f"it still runs after {_LEAVE_SECONDS:.0f} s")
        self.has_ended = True
        if ended.status & 0x7F:
            raise _BrokenPromiseError(f"it {describe_status(ended.status)}{last_words(ended)}")

    def close(self) -> None:
        self.channel.close()
        if self.has_ended:
            return
        try:
            self.zygote.reap(self.pid, kill=True, seconds=_LEAVE_SECONDS)
        except ServiceError:
            pass


def check_service(source: SessionSource, program: BenchmarkSpec) -> Iterator[Check]:
    """Yield what is promised of the program that is `source`, and whether it is kept.

    Args:
        source: The program.
        program: One that it can read.

    Raises:
        ServiceInitError: It does not start.
    """
    zygote = zygote_for(source)
    assert zygote.description is not None
    conformance = _Conformance(zygote, zygote.description, program)
    for name, check in conformance.checks():
        try:
            detail = check()
        except _BrokenPromiseError as error:
            yield Check(name, str(error))
        except (ServiceError, OSError, ValueError, LookupError) as error:
            yield Check(name, f"{type(error).__name__}: {error}")
        else:
            yield Check(name, detail=detail or "")


def matches(pattern: Any, found: Any, *, is_message: bool = True) -> bool:
    """Return whether `found` is what a transcript expects; a message may have further fields.

    >>> matches([23, "SessionNotFound", "$any"], [23, "SessionNotFound", "no episode", 0, True])
    True
    """
    if pattern == ANY:
        return True
    if isinstance(pattern, list):
        if not isinstance(found, list):
            return False
        wanted, items = cast("list[Any]", pattern), cast("list[Any]", found)
        fits = len(items) >= len(wanted) if is_message else len(items) == len(wanted)
        pairs = zip(wanted, items, strict=False)
        return fits and all(matches(one, other, is_message=False) for one, other in pairs)
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
        """Yield every promise and what looks whether it is kept."""
        yield "it describes itself", self._describes_itself
        for line in (sdk_path() / "transcripts/requests-v1.jsonl").read_text().splitlines():
            case = msgspec.json.decode(line)
            if case.get("needs", "fork") in ("fork", *self._description.capabilities) and (
                "needs" not in case or self._description.forkable
            ):
                yield f"transcript: {case['case']}", lambda case=case: self._replay(case["talk"])
        yield "the same actions give the same observations", self._is_deterministic
        yield "actions at once are the same as one by one", self._takes_several
        if self._description.forkable:
            yield "a fork is exact, and outlives its origin", self._forks
        for name, data in _BAD_BYTES.items():
            yield f"bad bytes: {name}", lambda data=data: self._survives(data)
        yield "bad bytes: random ones", self._survives_noise
        yield "bad bytes: a length of 2^63", lambda: self._leaves(b"\xff" * 7 + b"\x7f")
        yield "it leaves in the middle of a message", lambda: self._leaves(b"\x50" + b"\0" * 7)
        yield "it leaves when its client does", lambda: self._leaves(b"")
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
        found = talk.ask(message)
        if not matches(pattern, found):
            raise _BrokenPromiseError(
                f"to {_in_short(message)} expected {_in_short(pattern)}, found {_in_short(found)}"
            )
        return found

    def _describes_itself(self) -> str:
        description = self._description
        for kind, names in (
            ("action spaces", [space.name for space in description.action_spaces]),
            ("observation spaces", [space.name for space in description.observation_spaces]),
        ):
            if not names or len(names) != len(set(names)):
                raise _BrokenPromiseError(f"expected {kind} of different names, found {names}")
        if not description.compiler_version:
            raise _BrokenPromiseError("expected the version of the compiler, found an empty text")
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
        known = {
            "$benchmark": self._program,
            "$space": self._description.action_spaces[0].name,
            "$observation": self._steady[0],
            "$action": self._actions(_SEED)[0],
        }
        with self._talk() as talk:
            for message, pattern in zip(lines[::2], lines[1::2], strict=True):
                self._expect(talk, _fill_in(message, known), pattern)

    def _walk(self, actions: Sequence[Any], *, by_one: bool = True) -> Any:
        """Return what is observed after `actions`, which end where the episode does."""
        with self._talk(starts=True) as talk:
            for request in [[one] for one in actions] if by_one else [list(actions)]:
                stepped = self._expect(talk, [2, request, [], True], [19])
                if stepped[1] or stepped[2] is not None:
                    break
            return self._observe_all(talk)

    def _observe_all(self, talk: _Talk) -> list[Any]:
        """Return every observation that must not vary, or why there is none."""
        replies = [self._expect(talk, [2, [], [name], True], [19]) for name in self._steady]
        return [reply[4] or reply[6] for reply in replies]

    def _is_deterministic(self) -> None:
        actions = self._actions(_SEED)
        self._same(self._walk(actions), self._walk(actions))

    def _takes_several(self) -> None:
        actions = self._actions(_SEED + 1)
        self._same(self._walk(actions), self._walk(actions, by_one=False))

    def _same(self, one: Any, other: Any) -> None:
        for name, left, right in zip(self._steady, one, other, strict=True):
            if left != right:
                raise _BrokenPromiseError(
                    f"{name} is {_in_short(left)} and {_in_short(right)}: expected the same"
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
                raise _BrokenPromiseError(f"expected Forked and a descriptor, found {forked}")
            copy = _Talk.__new__(_Talk)
            copy.zygote, copy.pid, copy.has_ended = self._zygote, forked[1], False
            copy.channel = Channel.from_descriptor(descriptor)
            try:
                talk.ask([2, actions[1:], [], True])
                talk.leaves()
                self._same(self._observe_all(copy), before)
                copy.channel.close()
                if not wait_until(lambda: not is_running(copy.pid), seconds=_LEAVE_SECONDS):
                    raise _BrokenPromiseError("the copy does not leave when its client does")
                copy.has_ended = True
            finally:
                copy.close()

    def _survives(self, data: bytes) -> None:
        with self._talk(starts=True) as talk:
            self._expect(talk, data, [23, "ServiceTransportError", ANY, 0, True])
            self._expect(talk, [2, [], self._steady[:1], True], [19, False, None, True, [ANY], 0])

    def _survives_noise(self) -> str:
        """Send bytes at random, and requests in which a byte is another."""
        dice = random.Random(_SEED)
        begins = _encode([1, self._program, None, self._steady[:1], {}])
        with self._talk(starts=True) as talk:
            for _ in range(200):
                noise = bytearray(begins if dice.random() < 0.5 else dice.randbytes(40))
                noise[dice.randrange(len(noise))] = dice.randrange(256)
                if bytes(noise[:2]) not in (b"\x91\x05", b"\x93\x03", b"\x92\x03"):
                    talk.ask(bytes(noise))
            self._expect(talk, [5], [22])
        return "200 messages"

    def _leaves(self, data: bytes) -> None:
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
        # Of a busy machine, whose others have the core in between, the quick ones tell.
        quick = statistics.quantiles(seconds, n=10)[0]
        said = f"{quick * 1e6:.0f} microseconds (a tenth of {_ROUND_TRIPS} took less)"
        if quick > _MOST_SECONDS:
            raise _BrokenPromiseError(said)
        return said


def _encode(message: Any) -> bytes:
    """Return a message of plain values as bytes."""
    return encode(message)


def _fill_in(message: Any, known: dict[str, Any]) -> Any:
    if isinstance(message, str):
        return known.get(message, message)
    if isinstance(message, list):
        return [_fill_in(item, known) for item in cast("list[Any]", message)]
    return message


def _in_short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 200 else f"{text[:200]}..."
