# SPDX-License-Identifier: MIT
"""A web server on this machine that misbehaves as told.

The path of a request names a behaviour and a file: ``/ok/a.tar.bz2`` serves the
file, ``/truncated/a.tar.bz2`` breaks off in the middle, and so on.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Server:
    """The files served, the requests seen, and the address."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.requests: list[tuple[str, str | None]] = []
        self.failures_left: dict[str, int] = {}
        self.released = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        # A client that hangs up in the middle is part of the tests.
        self._http.handle_error = lambda request, client_address: None

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/{path}"

    @contextmanager
    def running(self) -> Generator["Server"]:
        thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self.released.set()
            self._http.shutdown()
            self._http.server_close()
            thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, format: str, *args: Any) -> None:
                pass

            def do_GET(self) -> None:
                wanted = self.headers.get("Range")
                server.requests.append((self.path, wanted))
                behaviour, _, name = self.path.lstrip("/").partition("/")
                data = server.files.get(name)
                self.close_connection = True
                if data is None:
                    self.reply(404, b"")
                else:
                    getattr(self, f"serve_{behaviour}")(data, wanted)

            def reply(self, status: int, data: bytes, **headers: str) -> None:
                self.send_response(status)
                self.send_header("Content-Length", headers.pop("length", str(len(data))))
                for key, value in headers.items():
                    self.send_header(key.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(data)

            def serve_ok(self, data: bytes, wanted: str | None) -> None:
                if wanted is None:
                    return self.reply(200, data)
                start = int(wanted.removeprefix("bytes=").rstrip("-"))
                if start >= len(data):
                    return self.reply(416, b"", Content_Range=f"bytes */{len(data)}")
                span = f"bytes {start}-{len(data) - 1}/{len(data)}"
                return self.reply(206, data[start:], Content_Range=span)

            def serve_norange(self, data: bytes, wanted: str | None) -> None:
                self.reply(200, data)

            def serve_truncated(self, data: bytes, wanted: str | None) -> None:
                self.reply(200, data[: len(data) // 2], length=str(len(data)))

            def serve_breaks(self, data: bytes, wanted: str | None) -> None:
                if wanted is None:
                    return self.serve_truncated(data, wanted)
                return self.serve_ok(data, wanted)

            def serve_wrongpart(self, data: bytes, wanted: str | None) -> None:
                if wanted is None:
                    return self.serve_truncated(data, wanted)
                return self.reply(206, data, Content_Range=f"bytes 0-{len(data) - 1}/{len(data)}")

            def serve_stall(self, data: bytes, wanted: str | None) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data[:10])
                self.wfile.flush()
                server.released.wait(30)

            def serve_busy(self, data: bytes, wanted: str | None) -> None:
                self.reply(429, b"", Retry_After="7")

            def serve_once503(self, data: bytes, wanted: str | None) -> None:
                left = server.failures_left.setdefault(self.path, 1)
                server.failures_left[self.path] = left - 1
                self.reply(503, b"") if left > 0 else self.serve_ok(data, wanted)

            def serve_moved(self, data: bytes, wanted: str | None) -> None:
                name = self.path.rpartition("/")[2]
                self.reply(302, b"", Location=f"/ok/{name}")

            def serve_html(self, data: bytes, wanted: str | None) -> None:
                self.reply(200, b"<html>please log in</html>")

        return Handler
