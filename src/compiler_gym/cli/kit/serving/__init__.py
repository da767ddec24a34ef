# SPDX-License-Identifier: MIT
"""Protection that every HTTP server of this library shares; it has no routes.

``guard`` rejects requests before an application reads them and maps errors to HTTP statuses, and
``deadlines`` closes connections that send too slowly. ``deadlines`` needs uvicorn and is imported
when it is needed.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.cli.kit.serving.deadlines import server_settings
    from compiler_gym.cli.kit.serving.guard import EVERYWHERE, Gate, Guard, choose_status

__all__ = ["EVERYWHERE", "Gate", "Guard", "choose_status", "server_settings"]

__getattr__ = door(__name__)
