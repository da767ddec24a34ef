# SPDX-License-Identifier: MIT
"""A daemon that speaks as much of Docker's API as one run of a container needs.

It runs the command of a container on this machine, in the directory that would be
mounted, and remembers every request. Nothing is contained.
"""

import hashlib
import json
import re
import socketserver
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

__all__ = ["FakeDaemon"]


class FakeDaemon:
    """Listens on a Unix socket while it is entered."""

    def __init__(self, socket: Path, images: dict[str, str]) -> None:
        self.socket = socket
        self.images = images
        """The program that is the gcc of each image."""
        self.containers: dict[str, dict[str, Any]] = {}
        self.created: list[dict[str, Any]] = []
        """What every container was asked for."""
        self.removed: list[str] = []
        self.image_id = f"sha256:{hashlib.sha256(str(socket).encode()).hexdigest()}"
        """Another one for each daemon: what is known of one image is not known of another."""
        daemon = self

        class Handler(_Handler):
            owner = daemon

        class Server(socketserver.ThreadingUnixStreamServer):
            daemon_threads = True

        self._server = Server(str(socket), Handler)

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def __enter__(self) -> "FakeDaemon":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        for container in self.containers.values():
            if "process" in container:
                container["process"].kill()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    owner: FakeDaemon

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def address_string(self) -> str:
        return "unix"

    def do_GET(self) -> None:
        path = self._path()
        if path == "/_ping":
            return self._send(200, b"OK", "text/plain")
        if path == "/version":
            return self._json({"ApiVersion": "1.43", "MinAPIVersion": "1.24", "Version": "24.0"})
        if match := re.fullmatch(r"/images/(.+)/json", path):
            return self._image(match[1])
        if match := re.fullmatch(r"/containers/(\w+)/json", path):
            return self._json(
                {"Id": match[1], "Image": self.owner.image_id, "Config": {"Tty": False}}
            )
        if match := re.fullmatch(r"/containers/(\w+)/logs", path):
            return self._logs(match[1])
        return self._json({"message": f"no such thing: {path}"}, 404)

    def do_POST(self) -> None:
        path = self._path()
        length = int(self.headers.get("Content-Length") or 0)
        body: dict[str, Any] = json.loads(self.rfile.read(length) or b"{}") if length else {}
        if path == "/containers/create":
            return self._create(body)
        if match := re.fullmatch(r"/containers/(\w+)/(start|wait)", path):
            return self._start(match[1]) if match[2] == "start" else self._wait(match[1])
        if path == "/images/create":
            return self._json({"message": "pull access denied"}, 404)
        return self._json({"message": f"no such thing: {path}"}, 404)

    def do_DELETE(self) -> None:
        name = self._path().rpartition("/")[2]
        process = self.owner.containers[name].get("process")
        if process is not None:
            process.kill()
            process.wait()
        self.owner.removed.append(name)
        self._send(204, b"")

    def _create(self, body: dict[str, Any]) -> None:
        if body["Image"] not in self.owner.images:
            return self._json({"message": "No such image"}, 404)
        name = f"{len(self.owner.created):064x}"
        self.owner.created.append(body)
        self.owner.containers[name] = {"body": body}
        self._json({"Id": name, "Warnings": []}, 201)
        return None

    def _start(self, name: str) -> None:
        container = self.owner.containers[name]
        body = container["body"]
        binds = [bind.split(":") for bind in body["HostConfig"].get("Binds") or ()]
        inside = {mount: host for host, mount, _ in binds}
        words = [*body["Entrypoint"], *body["Cmd"]]
        gcc = self.owner.images[body["Image"]]
        words = [gcc if word == "gcc" else word for word in words]
        folder = inside.get(body["WorkingDir"], "/")
        environment = dict(pair.split("=", 1) for pair in body["Env"])
        container["process"] = subprocess.Popen(
            words,
            cwd=folder,
            env={"PATH": "/usr/bin:/bin", **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        container["reader"] = threading.Thread(target=_read, args=(container,))
        container["reader"].start()
        self._send(204, b"")

    def _wait(self, name: str) -> None:
        container = self.owner.containers[name]
        container["reader"].join()
        self._json({"StatusCode": container["process"].returncode})

    def _logs(self, name: str) -> None:
        container = self.owner.containers[name]
        container["reader"].join()
        kind = 1 if "stdout=1" in self.path else 2
        data = container["output"][kind - 1]
        frame = bytes([kind, 0, 0, 0]) + len(data).to_bytes(4, "big") + data if data else b""
        self._send(200, frame, "application/vnd.docker.multiplexed-stream")

    def _image(self, name: str) -> None:
        if name not in self.owner.images:
            return self._json({"message": f"No such image: {name}"}, 404)
        self._json({"Id": self.owner.image_id, "RepoTags": [name], "Config": {}})
        return None

    def _path(self) -> str:
        return re.sub(r"^/v[\d.]+", "", self.path.partition("?")[0])

    def _json(self, value: Any, status: int = 200) -> None:
        self._send(status, json.dumps(value).encode(), "application/json")

    def _send(self, status: int, data: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)


def _read(container: dict[str, Any]) -> None:
    container["output"] = container["process"].communicate()
    time.sleep(0)  # another thread may be waiting for this
