# SPDX-License-Identifier: MIT
"""A real client of the protocol optimises a program through a server in another process."""

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from compiler_gym_agents.calling import Tool
from compiler_gym_agents.libraries.mcp import main, make_server
from tests.stand_ins import always

pytest.importorskip("mcp", reason="mcp is missing")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


def talk(words: list[str], conversation: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    """Hold a conversation with a server of its own."""
    from mcp import Client, StdioServerParameters

    async def held() -> None:
        server = StdioServerParameters(
            command=sys.executable,
            args=["-m", "compiler_gym_agents.libraries.mcp", *words],
            env=dict(os.environ),
        )
        async with Client(server) as client:
            await conversation(client)

    asyncio.run(held())


async def call(client: Any, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    return text if result.is_error else json.loads(text)


def test_a_client_optimises_a_program() -> None:
    async def conversation(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"describe", "actions", "apply", "submit"} <= set(tools)
        assert tools["apply"].input_schema["required"] == ["actions"]
        assert all(tool.description for tool in tools.values())
        first = await call(client, "apply", actions=["sroa", "simplifycfg"])
        assert first["episode_reward"] > 0
        assert (await call(client, "apply", actions=["instcombine"]))["applied"][2:] == [
            "instcombine"
        ]
        assert (await call(client, "undo"))["costs"] == first["costs"]
        assert "InvalidActionError" in await call(client, "apply", actions=["no-such-pass"])
        assert "session_id" in await call(client, "submit", session_id="somebody-else")
        together = await asyncio.gather(*(call(client, "apply", actions=["dce"]) for _ in range(4)))
        assert [len(one["applied"]) for one in together] == [3, 4, 5, 6]
        submitted = await call(client, "submit")
        assert submitted["commandline"].startswith("opt ")
        assert "SessionNotFound" in await call(client, "apply", actions=["dce"])
        assert (await call(client, "reset"))["applied"] == []

    talk(["llvm-ic-v0", "--benchmark", "cbench-v1/crc32"], conversation)


def test_a_task_is_served_with_its_calls_counted(tmp_path: Path) -> None:
    async def conversation(client: Any) -> None:
        assert (await call(client, "apply", actions=["-Oz"]))["calls_left"] == 39
        await call(client, "submit")
        assert "the episode is over" in await call(client, "describe")

    trace = tmp_path / "trace.jsonl"
    task = "fewer-instructions/cbench-v1/crc32"
    talk(["--task", task, "--trace", str(trace)], conversation)
    lines = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [line.get("tool") for line in lines] == [None, "apply", "submit"]


WAITING = """
import json
import time
from pathlib import Path
from compiler_gym_agents.calling import Tool
from compiler_gym_agents.libraries.mcp import make_server, serve

def answer(name, arguments):
    with open("calls", "a") as calls:
        print(arguments["until"], file=calls)
    while not Path(arguments["until"]).exists():
        time.sleep(0.01)
    return json.dumps(arguments["until"]), False

serve(make_server([Tool("wait", "Wait.", {"type": "object"})], answer))
"""


def send(
    server: "subprocess.Popen[str]", method: str, id: int | None = None, **params: Any
) -> None:
    assert server.stdin is not None
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    server.stdin.write(json.dumps(message if id is None else {**message, "id": id}) + "\n")
    server.stdin.flush()


def next_id(server: "subprocess.Popen[str]") -> int:
    """Return the number of the request that is answered next."""
    assert server.stdout is not None
    answer = json.loads(server.stdout.readline())
    assert "result" in answer, answer
    return answer["id"]


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """Start a server whose calls end as soon as a file exists, and greet it."""
    words, pipe = [sys.executable, "-c", WAITING], subprocess.PIPE
    with subprocess.Popen(words, cwd=tmp_path, text=True, stdin=pipe, stdout=pipe) as server:
        watch = threading.Timer(60, server.kill)
        watch.start()
        client = {"name": "test", "version": "1"}
        send(
            server,
            "initialize",
            1,
            protocolVersion="2025-06-18",
            capabilities={},
            clientInfo=client,
        )
        assert next_id(server) == 1
        send(server, "notifications/initialized")
        yield server
        server.stdin.close()  # type: ignore[union-attr]
        assert server.wait() == 0
        watch.cancel()


def begin(server: "subprocess.Popen[str]", id: int, until: str) -> None:
    send(server, "tools/call", id, name="wait", arguments={"until": until})


def wait_for_calls(folder: Path) -> None:
    while not (folder / "calls").exists():
        time.sleep(0.01)


def test_a_server_answers_while_a_call_runs(
    waiting: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    begin(waiting, 2, "first")
    wait_for_calls(tmp_path)
    send(waiting, "ping", 3)
    assert next_id(waiting) == 3
    send(waiting, "tools/list", 4)
    assert next_id(waiting) == 4
    (tmp_path / "first").touch()
    assert next_id(waiting) == 2


def test_a_call_that_is_cancelled_before_its_turn_does_not_run(
    waiting: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    begin(waiting, 2, "first")
    wait_for_calls(tmp_path)
    begin(waiting, 3, "cancelled")
    begin(waiting, 4, "last")
    send(waiting, "notifications/cancelled", requestId=3)
    send(waiting, "ping", 5)
    assert next_id(waiting) == 5
    for name in ("first", "last", "cancelled"):
        (tmp_path / name).touch()
    assert (next_id(waiting), next_id(waiting)) == (2, 4)
    assert (tmp_path / "calls").read_text().split() == ["first", "last"]


def test_a_call_that_is_cancelled_while_it_runs_is_not_answered(
    waiting: "subprocess.Popen[str]", tmp_path: Path
) -> None:
    begin(waiting, 2, "first")
    wait_for_calls(tmp_path)
    send(waiting, "notifications/cancelled", requestId=2)
    send(waiting, "ping", 3)
    assert next_id(waiting) == 3
    begin(waiting, 4, "first")
    (tmp_path / "first").touch()
    assert next_id(waiting) == 4


def test_a_server_is_a_list_of_tools_and_their_answers() -> None:
    server = make_server([Tool("mow", "Mow.", {"type": "object"})], always(("done", False)))
    assert server.name == "compiler_gym"


@pytest.mark.parametrize("words", [[], ["llvm-ic-v0", "--task", "x"]])
def test_either_an_environment_or_a_task_is_served(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert "either an environment or a task" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--task", "nope"], "no task 'nope'"),
        (["nope-v0"], "nope"),
        (["llvm-v0", "--benchmark", "nope"], "nope"),
        (["llvm-v0", "--action-space", "nope"], "no action space 'nope'"),
        (
            ["--task", "fewer-instructions/cbench-v1/crc32", "--trace", "/dev/full"],
            "/dev/full: No space left on device",
        ),
    ],
)
def test_a_server_that_cannot_start_gives_the_reason_in_one_line(
    words: list[str], why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    printed = capfd.readouterr().err
    assert why in printed
    assert "Traceback" not in printed
    assert len(printed.splitlines()) == 1
    assert len(printed) < 4_000
