# SPDX-License-Identifier: MIT
"""A connection that asks its session only for results that are not in the cache.

While every answer is known, the session does nothing, and an action without effect is never
applied. Requests without exact answers are passed on: parameters, observations that vary, and
episodes whose action space changes.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from compiler_gym.errors import ServiceIsClosed
from compiler_gym.service import Channel, Connection
from compiler_gym.service.caching.cache import TranspositionCache
from compiler_gym.service.caching.lazy_session import LazySession, Work
from compiler_gym.service.caching.states import Transition
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

_encode = msgspec.msgpack.Encoder(order="deterministic").encode
_KEPT_DIGESTS = 64
_digests: dict[int, tuple[bytes, bytes]] = {}
"""Digests of recent programs by `id`; holding on to the program keeps its id valid."""


class CachingConnection:
    """A `Connection` that calls `open` for a session only when it needs one.

    `key` is the observation that identifies a state, and `steady` are the observations that never
    vary within a state. `varying` lists, for each action space (the default one first), the
    actions whose results differ between runs; the session always applies those.
    """

    apply = None
    """None: every action is a request, which the cache may answer."""

    def __init__(
        self,
        open: Callable[[], Connection],
        cache: TranspositionCache,
        *,
        key: str,
        steady: Iterable[str],
        varying: Mapping[str, frozenset[int]] | None = None,
        version: str,
    ) -> None:
        self._cache = cache
        self._varying_of = varying or {}
        self._varying: frozenset[int] = frozenset()
        self._key = key
        self._steady = frozenset(steady)
        self._version = version
        self.lazy = LazySession(open)
        """The session, which is used only for results that are unknown."""
        self._space = b""
        self._state: bytes | None = None
        self._answer: Reply | None = None

    @property
    def is_open(self) -> bool:
        """True if a request can be made."""
        return self.lazy.is_open

    @property
    def session(self) -> Connection | None:
        """The session; None until something needs it."""
        return self.lazy.connection

    def call(self, request: Request, timeout: float | None = None) -> Reply:
        """Return the reply to `request`, from the cache if possible."""
        self.submit(request, timeout)
        return self.gather(timeout)

    def submit(
        self, request: Request, timeout: float | None = None, *, later: bool = False
    ) -> None:
        """Begin a request: send the first message that it needs to the session."""
        self.lazy.refuse_if_interrupted()
        self._answer = self._answer_known(request)
        if self._answer is None:
            self.lazy.begin(self._work_on(request), timeout, later=later)

    def gather(self, timeout: float | None = None) -> Reply:
        """Return the reply to the request submitted."""
        answer, self._answer = self._answer, None
        if answer is None:
            answer = self.lazy.end(timeout)
        if answer is None:
            raise ServiceIsClosed("no request was submitted")
        return answer

    @property
    def channel(self) -> Channel | None:
        """The channel with the session's next request, if that was held back."""
        return self.lazy.channel

    def fileno(self) -> int | None:
        """Return the descriptor that becomes readable when `advance` will not block, if any."""
        return self.lazy.fileno()

    def advance(self) -> bool:
        """Read one reply from the session and send the next request, if there is one.

        Errors are raised by `gather`.
        """
        return self.lazy.advance()

    def fork(self) -> "CachingConnection | None":
        """Return a connection in the same state; None if the session must be replayed."""
        lazy = self.lazy.fork()
        if lazy is None:
            return None
        twin = object.__new__(CachingConnection)
        twin._cache, twin._key, twin._steady = self._cache, self._key, self._steady
        twin._varying_of, twin._varying = self._varying_of, self._varying
        twin._version, twin._space, twin._state = self._version, self._space, self._state
        twin.lazy, twin._answer = lazy, None
        return twin

    def close(self) -> None:
        """End the session, if there is one."""
        self.lazy.close()

    def abandon(self) -> None:
        """End the session even in the middle of a request."""
        self.lazy.abandon()

    def _answer_known(self, request: Request) -> Reply | None:
        """Return the reply to `request` if the cache can answer all of it."""
        self.lazy.require_open()
        if isinstance(request, Start):
            return self._answer_known_start(request)
        if isinstance(request, Step) and self._state is not None:
            return self._answer_known_step(request)
        return None

    def _answer_known_start(self, request: Start) -> Started | None:
        """Enter an episode whose first state is known, without starting it in the session."""
        self.lazy.enter(request)
        self._space, self._state = self._make_space_key(request), None
        usual = next(iter(self._varying_of), "")
        self._varying = self._varying_of.get(request.action_space or usual, frozenset())
        transitions, state = self._cache.follow(self._space, ["start"])
        observations = self._steady_values(state, request.observations) if transitions else None
        if observations is None:
            return None
        self._state = state
        return Started(None, observations)

    def _answer_known_step(self, request: Step) -> Stepped | None:
        assert self._state is not None
        actions = list(map(_hashable, request.actions))
        if not self._varying.isdisjoint(actions):
            return None  # a result in an older file is only one of several
        transitions, state = self._cache.follow(self._state, actions)
        if len(transitions) < len(actions) and not (transitions and transitions[-1].end):
            return None
        values = self._steady_values(state, request.observations)
        if values is None:
            return None
        self._cache.count(hits=len(transitions))
        for action, transition in zip(request.actions, transitions, strict=False):
            if not transition.no_effect:  # actions without effect need never be applied
                self.lazy.spare(action)
        self._state = state
        no_effect = all(transition.no_effect for transition in transitions)
        ended = bool(transitions and transitions[-1].end)
        return Stepped(ended, None, no_effect, values, len(transitions))

    def _steady_values(self, state: bytes, names: list[str]) -> list[Any] | None:
        if not self._steady.issuperset(names):
            return None
        return self._cache.observe(state, names)

    def _work_on(self, request: Request) -> Work:
        """Request unknown results from the session and learn them."""
        if isinstance(request, Start):
            return (yield from self._begin(request))
        while (before := self.lazy.catch_up()) is not None:
            reply = yield before
            if isinstance(reply, Failed):
                return _unapply(reply)
        if isinstance(request, Step) and self._state is not None:
            self._cache.count(misses=len(request.actions))
            return (yield from self._step(request))
        if isinstance(request, Parameter):
            self._state = None  # it may change the program in ways that the hash does not show
            self.lazy.forget_history()
        elif isinstance(request, Step) and request.actions:
            self._note(request.actions)
        return (yield request)

    def _begin(self, request: Start) -> Work:
        """Start an episode and learn its first state."""
        names = self._with_key(request.observations)
        reply = yield self.lazy.starting(names)
        if isinstance(reply, Started) and reply.action_space is None:
            self._state = self._make_state(reply.observations[names.index(self._key)])
            self._cache.learn(self._space, "start", Transition(self._state, False, False))
            self._learn(names, reply.observations)
        return reply

    def _step(self, request: Step) -> Work:
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
        return _join_reply(reply, no_effect, last + 1)  # type: ignore[possibly-unbound]  # one at least

    def _one(self, action: Any, names: list[str]) -> Work:
        """Apply one action, or none; observe the state and learn the results."""
        before, observed = self._state, self._with_key(names)
        reply = yield Step([] if action is None else [action], observed)
        if not isinstance(reply, Stepped):
            return reply
        varies = _hashable(action) in self._varying
        if action is not None and not reply.no_effect:
            self._note([action])
        if reply.action_space is not None:
            self._state = None  # the next state has other actions
        elif reply.failure is not None:
            now = yield Step([], [self._key])
            self._state = None
            if isinstance(now, Stepped) and now.failure is None:
                self._state = self._make_state(now.observations[0])
        else:
            self._state = self._make_state(reply.observations[observed.index(self._key)])
            self._learn(observed, reply.observations)
        if action is not None and not varies and before is not None and self._state is not None:
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

    def _rest(self, request: Step, number: int, reply: Stepped, no_effect: bool) -> Work:
        """Finish a request after an action that ended the episode or replaced its actions."""
        remaining = [] if reply.end else request.actions[number + 1 :]
        self._note(remaining)
        last = yield Step(remaining, request.observations)
        if isinstance(last, Failed):
            return Failed(last.kind, last.message, number + 1 + last.applied, last.recoverable)
        assert isinstance(last, Stepped)
        last.end = last.end or reply.end
        last.action_space = last.action_space or reply.action_space
        return _join_reply(last, no_effect and last.no_effect, number + 1 + last.applied)

    def _note(self, actions: list[Any]) -> None:
        """Record actions that change the program."""
        if not self._varying.isdisjoint(map(_hashable, actions)):
            self.lazy.forget_history()  # a replay may differ: from now on, copies are forks
        self.lazy.note(actions)

    def _learn(self, names: list[str], values: list[Any]) -> None:
        assert self._state is not None
        pairs = zip(names, values, strict=True)
        steady = [(name, value) for name, value in pairs if name in self._steady]
        self._cache.learn_observations(self._state, steady)

    def _with_key(self, names: list[str]) -> list[str]:
        return names if self._key in names else [*names, self._key]

    def _make_state(self, key: Any) -> bytes:
        return self._space + _encode(key)

    def _make_space_key(self, request: Start) -> bytes:
        """Return a digest that sets the states of this episode apart from those of others."""
        program = request.benchmark
        parts = (
            self._version,
            self._key,
            program.uri,  # how to run a program may follow from it, and its text may name it
            _contents_digest(program.contents),
            hashlib.blake2b(program.run, digest_size=16).digest(),
            sorted(program.parameters.items()),
            request.action_space,
            sorted(request.limits.items()),
        )
        return hashlib.blake2b(_encode(parts), digest_size=16).digest()


def _contents_digest(contents: bytes) -> bytes:
    entry = _digests.get(id(contents))
    if entry is not None and entry[0] is contents:
        return entry[1]
    digest = hashlib.blake2b(contents, digest_size=16).digest()
    while len(_digests) >= _KEPT_DIGESTS:
        _digests.pop(next(iter(_digests)), None)
    _digests[id(contents)] = (contents, digest)
    return digest


def _hashable(action: Any) -> Any:
    """Return the key of an action: itself if it is a number."""
    return action if type(action) is int else _encode(action)


def _unapply(failed: Failed) -> Failed:
    """Return a failure to catch up as a failure of the request, with no action applied."""
    return Failed(failed.kind, failed.message, 0, False)


def _join_reply(reply: Stepped, no_effect: bool, applied: int) -> Stepped:
    """Return the last reply as the reply to all actions together."""
    reply.no_effect, reply.applied = no_effect, applied
    return reply
