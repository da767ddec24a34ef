# SPDX-License-Identifier: MIT
"""The three strengths of a sandbox, and the choice between them.

The tier comes from, in this order: an argument, `use_sandbox` around the call, the environment
variable ``COMPILER_GYM_SANDBOX``, or the strongest tier that works on this machine. Each process
tests once whether a tier works, by running a program in it.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from functools import cache

from compiler_gym.errors import SandboxError, UnknownNameError
from compiler_gym.errors.nearest import unknown_name
from compiler_gym.sandbox.ways import BUBBLEWRAP, OWN, Way

_USER_URIS = ("benchmark://user-v0/", "file:")


def is_own(uri: str) -> bool:
    """Return whether the program at `uri` was passed to this process as a path, bytes or source.

    Programs of datasets and of submissions are untrusted.

    >>> is_own("benchmark://user-v0/ab12"), is_own("benchmark://anghabench-v1/x")
    (True, False)
    """
    return uri.startswith(_USER_URIS)


ENVIRONMENT_VARIABLE = "COMPILER_GYM_SANDBOX"
"""The environment variable that names the default tier."""


class Sandbox(Enum):
    """A tier of isolation, the strongest first."""

    NAMESPACES = "namespaces"
    """Own namespaces: separate processes, files, network and memory, gone when it ends."""
    LIMITS = "limits"
    """The user's machine, with every restriction a plain process can have; the guide lists gaps."""
    NONE = "none"
    """No restrictions except limits of time, output and memory."""

    @classmethod
    def find(cls, name: "str | Sandbox") -> "Sandbox":
        """Return the tier of that name; raise `UnknownNameError` if there is none.

        >>> Sandbox.find("limits")
        <Sandbox.LIMITS: 'limits'>
        """
        if isinstance(name, Sandbox):
            return name
        for tier in cls:
            if tier.value == name:
                return tier
        raise UnknownNameError(unknown_name("sandbox", name, [tier.value for tier in cls]))

    @property
    def strength(self) -> int:
        """The number of the tier; 0 restricts nothing."""
        return len(Sandbox) - 1 - list(Sandbox).index(self)

    @classmethod
    def of_strength(cls, number: float | None) -> "Sandbox | None":
        """Return the tier of that strength, or None for None."""
        if number is None:
            return None
        return next((tier for tier in cls if tier.strength == number), None)


_around: ContextVar[Sandbox | None] = ContextVar("compiler_gym_sandbox", default=None)


def choose_tier(sandbox: str | Sandbox | None = None) -> Sandbox:
    """Return the tier to run a program in.

    Raises:
        UnknownNameError: No tier has that name.
        SandboxError: The tier does not work on this machine.
    """
    return find_requested(sandbox) or available()[0]


def find_requested(sandbox: str | Sandbox | None = None) -> Sandbox | None:
    """Return the requested tier, or None for the strongest; raise like `choose_tier`."""
    name = sandbox if sandbox is not None else _around.get()
    if name is None:
        name = os.environ.get(ENVIRONMENT_VARIABLE) or None
    if name is None:
        return None
    tier = Sandbox.find(name)
    reason = why_not(tier)
    if reason:
        raise SandboxError(
            f"the sandbox {tier.value!r} does not work on this machine: {reason}: use a weaker "
            f"one ({', '.join(t.value for t in available())}), or none to get the strongest"
        )
    return tier


def require(sandbox: str | Sandbox | None = None, *, what: str) -> Sandbox:
    """Return the tier for running the untrusted `what`.

    Only an argument may select no sandbox. Raises `SandboxError` if ``COMPILER_GYM_SANDBOX`` or
    `use_sandbox` does.
    """
    tier = choose_tier(sandbox)
    if tier is Sandbox.NONE and sandbox is None:
        raise SandboxError(
            f"{what} is untrusted, but {ENVIRONMENT_VARIABLE} is 'none', so it would be run "
            "without a sandbox: set it to "
            f"{' or '.join(t.value for t in available() if t is not Sandbox.NONE)}, "
            "or pass sandbox='none' in the call if you trust it"
        )
    return tier


@contextmanager
def use_sandbox(sandbox: str | Sandbox | None) -> Generator[Sandbox]:
    """Run programs in this tier within the context, in this thread; None changes nothing.

    Raises like `choose_tier`.
    """
    tier = choose_tier(sandbox)
    token = _around.set(tier if sandbox is not None else _around.get())
    try:
        yield tier
    finally:
        _around.reset(token)


def use(sandbox: Sandbox | None) -> None:
    """Run programs in this tier from now on, in this context; None restores the default."""
    _around.set(sandbox)


def available() -> list[Sandbox]:
    """Return the tiers that work on this machine, the strongest first."""
    return [tier for tier in Sandbox if not why_not(tier)]


def why_not(tier: Sandbox) -> str:
    """Return why a tier does not work on this machine; an empty text if it does."""
    if tier is not Sandbox.NAMESPACES:
        return ""
    _, reason = _way()
    return reason


def way() -> Way:
    """Return the way to make namespaces here; raise `SandboxError` if they cannot be made."""
    working_way, reason = _way()
    if working_way is None:
        raise SandboxError(f"the sandbox 'namespaces' does not work on this machine: {reason}")
    return working_way


@cache
def _way() -> tuple[Way | None, str]:
    """Return the first way of making namespaces that works, or why none does."""
    reasons: list[str] = []
    for candidate in (OWN, BUBBLEWRAP):
        reason = _try_way(candidate)
        if not reason:
            return candidate, ""
        reasons.append(f"{candidate.name}: {reason}")
    return None, "; ".join(reasons)


def _try_way(candidate: Way) -> str:
    """Return why a program does not run in namespaces made this way; an empty text if it does."""
    from compiler_gym.sandbox.box import try_way

    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has no namespaces"
    return try_way(candidate)
