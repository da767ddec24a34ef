# SPDX-License-Identifier: MIT
"""A session that is asked only for what no session has answered before.

As long as every answer is known, the session does nothing: the actions wait, and are
applied together when an answer is needed that nobody knows. An action that had no effect
need not be applied at all. Whatever cannot be known exactly is passed on: parameters,
observations that vary, episodes whose actions change on the way.

A fork is lazy too: it takes a copy of the session when it needs one, or when the session
it would copy is about to go on.
"""

import hashlib
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterable
from typing import Any

import msgspec

from compiler_gym.caching.cache import TranspositionCache
from compiler_gym.caching.memory import Transition
from compiler_gym.errors import ServiceError, ServiceIsClosed, error_from_name
from compiler_gym.service import Channel, Connection
from compiler_gym.service.messages import (
    Failed,
    Parameter,
    Reply,
    Request,
    Start,
    Started,
    Step,
    Stepped,
)

__all__ = ["CachingConnection"]

_encode = msgspec.msgpack.Encoder(order="deterministic").encode
_Work = Generator[Request, Reply, Reply]
"""What yields requests for the session, is sent its replies, and returns the user's."""
_families = threading.RLock()
"""Held while sessions are copied, which may collect forks that nobody has: they leave at once."""
_KEPT_DIGESTS = 64
_digests: dict[int, tuple[bytes, bytes]] = {}
"""Digests of the last programs, by identity; the program is kept, so it stays valid."""


