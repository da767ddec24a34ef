# SPDX-License-Identifier: MIT
"""Whatever is asked of any route, the answer is an answer: never that we made a mistake."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from compiler_gym_explorer.api import Api
from compiler_gym_explorer.app import make_app
from compiler_gym_explorer.routes import ROUTES, Route
from compiler_gym_explorer.settings import Settings
from tests.effort import examples

_HEADS = ["host", "origin", "content-length", "last-event-id", "authorization", "sec-fetch-site"]
_PRINTABLE = st.text(st.characters(max_codepoint=126, min_codepoint=32), max_size=20)
_DEEP = json.loads("[" * 150 + "]" * 150)
_TEXTS = st.sampled_from(
    ["", "\0", "a\0b", "~", "~nobody-of-this-name", "/", "/etc", "/dev/zero", "x" * 5000,
     "/" * 300, "/proc/kmsg", "/dev/stdin", "file:///dev/zero", "file:///a%00b", "llvm-v0",
     "cbench-v1/crc32", "a?b=" + "y" * 5000, "benchmark://x/\0", "mem2reg", "IrInstructionCount",
     "cfg", "\ud7ff\U0010ffff", "-1", "9" * 400, "NaN", "true", "s1.AAAA", "[", "{}", "C", "%00",
     "../../..", "http://127.0.0.1:9/"]
) | st.text(max_size=20)  # fmt: skip
_NUMBERS = st.sampled_from([0, 1, -1, 1 << 31, 1 << 63, -(1 << 70), 10**400, 1e308, 0.5, True])
_JUNK = st.recursive(
    _TEXTS | _NUMBERS | st.none() | st.just(_DEEP),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=6,
)


def _body_of(kind: type[Any]) -> st.SearchStrategy[Any]:
    """Bodies with the right names and now and then the right values, and any others."""
    names = [field.encode_name for field in msgspec.structs.fields(kind)]
    return st.dictionaries(st.sampled_from(names), _JUNK, max_size=len(names)) | _JUNK


@pytest.fixture(scope="module")
def served() -> Iterator[tuple[TestClient, str]]:
    app = make_app(Api(Settings(token="t", host="testserver", most_sessions=3)))
    with TestClient(app, raise_server_exceptions=False) as client:
        client.headers["Authorization"] = "Bearer t"
        body = {"environment": "llvm-v0", "benchmark": "cbench-v1/crc32"}
        session = client.post("/api/sessions", json=body).json()["id"]
        yield client, session


@pytest.mark.timeout(600)
@settings(max_examples=examples(120))
@given(route=st.sampled_from([one for one in ROUTES if not one.is_stream]), data=st.data())
def test_no_request_is_a_mistake_of_ours(
    served: tuple[TestClient, str], route: Route, data: st.DataObject
) -> None:
    client, session = served
    path = route.path
    for name in ("session", "node", "task", "environment", "kind", "name"):
        usual = {"session": session, "node": "0", "environment": "llvm-v0"}.get(name, "cfg")
        value = data.draw(st.just(usual) | _TEXTS, label=name) if f"{{{name}}}" in path else ""
        path = path.replace(f"{{{name}}}", quote(value, safe="") or "-")
    if (route.method, path) == ("DELETE", f"/api/sessions/{session}"):
        return
    query = {one.name: data.draw(_TEXTS | _NUMBERS.map(str)) for one in route.query}
    content = None
    if route.body is not None:
        plain = data.draw(_body_of(route.body), label="body")
        content = json.dumps(plain).encode()
    answer = client.request(
        route.method, path, params=query, content=content,
        headers={"Content-Type": "application/json"} if content else {},
    )  # fmt: skip
    assert answer.status_code not in (500, 502, 504), (route.name, answer.text)
    if answer.status_code == 201 and route.name == "open_session":
        client.delete(f"/api/sessions/{answer.json()['id']}")
    if answer.status_code == 201 and route.name in ("search", "try_all"):
        client.delete(f"/api/sessions/{session}/tasks/{answer.json()['id']}")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=30), st.dictionaries(st.sampled_from(_HEADS), _PRINTABLE))
@example("\0", {})
@example("a" * 5000, {})
@example("~", {"origin": "http://["})
@example("api/server", {"host": "[", "origin": "http://]"})
def test_no_page_and_no_head_is_a_mistake_of_ours(
    served: tuple[TestClient, str], path: str, heads: dict[str, str]
) -> None:
    client, _ = served
    for method, at in (("GET", path), ("POST", "api/import"), ("HEAD", path), ("PUT", path)):
        answer = client.request(method, "/" + quote(at), headers=heads)
        assert 200 <= answer.status_code < 500, answer.text


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_values_without_a_json_form_are_refused(
    served: tuple[TestClient, str], value: float
) -> None:
    client, session = served
    body = json.dumps({"node": 0, "seconds": value, "method": "random"})
    answer = client.post(
        f"/api/sessions/{session}/search", content=body,
        headers={"Content-Type": "application/json"},
    )  # fmt: skip
    assert answer.status_code == 400


def test_files_that_are_none_of_ours_are_not_quoted(
    served: tuple[TestClient, str], tmp_path: Path
) -> None:
    client, _ = served
    for name, text in (
        ("one.txt", "SECRET,other\n"),
        ("two.json", '{"SECRET": {"SECRET": 1}}'),
        ("three.json", '{\n "SECRET": 1\n}\n'),
        ("four.toml", 'version = 3\ntoken = "SECRET"\n'),
        ("five.txt", '"SECRET'),
    ):
        (tmp_path / name).write_text(text)
        answer = client.post("/api/import", json={"path": str(tmp_path / name)})
        assert answer.status_code == 400
        assert "SECRET" not in answer.text


@pytest.mark.parametrize("environment", ["llvm-v0", "loop_tool-v0", "mlir-v0"])
def test_no_compiler_quotes_a_file_that_is_not_a_program(
    served: tuple[TestClient, str], environment: str, tmp_path: Path
) -> None:
    client, _ = served
    (file := tmp_path / "shadow").write_text("SECRET:x\n")
    for name in (f"{file}", f"file://{file}", f"file://{file}#.c", f"FILE://{file}?a=.nest#.mlir"):
        body = {"environment": environment, "benchmark": name}
        answer = client.post("/api/sessions", json=body)
        assert answer.status_code in (400, 404), answer.text
        assert "SECRET" not in answer.text
