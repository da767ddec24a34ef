# SPDX-License-Identifier: MIT
"""Who may ask: whoever knows the token, from this server's own page, by this server's own name.

A page elsewhere can make a browser send requests here; it cannot read the address that the
token is in, and it says where it comes from. A name that leads here and is not ours is refused
too: it is how such a page would pass for ours. Where other machines were let in, a number is
believed, since no page can make a number lead elsewhere, and so is the name of this machine.
"""

import secrets
import socket
from collections.abc import Iterable, Mapping
from ipaddress import ip_address

from compiler_gym.errors import ExplorerError

__all__ = ["EVERYWHERE", "Guard"]

EVERYWHERE = frozenset({"", "0.0.0.0", "[::]"})
"""What a host is called that stands for every address of a machine."""
_LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]"})


class Guard:
    """Checks the head of each request."""

    def __init__(self, token: str, hosts: Iterable[str]) -> None:
        self._token = token.encode()
        self._hosts = _LOCAL | {_bracketed(host) for host in hosts}
        self._by_address = not self._hosts.isdisjoint(EVERYWHERE)
        if self._hosts != _LOCAL:  # others may ask, by the name of this machine
            name = socket.gethostname().lower().partition(".")[0]
            self._hosts |= {socket.gethostname().lower(), name, f"{name}.local"}

    def check_names(self, headers: Mapping[str, str]) -> None:
        """Raise `ExplorerError` for another host or another origin than ours."""
        host = headers.get("host", "")
        name = _name_of(host)
        if not name or (name not in self._hosts and not (self._by_address and _is_address(name))):
            raise ExplorerError(
                f"host is {host!r:.100}: expected the address that was printed, or with --host the "
                "address or the name of this machine",
                status=403,
            )
        origin = headers.get("origin")
        if origin is not None:
            scheme, _, place = origin.partition("://")
            if scheme not in ("http", "https") or place.lower() != host.lower():
                raise ExplorerError(f"origin is {origin!r:.100}: expected this page", status=403)
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and not (
            headers.get("sec-fetch-mode") == "navigate"
        ):
            raise ExplorerError("another site asks: expected this page", status=403)

    def check_token(self, headers: Mapping[str, str], in_query: str | None) -> None:
        """Raise `ExplorerError` unless the request knows the token."""
        scheme, _, word = headers.get("authorization", "").partition(" ")
        given = word.strip() if scheme.lower() == "bearer" else in_query
        if given is None or not secrets.compare_digest(given.encode(), self._token):
            raise ExplorerError(
                "the token is missing or wrong: expected the one in the address that was printed",
                status=401,
                next="open that address again",
            )


def _name_of(host: str) -> str:
    """Return a host without its port."""
    if host.startswith("["):
        return host.partition("]")[0].lower() + "]"
    return host.partition(":")[0].lower()


def _is_address(name: str) -> bool:
    """Return whether a host is an address: no page can have one that leads elsewhere."""
    try:
        ip_address(name.removeprefix("[").removesuffix("]"))
    except ValueError:
        return False
    return True


def _bracketed(host: str) -> str:
    try:
        return f"[{host}]" if ip_address(host).version == 6 else host
    except ValueError:
        return host.lower()
