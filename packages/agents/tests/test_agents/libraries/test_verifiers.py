# SPDX-License-Identifier: MIT
"""verifiers runs rollouts: its environment, a process of tools, a scripted model, the judge."""

import asyncio
import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

TASK = "fewer-instructions/cbench-v1/crc32"
BETTER = [
    "-O2",
    "simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-lookup;"
    "no-keep-loops;hoist-common-insts;sink-common-insts>",
]
"""What saves an instruction more than -Oz on this program."""

MODULES = {
    "our_compiler_tasks": """
from compiler_gym_agents.libraries.verifiers import CompilerTaskset

__all__ = ["CompilerTaskset"]
""",
    "scripted_harness": """
import json
from mcp import Client
import httpx, verifiers.v1 as vf

__all__ = ["ScriptedHarness"]

class ScriptedHarness(vf.Harness[vf.HarnessConfig]):
    SUPPORTS_MCP = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(self, ctx, trace, runtime, endpoint, secret, mcp_urls, data, *rest):
        messages = [{"role": "user", "content": data.prompt}]
        headers = {"Authorization": f"Bearer {secret}"}
        (url,) = mcp_urls.values()
        async with httpx.AsyncClient(timeout=120, headers=headers) as http, Client(url) as tools:
            offered = [t.name for t in (await tools.list_tools()).tools]
            while True:
                body = {"model": ctx.model, "messages": messages}
                answer = await http.post(f"{endpoint}/chat/completions", json=body)
                if answer.status_code != 200:
                    return vf.ProgramResult(exit_code=0, stdout=answer.text, stderr="")
                said = answer.json()["choices"][0]["message"]
                messages.append(said)
                if not said.get("tool_calls"):
                    return vf.ProgramResult(exit_code=0, stdout=str(offered), stderr="")
                for call in said["tool_calls"]:
                    asked = call["function"]
                    found = await tools.call_tool(asked["name"], json.loads(asked["arguments"]))
                    text = found.content[0].text
                    messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
""",
}


def library(name: str) -> Any:
    pytest.importorskip("verifiers", reason="verifiers is missing: make integrations")
    return importlib.import_module(name)


def reply(number: int, call: tuple[str, Any] | None) -> dict[str, Any]:
    """Return the answer number `number` of a model, as OpenAI's interface has it."""
    message: dict[str, Any] = {"role": "assistant", "content": None if call else "I am done."}
    if call is not None:
        asked = {"name": call[0], "arguments": json.dumps(call[1])}
        message["tool_calls"] = [{"id": f"call-{number}", "type": "function", "function": asked}]
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if call else "stop"}
    counted = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {"id": f"{number}", "object": "chat.completion", "created": 0, "model": "scripted",
            "choices": [choice], "usage": counted}  # fmt: skip


async def episode_of(script: list[tuple[str, Any]]) -> Any:
    """Run one rollout of the task by a model that follows `script`."""
    vf = library("verifiers.v1")
    asked = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        await reader.readexactly(int(head.split("content-length:")[1].split()[0]))
        call = script[asked] if asked < len(script) else None
        body = json.dumps(reply(asked, call)).encode()
        asked += 1
        header = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n"
        writer.write(f"{header}content-length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    config = vf.resolve_env_config(
        {"taskset": {"id": "our_compiler_tasks", "split": "train"},
         "agent": {"harness": {"id": "scripted_harness"}, "runtime": {"type": "subprocess"}}}
    )  # fmt: skip
    env = vf.load_environment(config)
    (task,) = env.taskset.include(ids=[TASK])
    client = vf.EvalClientConfig(base_url=f"http://127.0.0.1:{port}/v1", api_key_var="NO_KEY")
    context = vf.ModelContext(model="scripted", client=client)
    async with server, env.serving():
        return await env.run_slot(env.slots(task)[0], context)


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library finds tasksets and harnesses by the names of top-level modules."""
    library("verifiers")
    for name, text in MODULES.items():
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)  # pyright: ignore[reportUnknownMemberType]  # pytest leaves its path untyped


@pytest.mark.slow
@pytest.mark.usefixtures("modules")
def test_a_rollout_is_rewarded_by_the_judge() -> None:
    episode = asyncio.run(episode_of([("apply", {"actions": BETTER}), ("submit", {})]))
    assert episode.ok, episode.errors or [trace.errors for trace in episode.traces]
    (trace,) = episode.traces
    assert 0 < trace.rewards["verified_gain"].value < 0.1
    assert trace.state.done
    assert "-passes='default<O2>" in trace.state.decisions["commandline"]


@pytest.mark.slow
@pytest.mark.usefixtures("modules")
def test_a_model_that_calls_no_tool_earns_nothing() -> None:
    episode = asyncio.run(episode_of([]))
    assert episode.ok, episode.errors or [trace.errors for trace in episode.traces]
    assert episode.traces[0].rewards["verified_gain"].value == 0
