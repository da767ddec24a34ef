# SPDX-License-Identifier: MIT
"""The web explorer: an API over environments as trees of states, and the page that uses it.

``records`` and ``routes`` define requests and responses, and ``schema`` exports them for the front
end. ``tree`` holds the states of one program, ``explored`` a session with a tree, ``registry`` all
sessions, ``tasks`` background work, and ``log`` the events that streams send. ``texts``,
``pictures``, ``describing``, ``shapes``, ``programs`` and ``porting`` create responses; ``api`` has
a method for each route. ``app`` handles HTTP, with the checks of ``cli.kit.serving`` and the errors
of ``problems``, and ``server`` runs it with ``settings``; both need the extra ``web``.

It is independent of the compiler: the environment's `compiler_gym.core.Panes` list the views of a
program.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym_explorer.api import Api, Asked
    from compiler_gym_explorer.records import Source
    from compiler_gym_explorer.schema import SCHEMA_FILE
    from compiler_gym_explorer.server import Server
    from compiler_gym_explorer.settings import Settings

__all__ = ["SCHEMA_FILE", "Api", "Asked", "Server", "Settings", "Source"]

__getattr__ = door(__name__)
