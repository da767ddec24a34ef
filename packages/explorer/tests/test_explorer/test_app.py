# SPDX-License-Identifier: MIT
import asyncio
import json
import os
import signal
import socket
import statistics
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

import compiler_gym
from compiler_gym.testing import is_running, wait_until
from compiler_gym_explorer.api import Api
from compiler_gym_explorer.app import make_app
from compiler_gym_explorer.log import Log
from compiler_gym_explorer.settings import Settings

from .conftest import Client, Session, serving

API = ["/api/server", "/api/sessions", "/api/environments/llvm-v0"]


@pytest.mark.parametrize("path", API)
@pytest.mark.parametrize(
    "headers",
    [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic dDp0"}],
)
def test_without_the_token_nothing_is_reported(
    client: Client, path: str, headers: dict[str, str]
) -> None:
    answer = httpx.get(client.address + path, headers=headers)
    assert answer.status_code == 401
    assert answer.json()["type"] == "ExplorerError"
    assert client.token not in answer.text


def test_the_token_may_stand_in_the_address_where_no_header_can(client: Client) -> None:
    assert httpx.get(f"{client.address}/api/server?token={client.token}").status_code == 200
    assert httpx.get(f"{client.address}/api/server?token={client.token}x").status_code == 401
    assert httpx.get(f"{client.address}/api/server?token=%FF%FE").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Host": "elsewhere.example"},
        {"Host": "127.0.0.1.elsewhere.example:80"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"},
    ],
)
@pytest.mark.parametrize("path", ["/api/server", "/"])
def test_other_origins_and_hosts_are_refused(
    client: Client, headers: dict[str, str], path: str
) -> None:
    assert client.http.get(path, headers=headers).status_code == 403


def test_this_page_is_served_by_each_of_its_names(client: Client) -> None:
    port = client.server.settings.port
    for name in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}"):
        headers = {"Host": name, "Origin": f"http://{name}", "Sec-Fetch-Site": "same-origin"}
        assert client.http.get("/api/server", headers=headers).status_code == 200


def test_bodies_are_bounded_even_if_their_headers_claim_less() -> None:
    with serving(most_body_bytes=2000) as client:
        body = json.dumps({"source": {"text": "x" * 4000}})
        headers = {"Content-Type": "application/json"}
        long = client.http.post("/api/sessions", content=body, headers=headers)
        assert long.status_code == 413
        pieces = (body[i : i + 100].encode() for i in range(0, len(body), 100))
        streamed = client.http.post("/api/sessions", content=pieces, headers=headers)
        assert streamed.status_code == 413


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"{", "application/json", 400),
        (b'{"benchmark": 3}', "application/json", 400),
        (b"\xff", "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"{}", "", 415),
    ],
)
def test_an_invalid_request_is_refused(
    client: Client, content: bytes, kind: str, status: int
) -> None:
    answer = client.http.post("/api/sessions", content=content, headers={"Content-Type": kind})
    assert answer.status_code == status
    assert answer.json()["message"]


def test_markup_in_programs_is_only_ever_data(client: Client) -> None:
    text = "int f(void){return 0;} // <script>alert(1)</script>"
    with client.open(source={"text": text, "language": "C"}) as session:
        answer = client.http.get(f"{session.path}/source")
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "script-src 'self'" in answer.headers["content-security-policy"]
    answer = client.http.get("/<script>alert(1)</script>")
    assert answer.status_code == 404
    assert "<script>" not in answer.text


def test_the_built_page_is_served_and_nothing_next_to_it(tmp_path: Path) -> None:
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<!doctype html>the page")
    (static / "assets" / "page-1f.js").write_text("1")
    (tmp_path / "secret").write_text("secret")
    app = make_app(Api(Settings(token="t")), static)
    with TestClient(app, base_url="http://127.0.0.1") as page:
        assert "the page" in page.get("/").text
        assert "immutable" in page.get("/assets/page-1f.js").headers["cache-control"]
        assert "javascript" in page.get("/assets/page-1f.js").headers["content-type"]
        for path in ("/../secret", "/%2e%2e/secret", "/assets/..%2f..%2fsecret", "/nothing"):
            assert page.get(path).status_code == 404
        assert page.get("/api/nothing").status_code == 404
        assert page.get("/").headers["x-content-type-options"] == "nosniff"


