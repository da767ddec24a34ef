# SPDX-License-Identifier: MIT
"""The settings of the server, set from the command line."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from compiler_gym_explorer.records import Source

__all__ = ["Settings"]


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of the server."""

    host: str = "127.0.0.1"
    """The address to listen on; the default is reachable from this machine only."""
    port: int = 0
    """The port; 0 chooses a free one."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """The token that every request to the API needs."""
    environment: str | None = None
    """The initially selected environment; None for the commands' default."""
    program: str | None = None
    source: Source | None = None
    report: Path | None = None
    """An HTML report that is served at ``/report`` and opened first."""
    most_sessions: int = 8
    idle_seconds: float = 1800.0
    most_body_bytes: int = 4 << 20
    limits: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Additional arguments for environments: ``limits``."""
