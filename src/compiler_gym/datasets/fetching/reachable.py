# SPDX-License-Identifier: MIT
"""Checks whether a host can be reached before a download, which retries for long.

Names are looked up and connections opened in threads of their own, because a lookup
without a network may wait for minutes and cannot be told to stop.
"""

import socket
import threading
import time
from collections.abc import Sequence
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

__all__ = ["unreachable"]

_SECONDS = 2.0
_PORTS = {"http": 80, "https": 443}


def unreachable(urls: Sequence[str], seconds: float = _SECONDS) -> list[str]:
    """Return for each of `urls` that cannot be connected to a line that says why.

    It takes no longer than `seconds`; a proxy is asked in the place of a host behind it.
    Returns as soon as one is reached: then the others may be as well.
    """
    found: dict[str, str] = {}
    reached, news = threading.Event(), threading.Condition()

    def ask(place: tuple[str, int], url: str) -> None:
        said = _connection_error(place, seconds)
        with news:
            found[url] = said
            if not said:
                reached.set()
            news.notify()

    places = {url: _find_host(url) for url in urls}
    if None in places.values():
        return []  # the transfer says what is wrong with such an address
    for url, place in places.items():
        assert place is not None
        threading.Thread(target=ask, args=(place, url), daemon=True).start()
    end = time.monotonic() + seconds
    with news:
        while not reached.is_set() and len(found) < len(places):
            if not news.wait(max(end - time.monotonic(), 0.0)):
                break
        silent = f"no answer within {seconds:g} s"
        lines = {url: found.get(url, silent) for url in urls}
        if reached.is_set():
            return []
    return [f"{url}: {said}: is this machine offline?" for url, said in lines.items()]


def _find_host(url: str) -> tuple[str, int] | None:
    """Return the host and port to connect to for `url`, or None if it names none."""
    try:
        parts = urlsplit(url)
        host, proxy = parts.hostname, getproxies().get(parts.scheme) or getproxies().get("all")
        if proxy and host and not proxy_bypass(host):
            parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return None
    return (parts.hostname, port) if parts.hostname and port else None


def _connection_error(place: tuple[str, int], seconds: float) -> str:
    try:
        socket.create_connection(place, timeout=seconds).close()
    except OSError as error:
        return f"cannot connect to {place[0]}: {error.strerror or error}"
    return ""