def test_a_page_that_is_not_built_reports_it(tmp_path: Path) -> None:
    app = make_app(Api(Settings(token="t")), tmp_path)
    with TestClient(app, base_url="http://127.0.0.1") as page:
        assert "not built" in page.get("/").text


def test_a_session_tells_what_happens_in_it(crc: Session) -> None:
    heard: list[dict[str, Any]] = []
    began = threading.Event()

    def listen() -> None:
        with crc.client.http.stream("GET", f"{crc.path}/events") as answer:
            for line in answer.iter_lines():
                began.set()
                if line.startswith("data: {") and len(line) > 10:
                    heard.append(json.loads(line.removeprefix("data: ")))

    thread = threading.Thread(target=listen)
    thread.start()
    assert began.wait(60)
    (node,) = crc.step("mem2reg")
    crc.client.delete(crc.path)
    thread.join(60)
    assert not thread.is_alive()
    assert [event["kind"] for event in heard] == ["nodes", "closed"]
    assert heard[0]["nodes"] == [node]


def test_a_stream_goes_on_after_the_last_event_that_was_seen(crc: Session) -> None:
    task = crc.post("/try-all", {"node": 0, "actions": ["mem2reg", "gvn", "dce"]})
    path = f"{crc.path}/tasks/{task['id']}/events"
    every = crc.client.events(path)
    rest = crc.client.http.get(path, headers={"Last-Event-ID": "1"}).text
    told = [line for line in rest.splitlines() if line.startswith('data: {"')]
    assert [json.loads(line[6:]) for line in told] == every[2:]


def test_a_killed_worker_is_replaced_and_the_states_are_the_same() -> None:
    with serving() as client, client.open(benchmark="cbench-v1/crc32") as session:
        nodes = session.step("mem2reg", "gvn", "instcombine")
        path = f"/nodes/{nodes[2]['id']}"
        text = session.get(f"{path}/ir")["text"]
        before = session.get(f"{path}/observations/IrHash")["value"]
        for pid in session_workers(client, session):
            os.kill(pid, signal.SIGKILL)
        assert session.get(f"{path}/observations/IrHash")["value"] == before
        explored = client.server.api.registry.session(session.record["id"])
        assert "recovered" in asyncio.run(kinds_of(explored.log))
        assert session.get(f"{path}/ir")["text"] == text
        (node,) = session.step("simplifycfg", parent=nodes[2]["id"])
        assert node["error"] is None


async def kinds_of(log: Log) -> list[str]:
    """Return what a log that ends now was told."""
    count = log.next_number
    kinds: list[str] = []
    async for found in log.read():
        assert found is not None
        kinds.append(found[1].kind)
        if len(kinds) == count:
            break
    return kinds


def session_workers(client: Client, session: Session) -> list[int]:
    """Return the processes that hold the session's states."""
    explored = client.server.api.registry.session(session.record["id"])
    tree = explored._tree  # pyright: ignore[reportPrivateUsage]  # whom to kill
    envs = [tree.env, *tree._live.values()]  # pyright: ignore[reportPrivateUsage]
    pids: list[int] = [env.episode.connection.pid for env in envs]  # type: ignore[union-attr]
    assert pids
    return pids


