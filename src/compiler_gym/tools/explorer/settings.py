# SPDX-License-Identifier: MIT
"""The settings of the server, which the command line fills in."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compiler_gym.tools.explorer.records import Source

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the server."""

    host: str = "127.0.0.1"
    """The address to listen on; by default only this machine can reach it."""
    port: int = 0
    """The port; 0 chooses a free one."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """The token that every request to the API must carry."""
    environment: str | None = None
    """The environment selected at the start; None for the default of commands."""
    program: str | None = None
    source: Source | None = None
    report: Path | None = None
    """A page of its own that is served at ``/report`` and opened first."""
    most_sessions: int = 8
    idle_seconds: float = 1800.0
    most_body_bytes: int = 4 << 20
    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further arguments of environments: ``limits``."""
