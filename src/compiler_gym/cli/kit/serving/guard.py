# SPDX-License-Identifier: MIT
"""Checks who may send requests: the token, the origin and the host name of each request.

A foreign web page can make a browser send requests here, but it cannot read the token, and the
browser reports its origin. Requests with a foreign host name are rejected too, against DNS
rebinding. If the server is open to other machines, it accepts numeric addresses, because no page
can redirect these, and the name of this machine.
"""

import secrets
import socket
from collections.abc import Iterable, Mapping
from ipaddress import ip_address

from compiler_gym.errors import ExplorerError

__all__ = ["EVERYWHERE", "Guard"]

EVERYWHERE = frozenset({"", "0.0.0.0", "[::]"})
"""Host values that mean every address of a machine."""
_LOOPBACK_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Guard:
    """Checks the head of each request."""

    def __init__(self, token: str, hosts: Iterable[str]) -> None:
        self._token = token.encode()
        self._hosts = _LOOPBACK_HOSTS | {_bracket(host) for host in hosts}
        self._by_address = not self._hosts.isdisjoint(EVERYWHERE)
        if self._hosts != _LOOPBACK_HOSTS:  # open to other machines, by the name of this one
            name = socket.gethostname().lower().partition(".")[0]
            self._hosts |= {socket.gethostname().lower(), name, f"{name}.local"}

    def check_names(self, headers: Mapping[str, str]) -> None:
        """Raise `ExplorerError` unless host and origin are this server's."""
        host = headers.get("host", "")
        name = _host_name(host)
        if not name or (name not in self._hosts and not (self._by_address and _is_address(name))):
            raise ExplorerError(
                f"host {host!r:.100} is not allowed: use the address that was printed, or with "
                "--host the address or the name of this machine",
                status=403,
            )
        origin = headers.get("origin")
        if origin is not None:
            scheme, _, address = origin.partition("://")
            if scheme not in ("http", "https") or address.lower() != host.lower():
                raise ExplorerError(f"origin {origin!r:.100} is not allowed", status=403)
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not (
            headers.get("sec-fetch-mode") == "navigate"
        ):
            raise ExplorerError(
                "requests from another site are not allowed: use this page", status=403
            )

    def check_token(self, headers: Mapping[str, str], in_query: str | None) -> None:
        """Raise `ExplorerError` unless the request has the token."""
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        token = credentials.strip() if scheme.lower() == "bearer" else in_query
        if token is None or not secrets.compare_digest(token.encode(), self._token):
            raise ExplorerError(
                "the token is missing or wrong: use the one in the address that was printed",
                status=401,
                next="open that address again",
            )


def _host_name(host: str) -> str:
    """Return a host without its port."""
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    """Return whether a host is a numeric address, which DNS cannot redirect."""
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _bracket(host: str) -> str:
    try:
        return f"[{host}]" if ip_address(host).version == 6 else host
    except ValueError:
        return host.lower()
