#!/usr/bin/env bash
# A tool of the MCP Python SDK 2.3.0 that returns NaN fails in the SDK's own client.
# A reward may be NaN or infinite. The server declares the type `number` and sends null, because JSON
# has neither; the client then refuses the reply: "None is not of type 'number'". Finite results of
# the same tool pass.
set -eu
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv; venv/bin/pip install -q mcp==2.3.0
cat >call.py <<'P'
import asyncio
from mcp import Client
from mcp.server.mcpserver import MCPServer

server = MCPServer("rewards")

@server.tool()
def reward(text: str) -> float:
    return float(text)

async def main():
    async with Client(server) as client:
        for text in ("1.5", "nan", "inf"):
            try:
                print((await client.call_tool("reward", {"text": text})).structured_content)
            except RuntimeError as error:
                print(str(error).splitlines()[0])

asyncio.run(main())
P
seen=$(venv/bin/python call.py 2>/dev/null); echo "$seen"
[ "$seen" = "{'result': 1.5}
Invalid structured content returned by tool reward: None is not of type 'number'
Invalid structured content returned by tool reward: None is not of type 'number'" ]
