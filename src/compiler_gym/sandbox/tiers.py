# SPDX-License-Identifier: MIT
"""How strong a box is: three tiers, by what the machine can do, and who chooses among them.

A tier is chosen by an argument, or else by ``sandboxed`` around the call, or else by the
variable ``COMPILER_GYM_SANDBOX``, or else it is the strongest that works here. Whether one
works is tried once in a process, by running a program in it.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from functools import cache

from compiler_gym.errors import SandboxError, UnknownNameError
from compiler_gym.nearest import unknown_name
from compiler_gym.sandbox.ways import BUBBLEWRAP, OWN, Way

__all__ = [
    "ENVIRONMENT_VARIABLE",
    "Sandbox",
    "asked_for",
    "available",
    "chosen",
    "require",
    "sandboxed",
    "use",
    "way",
    "why_not",
]

ENVIRONMENT_VARIABLE = "COMPILER_GYM_SANDBOX"
"""Names the tier for every run that names none."""


class Sandbox(Enum):
    """What a program is kept from, the strongest first."""

    NAMESPACES = "namespaces"
    """A machine of its own: its processes, files, network and memory end with it."""
    LIMITS = "limits"
    """The user's machine, with what a plain process can be forbidden; see the guide for holes."""
    NONE = "none"
    """Everything the user may do; only time, output and memory are bounded."""

    @classmethod
    def named(cls, name: "str | Sandbox") -> "Sandbox":
        """Return the tier of that name; raise `UnknownNameError` where there is none.

        >>> Sandbox.named("limits")
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
        """How much it keeps: 0 is nothing."""
        return len(Sandbox) - 1 - list(Sandbox).index(self)

    @classmethod
    def of_strength(cls, number: float | None) -> "Sandbox | None":
        """Return the tier of that strength; None of None."""
        return next((tier for tier in cls if tier.strength == number), None)


_around: ContextVar[Sandbox | None] = ContextVar("compiler_gym_sandbox", default=None)


def chosen(sandbox: str | Sandbox | None = None) -> Sandbox:
    """Return the tier to run a program in.

    Raises `UnknownNameError` for a name that no tier has, and `SandboxError` for a tier
    that this machine does not offer.
    """
    return asked_for(sandbox) or available()[0]


def asked_for(sandbox: str | Sandbox | None = None) -> Sandbox | None:
    """Return the tier that somebody named, or None where the strongest is to be taken.

    Raises what `chosen` raises.
    """
    named = sandbox if sandbox is not None else _around.get()
    if named is None:
        named = os.environ.get(ENVIRONMENT_VARIABLE) or None
    if named is None:
        return None
    tier = Sandbox.named(named)
    reason = why_not(tier)
    if reason:
        raise SandboxError(
            f"the sandbox {tier.value!r} does not work on this machine: {reason}: name a weaker "
            f"one ({', '.join(t.value for t in available())}), or none for the strongest"
        )
    return tier


def require(sandbox: str | Sandbox | None = None, *, what: str) -> Sandbox:
    """Return the tier in which `what`, which somebody else wrote, is to be run.

    The weakest counts only where the caller names it: raises `SandboxError` where
    ``COMPILER_GYM_SANDBOX`` or ``sandboxed`` would choose it.
    """
    tier = chosen(sandbox)
    if tier is Sandbox.NONE and sandbox is None:
        raise SandboxError(
            f"{what} is somebody else's and would be run without a sandbox: expected the sandbox "
            f"{' or '.join(t.value for t in available() if t is not Sandbox.NONE)}, found 'none' "
            f"in {ENVIRONMENT_VARIABLE}: name sandbox='none' in the call if you trust it"
        )
    return tier


@contextmanager
def sandboxed(sandbox: str | Sandbox | None) -> Generator[Sandbox]:
    """Run programs in this tier while the context is open, in this thread; None changes nothing.

    Raises what `chosen` raises.
    """
    tier = chosen(sandbox)
    token = _around.set(tier if sandbox is not None else _around.get())
    try:
        yield tier
    finally:
        _around.reset(token)


def use(sandbox: Sandbox | None) -> None:
    """Run programs in this tier from now on, in this context; None is the default again."""
    _around.set(sandbox)


def available() -> list[Sandbox]:
    """Return the tiers that work on this machine, the strongest first."""
    return [tier for tier in Sandbox if not why_not(tier)]


def why_not(tier: Sandbox) -> str:
    """Return why a tier does not work on this machine; empty where it does."""
    if tier is not Sandbox.NAMESPACES:
        return ""
    _, reason = _way()
    return reason


def way() -> Way:
    """Return how namespaces are made here; raise `SandboxError` where they are not."""
    found, reason = _way()
    if found is None:
        raise SandboxError(f"the sandbox 'namespaces' does not work on this machine: {reason}")
    return found


@cache
def _way() -> tuple[Way | None, str]:
    """Return the first way in which a program runs, or why there is none."""
    reasons: list[str] = []
    for one in (OWN, BUBBLEWRAP):
        reason = _tried(one)
        if not reason:
            return one, ""
        reasons.append(f"{one.name}: {reason}")
    return None, "; ".join(reasons)


def _tried(one: Way) -> str:
    """Return why a program does not run in namespaces made this way; empty where it does."""
    from compiler_gym.sandbox.box import try_way

    if not sys.platform.startswith("linux"):
        return f"{sys.platform} has no namespaces"
    return try_way(one)