class CachingConnection:
    """A `Connection` over another one that is opened by `open` when it is needed.

    `key` is the observation that tells states apart and `steady` those that are always the
    same in a state.
    """

    def __init__(
        self,
        open: Callable[[], Connection],
        cache: TranspositionCache,
        *,
        key: str,
        steady: Iterable[str],
        version: str,
    ) -> None:
        self._open = open
        self._cache = cache
        self._key = key
        self._steady = frozenset(steady)
        self._version = version
        self._inner: Connection | None = None
        self._is_open = True
        self._start: Start | None = None
        self._waiting: list[Any] = []
        self._space = b""
        self._state: bytes | None = None
        self._work: _Work | None = None
        self._answer: Reply | None = None
        self._failure: Exception | None = None
        self._until: float | None = None
        self._later = False
        self._first: Start | None = None
        self._history: list[Any] | None = None
        self._parent: CachingConnection | None = None
        self._children: weakref.WeakSet[CachingConnection] = weakref.WeakSet()
        self._was_forked_here = False

    @property
    def is_open(self) -> bool:
        """Whether a request can be made."""
        return self._is_open and (self._inner is None or self._inner.is_open)

    @property
    def session(self) -> Connection | None:
        """The session; None as long as nothing has needed it."""
        return self._inner

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """Return the reply to `request`, from the cache if it is known."""
        self.submit(request, timeout)
        return self.gather(timeout)

    def submit(
        self, request: Request, timeout: float | None = None, *, later: bool = False
    ) -> None:
        """Begin a request: the session gets the first of what it has to do."""
        if self._work is not None or self._failure is not None:
            # The environment has taken note of actions that this may not have.
            self._work = self._failure = None
            self.abandon()
            raise ServiceIsClosed("the last request was interrupted: call reset()")
        self._until = None if timeout is None else time.monotonic() + timeout
        self._later = later
        self._answer = self._known(request)
        if self._answer is None:
            self._adopt()  # it may be one that has to catch up
            self._work = self._work_on(request)
            self._go_on(None)

    def gather(self, timeout: float | None = None) -> Reply:
        """Return the reply to the request submitted."""
        if timeout is not None:
            self._until = time.monotonic() + timeout
        while not self.advance():
            pass
        answer, self._answer = self._answer, None
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure
        if answer is None:
            raise ServiceIsClosed("no request was submitted")
        return answer

    @property
    def channel(self) -> Channel | None:
        """What holds the session's next request, if that was kept back."""
        return None if self._work is None or self._inner is None else self._inner.channel

    def fileno(self) -> int | None:
        """The descriptor that becomes readable when `advance` need not wait, if one does."""
        return None if self._work is None or self._inner is None else self._inner.fileno()

    def advance(self) -> bool:
        """Take one reply of the session and ask it for what comes next, if anything does.

        What goes wrong is for `gather`.
        """
        if self._work is None:
            return True
        assert self._inner is not None
        try:
            reply = self._inner.gather(self._left)
        except Exception as error:
            self._work, self._failure = None, error
        else:
            self._go_on(reply)
        return self._work is None

    @property
    def _left(self) -> float | None:
        """The seconds of the request's own that are left, if it has any."""
        return None if self._until is None else max(self._until - time.monotonic(), 1e-3)

    def fork(self) -> "CachingConnection | None":
        """Return a connection in the same state; None if the session must be replayed."""
        self._adopt()
        if self._was_forked_here and self._inner is not None and self._waiting:
            self._settle()  # or every fork would apply the same actions again
        self._was_forked_here = True
        twin = CachingConnection(
            self._open, self._cache, key=self._key, steady=self._steady, version=self._version
        )
        twin._start, twin._waiting = self._start, list(self._waiting)
        twin._space, twin._state = self._space, self._state
        twin._first = self._first
        twin._history = None if self._history is None else list(self._history)
        if self._inner is None:
            return twin
        if self._history is None:  # a parameter is part of the state: no replay has it
            twin._inner = self._session().fork()
            return twin if twin._inner is not None else None
        with _families:
            twin._parent = self
            self._children.add(twin)
        return twin

    def close(self) -> None:
        """End the session, if there is one."""
        self._leave(lambda session: session.close())

    def abandon(self) -> None:
        """End the session even in the middle of a request."""
        self._leave(lambda session: session.abandon())

    def _go_on(self, reply: Reply | None) -> None:
        """Work on with `reply`: to the next request of the session, or to the end."""
        work = self._work
        assert work is not None
        try:
            if reply is None:
                self._session()  # it may fail: before anything is taken for asked
                request = next(work)
            else:
                request = work.send(reply)
            self._session().submit(request, self._left, later=self._later)
        except StopIteration as end:
            self._work, self._answer = None, end.value
        except Exception as error:
            self._work, self._failure = None, error

    def _leave(self, end: Callable[[Connection], None]) -> None:
        if not self._is_open:
            return
        self._is_open = False
        self._leave_parent()
        self._release()
        if self._inner is not None:
            end(self._inner)

    def _leave_parent(self) -> None:
        """Forget the session that would have been copied."""
        parent = self._parent
        if parent is not None:
            with _families:
                self._parent = None
                parent._children.discard(self)

    def _settle(self) -> None:
        """Apply what waits; a session that fails at it is lost."""
        self._adopt()
        while (request := self._catch_up_request()) is not None:
            reply = self._session().call(request)
            if isinstance(reply, Failed):
                raise error_from_name(reply.kind, reply.message)

    def _release(self) -> None:
        """Let the forks copy the session as it is, before it goes on."""
        with _families:
            for child in list(self._children):
                child._copy_of(self)
            self._children.clear()

    def _adopt(self) -> None:
        """Copy the session of the parent, unless that was done."""
        parent = self._parent
        if parent is not None:
            with _families:
                if self._parent is not None:
                    self._copy_of(parent)
                    parent._children.discard(self)

    def _copy_of(self, parent: "CachingConnection") -> None:
        """Fork the session of `parent`; one that cannot be forked is replayed when needed."""
        self._parent = None
        inner = parent._inner
        if inner is not None and inner.is_open:
            try:
                self._inner = inner.fork()
            except ServiceError:
                self._inner = None
        if self._inner is None and self._history is not None:
            self._start, self._waiting = self._first, list(self._history)

    def _known(self, request: Request) -> Reply | None:
        """Return the reply to `request` if the cache has all of it."""
        if not self._is_open:
            raise ServiceIsClosed("the session is closed: call reset()")
        if isinstance(request, Start):
            return self._known_start(request)
        if isinstance(request, Step) and self._state is not None:
            return self._known_step(request)
        return None

    def _known_start(self, request: Start) -> Started | None:
        """Enter an episode whose first state is known; the session need not hear of it."""
        self._leave_parent()
        self._start, self._waiting = request, []
        self._first, self._history, self._was_forked_here = request, [], False
        self._space, self._state = self._space_of(request), None
        found, state = self._cache.follow(self._space, ["start"])
        seen = self._steady_values(state, request.observations) if found else None
        if seen is None:
            return None
        self._state = state
        return Started(None, seen)

    def _known_step(self, request: Step) -> Stepped | None:
        assert self._state is not None
        actions = list(map(_hashable, request.actions))
        found, state = self._cache.follow(self._state, actions)
        if len(found) < len(actions) and not (found and found[-1].end):
            return None
        seen = self._steady_values(state, request.observations)
        if seen is None:
            return None
        self._cache.count(hits=len(found))
        self._wait_for(request.actions, found)
        self._state = state
        no_effect = all(transition.no_effect for transition in found)
        return Stepped(bool(found and found[-1].end), None, no_effect, seen, len(found))

    def _steady_values(self, state: bytes, names: list[str]) -> list[Any] | None:
        if not self._steady.issuperset(names):
            return None
        return self._cache.observe(state, names)

    def _wait_for(self, actions: list[Any], found: list[Transition]) -> None:
        """Keep the actions that the session has yet to apply; one without effect never has."""
        for action, transition in zip(actions, found, strict=False):
            if not transition.no_effect:
                self._waiting.append(action)
                self._was_forked_here = False
                if self._history is not None:
                    self._history.append(action)

    def _work_on(self, request: Request) -> _Work:
        """Ask the session what nobody knows, and learn from it."""
        if isinstance(request, Start):
            return (yield from self._begin(request))
        while (before := self._catch_up_request()) is not None:
            reply = yield before
            if isinstance(reply, Failed):
                return _unapplied(reply)
        if isinstance(request, Step) and self._state is not None:
            self._cache.count(misses=len(request.actions))
            return (yield from self._step(request))
        if isinstance(request, Parameter):
            self._state = None  # it may change the program in ways that no hash shows
            self._history = None
        elif isinstance(request, Step) and self._history is not None:
            self._history += request.actions
        return (yield request)

    def _begin(self, request: Start) -> _Work:
        """Start an episode and learn its first state."""
        names = self._with_key(request.observations)
        reply = yield self._real_start(names)
        if isinstance(reply, Started) and reply.action_space is None:
            self._state = self._state_of(reply.observations[names.index(self._key)])
            self._cache.learn(self._space, "start", Transition(self._state, False, False))
            self._learn(names, reply.observations)
        return reply

    def _real_start(self, names: list[str]) -> Start:
        """Return the start that waits, observing `names`; it waits no more."""
        start, self._start = self._start, None
        assert start is not None
        return Start(start.benchmark, start.action_space, names, start.limits)

    def _catch_up_request(self) -> Request | None:
        """Return the next request that brings the session to where the episode is, if any."""
        if self._start is not None:
            return self._real_start([])
        waiting, self._waiting = self._waiting, []
        return Step(waiting, []) if waiting else None

    def _step(self, request: Step) -> _Work:
        """Apply the actions one by one, so that each is learned."""
        if not request.actions:
            return (yield from self._one(None, request.observations))
        no_effect, last = True, len(request.actions) - 1
        for number, action in enumerate(request.actions):
            names = request.observations if number == last else []
            reply = yield from self._one(action, names)
            if isinstance(reply, Failed):
                applied = number + reply.applied
                return Failed(reply.kind, reply.message, applied, reply.recoverable)
            assert isinstance(reply, Stepped)
            no_effect = no_effect and reply.no_effect
            if number == last:
                break
            if reply.end or self._state is None:
                return (yield from self._rest(request, number, reply, no_effect))
        return _joined(reply, no_effect, last + 1)  # type: ignore[possibly-unbound]  # one at least

    def _one(self, action: Any, names: list[str]) -> _Work:
        """Apply one action, or none, observe, and learn what there is to learn."""
        before, asked = self._state, self._with_key(names)
        reply = yield Step([] if action is None else [action], asked)
        if not isinstance(reply, Stepped):
            return reply
        if action is not None and not reply.no_effect:
            self._was_forked_here = False
            if self._history is not None:
                self._history.append(action)
        if reply.action_space is not None:
            self._state = None  # what comes next is another set of actions
        elif reply.failure is not None:
            now = yield Step([], [self._key])
            self._state = None
            if isinstance(now, Stepped) and now.failure is None:
                self._state = self._state_of(now.observations[0])
        else:
            self._state = self._state_of(reply.observations[asked.index(self._key)])
            self._learn(asked, reply.observations)
        if action is not None and before is not None and self._state is not None:
            transition = Transition(self._state, reply.no_effect, reply.end)
            self._cache.learn(before, _hashable(action), transition)
        return Stepped(
            reply.end,
            reply.action_space,
            reply.no_effect,
            reply.observations[: len(names)],
            reply.applied,
            reply.failure,
        )

    def _rest(self, request: Step, number: int, reply: Stepped, no_effect: bool) -> _Work:
        """Finish a request after an action that ended it or replaced the actions."""
        left = [] if reply.end else request.actions[number + 1 :]
        if self._history is not None:
            self._history += left
        rest = yield Step(left, request.observations)
        if isinstance(rest, Failed):
            return Failed(rest.kind, rest.message, number + 1 + rest.applied, rest.recoverable)
        assert isinstance(rest, Stepped)
        rest.end = rest.end or reply.end
        rest.action_space = rest.action_space or reply.action_space
        return _joined(rest, no_effect and rest.no_effect, number + 1 + rest.applied)

    def _learn(self, names: list[str], values: list[Any]) -> None:
        assert self._state is not None
        pairs = zip(names, values, strict=True)
        steady = [(name, value) for name, value in pairs if name in self._steady]
        self._cache.learn_observations(self._state, steady)

    def _session(self) -> Connection:
        if self._children:
            self._release()
        if self._inner is None:
            self._inner = self._open()
        if not self._inner.is_open:
            raise ServiceIsClosed("the session is closed: call reset()")
        return self._inner

    def _with_key(self, names: list[str]) -> list[str]:
        return names if self._key in names else [*names, self._key]

    def _state_of(self, key: Any) -> bytes:
        return self._space + _encode(key)

    def _space_of(self, request: Start) -> bytes:
        """Return what sets the states of this episode apart from those of others."""
        program = request.benchmark
        parts = (
            self._version,
            self._key,
            program.uri,  # how to run a program may follow from it, and its text may name it
            _digest(program.contents),
            hashlib.blake2b(program.run, digest_size=16).digest(),
            sorted(program.parameters.items()),
            request.action_space,
            sorted(request.limits.items()),
        )
        return hashlib.blake2b(_encode(parts), digest_size=16).digest()


def _digest(contents: bytes) -> bytes:
    known = _digests.get(id(contents))
    if known is not None and known[0] is contents:
        return known[1]
    digest = hashlib.blake2b(contents, digest_size=16).digest()
    while len(_digests) >= _KEPT_DIGESTS:
        _digests.pop(next(iter(_digests)), None)
    _digests[id(contents)] = (contents, digest)
    return digest


def _hashable(action: Any) -> Any:
    """Return what an action is known by: itself if it is a number."""
    return action if type(action) is int else _encode(action)


def _unapplied(failed: Failed) -> Failed:
    """Return a failure to catch up as one of the request, of which nothing was applied."""
    return Failed(failed.kind, failed.message, 0, False)


def _joined(reply: Stepped, no_effect: bool, applied: int) -> Stepped:
    """Return the last reply as that to all actions together."""
    reply.no_effect, reply.applied = no_effect, applied
    return reply