def test_a_crash_in_a_step_is_a_node_with_a_typed_error_and_the_tree_goes_on(
    crc: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    from compiler_gym.errors import WorkerCrashedError

    (first,) = crc.step("mem2reg")
    crash = WorkerCrashedError("the worker was killed by SIGSEGV")
    real = compiler_gym.envs.llvm.LlvmEnv.step

    def step(self: Any, action: Any, *spaces: Any, **more: Any) -> Any:
        values, reward, _, _, info = real(self, action, *spaces, **more)
        return values, reward, False, True, info | {"error": crash}

    with monkeypatch.context() as patched:
        patched.setattr(compiler_gym.envs.llvm.LlvmEnv, "step", step)
        (failed,) = crc.step("gvn", "dce", parent=first["id"])
    assert failed["error"]["type"] == "WorkerCrashedError"
    assert failed["reward"] is None
    assert crc.get(f"/nodes/{failed['id']}/ir", 409)["next"] == "use its parent instead"
    crc.step("dce", parent=failed["id"], status=409)
    (again,) = crc.step("gvn", parent=first["id"])
    assert again["error"] is None


def test_no_worker_is_left_when_the_server_stops() -> None:
    before = set(threading.enumerate())
    with serving() as client:
        session = client.open(benchmark="cbench-v1/crc32")
        session.step("mem2reg", "gvn")
        workers = session_workers(client, session)
        task = session.post("/search", {"seconds": 600})
        next(client.listen(f"{session.path}/tasks/{task['id']}/events"))
    assert wait_until(lambda: not any(map(is_running, workers)))
    after = set(threading.enumerate()) - before
    assert not [one for one in after if one.name.startswith(("search", "explorer"))]


@pytest.mark.slow  # it judges by the clock
def test_a_step_is_seen_soon_after_the_engine_is_done(crc: Session) -> None:
    crc.step("mem2reg")
    added: list[float] = []
    for name in ("gvn", "instcombine", "simplifycfg", "sroa", "licm", "dce"):
        began = time.perf_counter()
        (node,) = crc.step(name)
        added.append(time.perf_counter() - began - node["seconds"])
    assert statistics.median(added) < 0.1


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/api/import"), ("POST", "/api/nothing"), ("GET", "/api/server"), ("GET", "/"),
        ("DELETE", "/api/sessions/none"), ("PUT", "/"),
    ],
)  # fmt: skip
def test_a_body_without_end_is_not_taken(client: Client, method: str, path: str) -> None:
    sent, most = 0, 300 << 20
    piece = b"100000\r\n" + b"x" * (1 << 20) + b"\r\n"
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {client.address.partition('//')[2]}\r\n"
        f"Authorization: Bearer {client.token}\r\nContent-Type: application/json\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", client.server.settings.port), 30) as other:
        other.sendall(head.encode())
        with suppress(ConnectionError):
            while sent < most:
                other.sendall(piece)
                sent += len(piece)
    assert sent < 64 << 20


def test_idle_sessions_are_closed_after_an_error_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("compiler_gym_explorer.app._LOOK_SECONDS", 0.01)
    looks = 0
    enough = threading.Event()

    def close_idle() -> None:
        nonlocal looks
        looks += 1
        if looks > 3:
            enough.set()
        raise RuntimeError("no")

    api = Api(Settings(token="t"))
    monkeypatch.setattr(api.registry, "close_idle", close_idle)
    with TestClient(make_app(api)):
        assert enough.wait(20)


def test_other_machines_are_served_where_that_was_requested() -> None:
    with serving(host="0.0.0.0") as client:
        port = client.server.settings.port
        assert client.address == f"http://127.0.0.1:{port}"
        for name, status in (
            ("192.0.2.9", 200),
            (socket.gethostname(), 200),
            ("evil.example", 403),
        ):
            headers = {"Host": f"{name}:{port}", "Origin": f"http://{name}:{port}"}
            assert client.http.get("/api/server", headers=headers).status_code == status
            bare = {"Host": f"{name}:{port}", "Authorization": "Bearer x"}
            assert client.http.get("/api/server", headers=bare).status_code in (401, 403)


@pytest.mark.parametrize("path", ["/%00", "/" + "a" * 5000, "/" + "a/" * 3000, "/%FF", "/a%0Ab"])
def test_a_page_of_no_possible_name_is_none(client: Client, path: str) -> None:
    assert client.http.get(path).status_code == 404
