# SPDX-License-Identifier: MIT
"""The web explorer: an API over environments as trees of states, and the page that shows it.

``records`` and ``routes`` say what is asked and answered, ``schema`` writes that down for the
front end. ``tree`` is the states of one program, ``explored`` a session with one, ``registry`` all
sessions, ``tasks`` what goes on by itself and ``log`` what streams tell of it. ``texts``,
``pictures``, ``describing``, ``shapes``, ``programs`` and ``porting`` make answers; ``api`` has a
method for each route. ``app`` speaks HTTP, behind the checks of ``guard`` and with the errors of
``problems``, and ``server`` listens as ``settings`` say; both need the extra ``web``.

It names no compiler: what can be looked at of a program is told by the environment's
`compiler_gym.core.Panes`.
"""

from typing import TYPE_CHECKING

from compiler_gym.lazy import door

if TYPE_CHECKING:
    from compiler_gym.explorer.api import Api, Asked
    from compiler_gym.explorer.records import Source
    from compiler_gym.explorer.schema import SCHEMA_FILE
    from compiler_gym.explorer.server import Server
    from compiler_gym.explorer.settings import Settings

__all__ = ["SCHEMA_FILE", "Api", "Asked", "Server", "Settings", "Source"]

_WHERE = {
    "SCHEMA_FILE": "schema",
    "Api": "api",
    "Asked": "api",
    "Server": "server",
    "Settings": "settings",
    "Source": "records",
}
__getattr__ = door(__name__, {name: f"{__name__}.{where}" for name, where in _WHERE.items()})
