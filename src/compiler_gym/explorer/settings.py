# SPDX-License-Identifier: MIT
"""How the explorer is served: a record that the command line fills in."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from compiler_gym.explorer.records import Source

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be chosen."""

    host: str = "127.0.0.1"
    """The address that is listened at; others than this machine's own only if asked for."""
    port: int = 0
    """0: any that is free."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """What every request of the API must know."""
    environment: str | None = None
    """The environment that is chosen first; None: the first that serves commands."""
    program: str | None = None
    source: Source | None = None
    most_sessions: int = 8
    idle_seconds: float = 1800.0
    most_body_bytes: int = 4 << 20
    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """What environments are made with besides: ``limits``."""
