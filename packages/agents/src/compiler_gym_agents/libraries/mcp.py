# SPDX-License-Identifier: MIT
"""A Model Context Protocol server for the tools of an environment or a task.

    python -m compiler_gym_agents.libraries.mcp llvm-ic-v0

It serves one agent over standard input and output. Needs the extra ``mcp``.
"""

import argparse
import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from compiler_gym.cli.kit.library import library, report_errors
from compiler_gym.version import __version__
from compiler_gym_agents import AgentEpisode, Tool, Toolbox, find_task

__all__ = ["main", "make_server", "serve"]

_INSTRUCTIONS = "Optimise a program with the actions of a compiler. Start with describe."


def make_server(
    tools: Sequence[Tool],
    answer: Callable[[str, Any], tuple[str, bool]],
    instructions: str = _INSTRUCTIONS,
) -> Any:
    """Return a low-level MCP server.

    Args:
        tools: The tools to offer.
        answer: Returns the answer to a call and whether it is an error, as `Toolbox.answer` does.
            Calls run one at a time, in the order in which they come, in a separate thread:
            the server answers other requests meanwhile. A call that the client cancels before
            its turn does not run; one that runs goes on, without an answer.
        instructions: The instructions for the model.
    """
    protocol, types = library("mcp.server", "mcp"), library("mcp.types", "mcp")
    offered = types.ListToolsResult(
        tools=[
            types.Tool(name=tool.name, description=tool.description, input_schema=tool.parameters)
            for tool in tools
        ]
    )

    calls = ThreadPoolExecutor(1)

    async def list_tools(_: Any, __: Any) -> Any:
        return offered

    async def call_tool(_: Any, request: Any) -> Any:
        call = calls.submit(answer, request.name, request.arguments)
        text, is_error = await asyncio.wrap_future(call)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=text)], is_error=is_error
        )

    return protocol.Server(
        "compiler_gym",
        version=__version__,
        instructions=instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def serve(server: Any) -> None:
    """Serve on standard input and output until the client disconnects."""
    streams = library("mcp.server.stdio", "mcp").stdio_server

    async def run() -> None:
        async with streams() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    asyncio.run(run())


def main(arguments: list[str] | None = None) -> None:
    """Serve one environment or one task."""
    parser = argparse.ArgumentParser(prog="python -m compiler_gym_agents.libraries.mcp")
    parser.add_argument("env", nargs="?", help="ID of an environment")
    parser.add_argument("--benchmark", help="program; by default the agent may choose")
    parser.add_argument("--action-space", help="action space [default: the first one]")
    parser.add_argument("--task", help="ID of a task, instead of an environment")
    parser.add_argument("--trace", help="file to which to append every call for the task")
    options = parser.parse_args(arguments)
    if (options.env is None) == (options.task is None):
        parser.error("name either an environment or a task (--task ID)")
    action_space = {} if options.action_space is None else {"action_space": options.action_space}
    with report_errors(parser):
        if options.task is not None:
            with AgentEpisode(find_task(options.task), trace=options.trace) as episode:
                serve(make_server(episode.tools, episode.answer, episode.prompt))
        else:
            with Toolbox(options.env, benchmark=options.benchmark, **action_space) as toolbox:
                serve(make_server(toolbox.tools(), toolbox.answer))


if __name__ == "__main__":
    main()
