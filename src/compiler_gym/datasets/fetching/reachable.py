# SPDX-License-Identifier: MIT
"""Check that a host is reachable before a download, which would retry for a long time.

Name lookups and connections run in separate threads, because a lookup without a network can block
for minutes and cannot be cancelled.
"""

import socket
import threading
import time
from collections.abc import Sequence
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

_SECONDS = 2.0
_PORTS = {"http": 80, "https": 443}


def unreachable(urls: Sequence[str], seconds: float = _SECONDS) -> list[str]:
    """Return a line for each of `urls` that is unreachable, with the reason.

    Takes no longer than `seconds`. Hosts behind a proxy are checked through the proxy. Returns an
    empty list as soon as one host is reached, since the others may be reachable as well.
    """
    errors: dict[str, str] = {}
    reached, changed = threading.Event(), threading.Condition()

    def connect(host: tuple[str, int], url: str) -> None:
        error = _connection_error(host, seconds)
        with changed:
            errors[url] = error
            if not error:
                reached.set()
            changed.notify()

    hosts = {url: _find_host(url) for url in urls}
    if None in hosts.values():
        return []  # The transfer reports what is wrong with the address.
    for url, host in hosts.items():
        assert host is not None
        threading.Thread(target=connect, args=(host, url), daemon=True).start()
    end = time.monotonic() + seconds
    with changed:
        while not reached.is_set() and len(errors) < len(hosts):
            if not changed.wait(max(end - time.monotonic(), 0.0)):
                break
        timeout = f"no answer within {seconds:g} s"
        reasons = {url: errors.get(url, timeout) for url in urls}
        if reached.is_set():
            return []
    return [f"{url}: {reason}: is this machine offline?" for url, reason in reasons.items()]


def _find_host(url: str) -> tuple[str, int] | None:
    """Return the host and port to connect to for `url`, or None if it has no host."""
    try:
        parts = urlsplit(url)
        host, proxy = parts.hostname, getproxies().get(parts.scheme) or getproxies().get("all")
        if proxy and host and not proxy_bypass(host):
            parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname and port else None


def _connection_error(host: tuple[str, int], seconds: float) -> str:
    try:
        socket.create_connection(host, timeout=seconds).close()
    except OSError as error:
        return f"cannot connect to {host[0]}: {error.strerror or error}"
    return ""
