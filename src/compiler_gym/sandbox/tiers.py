# SPDX-License-Identifier: MIT
"""The three strengths of a sandbox, and how one of them is chosen.

A tier is chosen by, in this order: an argument, ``sandboxed`` around the call, the environment
variable ``COMPILER_GYM_SANDBOX``, or the strongest tier that works on this machine. Each process
finds out once whether a tier works, by running a program in it.
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

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "Sandbox",
    "available",
    "choose_tier",
    "find_requested",
    "require",
    "use",
    "use_sandbox",
    "way",
    "why_not",
]

ENVIRONMENT_VARIABLE = "COMPILER_GYM_SANDBOX"
"""The environment variable that names the default tier."""


class Sandbox(Enum):
    """A tier of isolation, the strongest first."""

    NAMESPACES = "namespaces"
    """Own namespaces: separate processes, files, network and memory, gone when it ends."""
    LIMITS = "limits"
    """The user's machine, with every restriction a plain process can have; the guide lists gaps."""
    NONE = "none"
    """No restriction but bounds of time, output and memory."""

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
        """How much it restricts: 0 is nothing."""
        return len(Sandbox) - 1 - list(Sandbox).index(self)

    @classmethod
    def of_strength(cls, number: float | None) -> "Sandbox | None":
        """Return the tier of that strength, or None for None."""
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
    """Return the tier that was named, or None for the strongest; raise as `chosen` does."""
    named = sandbox if sandbox is not None else _around.get()
    if named is None:
        named = os.environ.get(ENVIRONMENT_VARIABLE) or None
    if named is None:
        return None
    tier = Sandbox.find(named)
    reason = why_not(tier)
    if reason:
        raise SandboxError(
            f"the sandbox {tier.value!r} does not work on this machine: {reason}: name a weaker "
            f"one ({', '.join(t.value for t in available())}), or none for the strongest"
        )
    return tier


def require(sandbox: str | Sandbox | None = None, *, what: str) -> Sandbox:
    """Return the tier in which to run the untrusted `what`.

    Only an argument may choose to run it without a sandbox. Raises `SandboxError` if
    ``COMPILER_GYM_SANDBOX`` or ``sandboxed`` chooses that.
    """
    tier = choose_tier(sandbox)
    if tier is Sandbox.NONE and sandbox is None:
        raise SandboxError(
            f"{what} is untrusted and would be run without a sandbox: expected the sandbox "
            f"{' or '.join(t.value for t in available() if t is not Sandbox.NONE)}, found 'none' "
            f"in {ENVIRONMENT_VARIABLE}: name sandbox='none' in the call if you trust it"
        )
    return tier


@contextmanager
def use_sandbox(sandbox: str | Sandbox | None) -> Generator[Sandbox]:
    """Run programs in this tier within the context, in this thread; None changes nothing.

    Raises as `chosen` does.
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
    """Return why a tier does not work on this machine; empty if it does."""
    if tier is not Sandbox.NAMESPACES:
        return ""
    _, reason = _way()
    return reason


def way() -> Way:
    """Return how namespaces are made here; raise `SandboxError` if they cannot be."""
    found, reason = _way()
    if found is None:
        raise SandboxError(f"the sandbox 'namespaces' does not work on this machine: {reason}")
    return found


@cache
def _way() -> tuple[Way | None, str]:
    """Return the first way of making namespaces that works, or why none does."""
    reasons: list[str] = []
    for one in (OWN, BUBBLEWRAP):
        reason = _try_way(one)
        if not reason:
            return one, ""
        reasons.append(f"{one.name}: {reason}")
    return None, "; ".join(reasons)


def _try_way(one: Way) -> str:
    """Return why a program does not run in namespaces made this way; empty if it does."""
    from compiler_gym.sandbox.box import try_way

    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has no namespaces"
    return try_way(one)
