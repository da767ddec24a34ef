# SPDX-License-Identifier: MIT
"""The server, which runs until it is stopped and ends every process it started.

Needs the extra ``web``; it is imported on use.
"""

import socket
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import quote

import uvicorn

from compiler_gym.cli.kit.serving import server_settings
from compiler_gym.errors import ExplorerError
from compiler_gym_explorer.api import Api
from compiler_gym_explorer.app import make_app
from compiler_gym_explorer.settings import Settings

__all__ = ["Server"]

_GRACE_SECONDS = 3
_LOOPBACK = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}
"""The loopback address to open in a browser, by wildcard address."""


class Server:
    """The explorer on a port. Use it in a ``with`` block; `run` returns when stopped."""

    def __init__(self, settings: Settings) -> None:
        self._socket = _listen(settings.host, settings.port)
        port = self._socket.getsockname()[1]
        self.settings = replace(settings, port=port)
        self.api = Api(self.settings)
        config = uvicorn.Config(
            make_app(self.api),
            log_config=None,
            access_log=False,
            lifespan="on",
            timeout_graceful_shutdown=_GRACE_SECONDS,
            server_header=False,
            **server_settings(),
        )
        self._server = _Stopping(config, self.api)

    @property
    def address(self) -> str:
        """The URL for a browser on this machine, with the token."""
        host = _LOOPBACK.get(self.settings.host, self.settings.host)
        return self.address_for(f"[{host}]" if ":" in host else host)

    def address_for(self, name: str) -> str:
        """Return the URL for browsers that reach this machine as `name`."""
        page = "report" if self.settings.report else ""
        return f"http://{name}:{self.settings.port}/{page}?token={quote(self.settings.token)}"

    def run(self, ready: Callable[[], None] = lambda: None) -> None:
        """Serve until SIGINT, SIGTERM or `stop`; call `ready` once requests are accepted."""
        self._server.ready = ready
        self._server.run(sockets=[self._socket])

    def stop(self) -> None:
        """Request the server to stop; thread-safe."""
        self._server.should_exit = True

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.api.close()
        self._socket.close()


class _Stopping(uvicorn.Server):
    """A server that ends its streams before it waits for open connections."""

    def __init__(self, config: uvicorn.Config, api: Api) -> None:
        super().__init__(config)
        self._api = api
        self.ready: Callable[[], None] = lambda: None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start and call `ready`."""
        await super().startup(sockets)
        if not self.should_exit:
            self.ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the streams, then the connections."""
        for session in self._api.registry.all():
            for task in session.tasks.values():
                task.cancel()
                task.log.end()
            session.log.end()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY, which saves 40 ms per response, only with an explicit protocol.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except (OSError, OverflowError, ValueError) as error:
        listener.close()
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ExplorerError(
            f"cannot listen on {host} port {port}: {reason}; choose another --port or --host"
        ) from error
    return listener
