# SPDX-License-Identifier: MIT
"""A server on a port of its own for each file of tests, and a client that knows its token."""

import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from compiler_gym_explorer.server import Server
from compiler_gym_explorer.settings import Settings

LOOP = """\
int twice(int x) { return x + x; }
int sum(int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += twice(i);
  return s;
}
int main(void) { return sum(4); }
"""


class Client:
    """Asks a server, and reads its answers as JSON."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.token = server.settings.token
        self.address = server.address.partition("/?")[0]
        self.http = httpx.Client(
            base_url=self.address,
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=60,
        )

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        return self._read(self.http.get(path, params=query), status)

    def post(self, path: str, body: Any, status: int = 201) -> Any:
        return self._read(self.http.post(path, json=body), status)

    def delete(self, path: str, status: int = 204) -> Any:
        return self._read(self.http.delete(path), status)

    def open(self, **body: Any) -> "Session":
        asked = {"environment": "llvm-v0", "reward": "IrInstructionCountOz"} | body
        return Session(self, self.post("/api/sessions", asked))

    def events(self, path: str) -> list[dict[str, Any]]:
        """Return every event of a stream that ends."""
        return list(self.listen(path))

    def listen(self, path: str) -> Iterator[dict[str, Any]]:
        import json

        with self.http.stream("GET", path) as answer:
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            name = ""
            for line in answer.iter_lines():
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: ") and name != "end":
                    yield json.loads(line.removeprefix("data: "))

    @staticmethod
    def _read(answer: httpx.Response, status: int) -> Any:
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None


class Session:
    """An open session, closed at the end of a ``with`` block."""

    def __init__(self, client: Client, record: dict[str, Any]) -> None:
        self.client = client
        self.record = record
        self.path = f"/api/sessions/{record['id']}"

    def step(self, *actions: Any, parent: int = 0, status: int = 201) -> Any:
        body = {"parent": parent, "actions": list(actions)}
        answer = self.client.post(f"{self.path}/nodes", body, status)
        return answer["nodes"] if status == 201 else answer

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        return self.client.get(f"{self.path}{path}", status, **query)

    def post(self, path: str, body: Any, status: int = 201) -> Any:
        return self.client.post(f"{self.path}{path}", body, status)

    def task(self, path: str, body: Any) -> list[dict[str, Any]]:
        """Begin a task and return all of its events."""
        task = self.post(path, body)
        return self.client.events(f"{self.path}/tasks/{task['id']}/events")

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.client.http.delete(self.path)


@contextmanager
def serving(**settings: Any) -> Generator[Client]:
    """Serve in a thread until the block ends."""
    with Server(Settings(**settings)) as server:
        ready = threading.Event()
        thread = threading.Thread(target=server.run, args=(ready.set,))
        thread.start()
        assert ready.wait(60)
        client = Client(server)
        try:
            yield client
        finally:
            client.http.close()
            server.stop()
            thread.join(60)
            assert not thread.is_alive()


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with serving() as served:
        yield served


@pytest.fixture
def crc(client: Client) -> Iterator[Session]:
    with client.open(benchmark="cbench-v1/crc32") as session:
        yield session


@pytest.fixture
def loop(client: Client) -> Iterator[Session]:
    with client.open(source={"text": LOOP, "language": "C", "name": "loop.c"}) as session:
        yield session
