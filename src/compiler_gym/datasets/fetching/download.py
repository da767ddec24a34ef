# SPDX-License-Identifier: MIT
"""Download a file from the first address that serves it completely.

Addresses are tried in order. A broken transfer is resumed after a pause, and a file is accepted
only if it has the expected sha256. Nothing is unpacked here. Hosts are checked first, because a
download retries for a long time.
"""

import errno
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn
from urllib.parse import urlsplit

from compiler_gym.errors import DatasetInitError, DownloadFailed, TooManyRequests
from compiler_gym.files import hash_file, lock_path, make_folder, scratch_directory

if TYPE_CHECKING:
    import httpx


@contextmanager
def hold(path: Path) -> Generator[None]:
    """Lock `path` against other processes and threads; create its folder if necessary."""
    with ExitStack() as stack:
        with as_dataset_errors(f"cannot write to {path.parent}"):
            stack.enter_context(make_folder(path.parent))
            stack.enter_context(lock_path(path))
        yield


@contextmanager
def as_dataset_errors(what: str) -> Generator[None]:
    """Convert operating system errors to `DatasetInitError`, with advice."""
    try:
        yield
    except DatasetInitError:
        raise
    except OSError as error:
        if type(error).__module__.startswith("compiler_gym"):
            raise
        advice = _ADVICE.get(error.errno or 0, "")
        raise DatasetInitError(f"{what}: {error.strerror or error}{advice}") from error


_ELSEWHERE = "; set COMPILER_GYM_SITE_DATA to a writable directory"
_ADVICE = {
    errno.EACCES: _ELSEWHERE,
    errno.EPERM: _ELSEWHERE,
    errno.EROFS: _ELSEWHERE,
    errno.ENOSPC: f"; free some space, or{_ELSEWHERE[1:]}",
    errno.EDQUOT: f"; free some space, or{_ELSEWHERE[1:]}",
}


Report = Callable[[int, int | None], None]
"""A function called with the bytes done so far and the total, or None if unknown."""


