# SPDX-License-Identifier: MIT
"""``compiler-gym web``: the explorer in a browser, served by this machine."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli.kit.options import spread
from compiler_gym.cli.kit.output import errors
from compiler_gym.cli.kit.programs import DEFAULT_ENVIRONMENT, SUFFIXES, EnvName
from compiler_gym.options import Limits

if TYPE_CHECKING:
    from compiler_gym_explorer.records import Source

__all__ = ["web"]

_SESSION_LIMITS = Limits(step_seconds=60.0)
_LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")


@spread
def web(
    program: Annotated[
        str | None,
        typer.Argument(help=f"A URI (cbench-v1/qsort), a path ({SUFFIXES}), a report.html or -."),
    ] = None,
    env: EnvName = DEFAULT_ENVIRONMENT,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on; only the default cannot be reached from other machines."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port; 0 chooses a free one.", min=0, max=65535)] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
    sessions: Annotated[int, typer.Option(help="Maximum number of open sessions.", min=1)] = 8,
    idle_minutes: Annotated[
        float, typer.Option(help="Minutes of inactivity after which a session is closed.", min=0.01)
    ] = 30.0,
    limits: Limits = _SESSION_LIMITS,
) -> None:
    """Open the web explorer, which shows the effects of passes as diffs and graphs.

    Prints an address that includes a token; anyone who has it can use the explorer. Ctrl-C stops
    the server and closes every session. Needs the extra `web`.

    compiler-gym web main.c
    """
    from socket import gethostname

    from compiler_gym_explorer.settings import Settings

    report = _report_named(program)
    program = None if report else program
    settings = Settings(
        report=report,
        host=host,
        port=port,
        environment=env,
        program=None if program is None or program == "-" else _absolute_program(program),
        source=_paste_from_stdin() if program == "-" else None,
        most_sessions=sessions,
        idle_seconds=60 * idle_minutes,
        limits={"limits": limits},
    )
    _require_library()
    if settings.program is not None:
        _require_known_program(env, settings.program)
    from compiler_gym_explorer.server import Server

    with Server(settings) as server:
        if host not in _LOCAL_HOSTS:
            name = server.address_for(gethostname()) if host in ("", "0.0.0.0", "::") else host
            errors().print(f"anyone who can reach {name} and has the token can use the explorer")

        def ready() -> None:
            print(server.address, flush=True)
            errors().print("press Ctrl-C to stop", style="dim")
            if browser:
                _open_browser(server.address)

        server.run(ready)


def _require_library() -> None:
    """Raise `EnvironmentNotSupported` unless the extra is installed."""
    from importlib.util import find_spec

    from compiler_gym.errors import EnvironmentNotSupported
    from compiler_gym.version import install_hint

    missing = [name for name in ("starlette", "uvicorn") if find_spec(name) is None]
    if missing:
        raise EnvironmentNotSupported(f"{' and '.join(missing)} missing: {install_hint('web')}")


def _require_known_program(env: str, program: str) -> None:
    """Raise an error if the program does not exist, before the server starts."""
    from compiler_gym.cli.kit.programs import find_program
    from compiler_gym.registration import make

    with make(env) as environment:
        find_program(environment, program)


def _open_browser(address: str) -> None:
    import threading
    import webbrowser

    # In a thread: opening a browser may block, and the page needs this server.
    threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _report_named(program: str | None) -> Path | None:
    """Return the report that `program` names, or the one in that folder, or None."""
    if program is None or "://" in program:
        return None
    path = Path(program).expanduser()
    path = path / "report.html" if path.is_dir() else path
    return path.absolute() if path.suffix == ".html" and path.is_file() else None


def _absolute_program(program: str) -> str:
    """Return the absolute path of a file; return a URI unchanged."""
    from compiler_gym.datasets import path_and_query

    path, query = path_and_query(program)
    if "://" not in program and Path(path).expanduser().exists():
        return os.path.abspath(Path(path).expanduser()) + query
    return program


def _paste_from_stdin() -> "Source":
    from compiler_gym.errors import BenchmarkInitError
    from compiler_gym_explorer.records import Source

    text = sys.stdin.read()
    if not text.strip():
        raise BenchmarkInitError("standard input is empty; pipe in the text of a program")
    return Source(text=text, name="stdin")
