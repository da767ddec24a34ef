# SPDX-License-Identifier: MIT
"""The web explorer: an API over environments as trees of states, and the page that shows it.

``records`` and ``routes`` define requests and answers, and ``schema`` exports them for the front
end. ``tree`` holds the states of one program, ``explored`` a session with a tree, ``registry`` all
sessions, ``tasks`` the background work and ``log`` the events that streams send. ``texts``,
``pictures``, ``describing``, ``shapes``, ``programs`` and ``porting`` make answers; ``api`` has a
method for each route. ``app`` speaks HTTP, with the checks of ``cli.kit.serving`` and the
errors of ``problems``, and ``server`` listens as ``settings`` say; both need the extra ``web``.

It names no compiler: the environment's `compiler_gym.core.Panes` list the views of a program.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.tools.explorer.api import Api, Asked
    from compiler_gym.tools.explorer.records import Source
    from compiler_gym.tools.explorer.schema import SCHEMA_FILE
    from compiler_gym.tools.explorer.server import Server
    from compiler_gym.tools.explorer.settings import Settings

__all__ = ["SCHEMA_FILE", "Api", "Asked", "Server", "Settings", "Source"]

__getattr__ = door(__name__)
