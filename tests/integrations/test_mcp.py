# SPDX-License-Identifier: MIT
"""A real client of the protocol optimises a program through a server in another process."""

import asyncio
import json
import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from compiler_gym.errors import InvalidParameterError, SessionNotFound
from compiler_gym.integrations.mcp import AgentSession

pytest.importorskip("mcp", reason="mcp is missing")


def talk(conversation: Callable[[Any], Coroutine[Any, Any, None]]) -> None:
    """Hold a conversation with a server of its own."""
    from mcp import Client, StdioServerParameters

    async def main() -> None:
        command = ["-m", "compiler_gym.integrations.mcp", "llvm-ic-v0"]
        server = StdioServerParameters(
            command=sys.executable,
            args=[*command, "--benchmark", "cbench-v1/crc32"],
            env=dict(os.environ),
        )
        async with Client(server) as client:
            await conversation(client)

    asyncio.run(main())


async def call(client: Any, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text
    return text if result.is_error else json.loads(text)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_a_client_optimises_a_program() -> None:
    async def conversation(client: Any) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"describe", "reset", "step", "undo", "observe", "submit"}
        assert all(tool.description for tool in tools.values())
        described = await call(client, "describe")
        assert "sroa" in described["actions"]
        assert (await call(client, "reset"))["benchmark"] == "benchmark://cbench-v1/crc32"
        first = await call(client, "step", actions=["sroa", "simplifycfg"])
        assert first["reward"] > 0
        assert first["actions"] == ["sroa", "simplifycfg"]
        before = await call(client, "observe", name="IrInstructionCount")
        await call(client, "step", actions=["instcombine"])
        assert await call(client, "observe", name="IrInstructionCount") < before
        assert (await call(client, "undo"))["actions"] == ["sroa", "simplifycfg"]
        assert await call(client, "observe", name="IrInstructionCount") == before
        assert "UnknownNameError" in await call(client, "step", actions=["no-such-pass"])
        submitted = await call(client, "submit")
        assert submitted["commandline"].startswith("opt ")
        assert "SessionNotFound" in await call(client, "step", actions=["dce"])
        assert (await call(client, "reset"))["actions"] == []

    talk(conversation)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")
def test_every_answer_is_short_or_says_what_to_ask_for_instead() -> None:
    async def conversation(client: Any) -> None:
        described = await call(client, "describe")
        await call(client, "reset")
        error = await call(client, "observe", name="Programl")
        assert "ObservationError" in error
        assert "observe ProgramlJson" in error
        for name in ("ProgramlJson", "LexedIr", "LexedIrArrays", "Ir", "Bitcode"):
            assert name in described["observations"]
            text = await call(client, "observe", name=name)
            assert len(text) < 21_000
            assert "... cut: " in text
            assert "IrInstructionCount, " in text
            assert not text.startswith('"')
        assert isinstance(await call(client, "observe", name="Autophase"), list)
        failed = await call(client, "step", actions=["no-such-pass" * 10_000])
        assert "UnknownNameError" in failed
        assert len(failed) < 21_000

    talk(conversation)


def test_the_order_of_calls_is_kept() -> None:
    session = AgentSession("llvm-ic-v0", benchmark="cbench-v1/crc32")
    try:
        with pytest.raises(SessionNotFound, match=r"reset\(\)"):
            session.step(["dce"])
        session.reset()
        with pytest.raises(InvalidParameterError, match="no step to take back"):
            session.undo()
        assert len(session.observe("Ir")) <= 20_500
        assert len(session.observe("Autophase")) == 56
        session.submit()
        with pytest.raises(SessionNotFound, match="was submitted"):
            session.observe("Ir")
    finally:
        session.close()


def test_an_environment_without_a_reward_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="has no reward"):
        AgentSession("llvm-v0")