@contextmanager
def transfer_bar(description: str) -> Generator[Report]:
    """Yield a function that updates a progress bar; it does nothing without a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.DownloadColumn(),
        progress.TransferSpeedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


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
    from urllib.request import getproxies, proxy_bypass

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


_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_ATTEMPTS_PER_RETRY = 20


@dataclass(frozen=True, slots=True)
class DownloadOptions:
    """Retries, timeouts and limits of a download."""

    max_retries: int = 5
    """The number of retries for one address after temporary failures."""
    stall_timeout: float = 30.0
    """Seconds without a byte after which a transfer counts as broken."""
    backoff: float = 0.5
    """Seconds before the first retry; doubled for each further retry."""
    max_backoff: float = 60.0
    """The longest wait in seconds, even if a server requests a longer one."""
    max_bytes: int = 1 << 38
    """The largest accepted size of a file."""
    sleep: Callable[[float], None] = time.sleep
    """The function used to wait."""


def download(urls: str | Iterable[str], sha256: str | None = None, max_retries: int = 5) -> bytes:
    """Return the contents of the first of `urls` that can be downloaded.

    Raises `DownloadFailed`, or `TooManyRequests` if a server limits the rate of requests.
    """
    options = DownloadOptions(max_retries=max_retries)
    with scratch_directory("download") as directory:
        path = Path(directory) / "file"
        return download_file(urls, path, sha256=sha256, options=options).read_bytes()


def download_file(
    urls: str | Iterable[str],
    path: Path,
    *,
    sha256: str | None = None,
    options: DownloadOptions | None = None,
    report: Report | None = None,
) -> Path:
    """Download `path` from the first of `urls` that serves it, and return the path.

    An existing file with the right hash is not downloaded again. If `sha256` is given, the next
    call resumes an interrupted download, from any of the addresses.
    """
    addresses = [urls] if isinstance(urls, str) else list(urls)
    with hold(path):
        if sha256 is not None and path.is_file() and hash_file(path) == sha256:
            return path
        bar = transfer_bar(f"Downloading {_basename(addresses)}")
        with nullcontext(report) if report else bar as report_progress:
            _fetch_any(addresses, path, sha256, options or DownloadOptions(), report_progress)
    return path


class _Refused(Exception):
    """A permanent failure of one address; the next may work."""


class _Broken(Exception):
    """A temporary failure; a retry may work."""

    def __init__(self, reason: str, *, wait: float = 0.0, status: int = 0) -> None:
        super().__init__(reason)
        self.wait = wait
        self.status = status


def _fetch_any(
    urls: list[str], path: Path, sha256: str | None, options: DownloadOptions, report: Report
) -> None:
    import httpx

    silent = unreachable(urls)
    if len(silent) == len(urls):
        _give_up(path, silent, busy=False)
    reasons: list[str] = []
    busy = False
    timeout = httpx.Timeout(options.stall_timeout)
    with httpx.Client(follow_redirects=True, timeout=timeout) as client:
        for url in urls:
            transfer = _Transfer(client, url, path, sha256, options, report)
            try:
                transfer.run()
                return
            except (_Refused, _Broken) as error:
                reasons.append(f"{url}: {error}")
                busy = busy or getattr(error, "status", 0) == 429
    _give_up(path, reasons, busy)


def _give_up(path: Path, reasons: list[str], busy: bool) -> NoReturn:
    message = "\n  ".join(
        [f"cannot download {path.name}:", *reasons] if reasons else ["no URL to download from"]
    )
    raise (TooManyRequests if busy else DownloadFailed)(message)


@dataclass(slots=True)
class _Transfer:
    """The download of one file from one address, with retries."""

    client: "httpx.Client"
    url: str
    path: Path
    sha256: str | None
    options: DownloadOptions
    report: Report
    resumed: bool = False

    def run(self) -> None:
        """Download the file, or raise `_Refused` or `_Broken`."""
        if self.sha256 is None:
            # Without a hash, an old part may belong to another version of the file.
            self.part.unlink(missing_ok=True)
        failures = 0
        furthest = self._have()
        for _ in range(_ATTEMPTS_PER_RETRY * (self.options.max_retries + 1)):
            try:
                self._attempt()
                return self._accept()
            except _Broken as error:
                # Only consecutive attempts without progress count as failures.
                failures = 1 if self._have() > furthest else failures + 1
                furthest = max(furthest, self._have())
                if failures > self.options.max_retries:
                    raise
                wait = error.wait or self.options.backoff * 2 ** (failures - 1)
                self.options.sleep(min(wait, self.options.max_backoff))
        raise _Refused("the transfer was interrupted too often")

    @property
    def part(self) -> Path:
        return self.path.parent / f"{self.path.name}.part"

    def _have(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _attempt(self) -> None:
        import httpx

        have = self._have()
        headers = {"Accept-Encoding": "identity", "User-Agent": "compiler_gym"}
        if have:
            headers["Range"] = f"bytes={have}-"
        try:
            with self.client.stream("GET", self.url, headers=headers) as response:
                if response.status_code == 416:
                    return self._past_the_end(response, have)
                self._require_success(response)
                self._receive(response, self._start(response, have))
        except httpx.TimeoutException as error:
            seconds = self.options.stall_timeout
            raise _Broken(f"no data received for {seconds} seconds") from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise _Broken(f"{type(error).__name__}: {error}") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _Refused(f"{type(error).__name__}: {error}") from error

    def _past_the_end(self, response: "httpx.Response", have: int) -> None:
        if response.headers.get("Content-Range", "").rpartition("/")[2] != str(have):
            self.part.unlink(missing_ok=True)
            raise _Broken("the partial download is longer than the file")

    def _require_success(self, response: "httpx.Response") -> None:
        status = response.status_code
        if status in _TRANSIENT:
            wait = _seconds(response.headers.get("Retry-After", ""))
            raise _Broken(f"HTTP {status} {response.reason_phrase}", wait=wait, status=status)
        if status not in (200, 206):
            raise _Refused(f"HTTP {status} {response.reason_phrase}")

    def _start(self, response: "httpx.Response", have: int) -> int:
        if response.status_code == 200:
            return 0
        if response.headers.get("Content-Range", "").startswith(f"bytes {have}-"):
            self.resumed = True
            return have
        self.part.unlink(missing_ok=True)
        raise _Broken("the server sent a different range than requested")

    def _receive(self, response: "httpx.Response", start: int) -> None:
        length = response.headers.get("Content-Length", "")
        total = start + int(length) if length.isdecimal() else None
        if (total or 0) > self.options.max_bytes:
            raise _Refused(f"{total} bytes exceed the limit of {self.options.max_bytes}")
        with as_dataset_errors(f"cannot write {self.part}"):
            self._write(response, start, total)

    def _write(self, response: "httpx.Response", start: int, total: int | None) -> None:
        done = start
        try:
            with self.part.open("ab" if start else "wb") as file:
                for chunk in response.iter_raw():
                    file.write(chunk)
                    done += len(chunk)
                    if done > self.options.max_bytes:
                        raise _Refused(f"it exceeds the limit of {self.options.max_bytes} bytes")
                    self.report(done, total)
        except (OSError, _Refused):
            # Keeping the partial file would leave the disk full.
            self.part.unlink(missing_ok=True)
            raise

    def _accept(self) -> None:
        with as_dataset_errors(f"cannot write {self.path}"):
            digest = None if self.sha256 is None else hash_file(self.part)
            if digest == self.sha256:
                self.part.replace(self.path)
                return
            self.part.unlink()
        reason = f"its sha256 is {digest}, not {self.sha256}"
        if self.resumed:
            # The part may belong to another version of the file: retry once from the start.
            self.resumed = False
            raise _Broken(reason)
        raise _Refused(reason)


def _seconds(text: str) -> float:
    return float(text) if text.isdecimal() else 0.0


def _basename(urls: list[str]) -> str:
    return os.path.basename(urlsplit(urls[0]).path) if urls else "nothing"
