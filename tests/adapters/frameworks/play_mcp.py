"""Play CollabEscape over MCP, one seat beside greedy, and look at what a seat of a kitchen may know; prints JSON."""

from __future__ import annotations

import asyncio
import json
import sys

import mcp
from greedy import EPISODES, ONE, SUITE, Greedy

from collab_overcooked.adapters.mcp import make_server
from collab_overcooked.adapters.seat_client import SeatClient

OVER = "The episode is over. "
greedy = Greedy()


async def call(client: mcp.Client, tool: str, **arguments: object) -> str:
    return (await client.call_tool(tool, arguments)).content[0].text


async def read(client: mcp.Client, name: str) -> object:
    return (await client.read_resource(f"kitchen://{name}")).contents[0]


async def play(seat_client: SeatClient) -> str:
    """Play the open seat of a match; returns the last text."""
    async with mcp.Client(make_server(seat_client)) as client:
        text, rules = await call(client, "look"), (await read(client, "manual")).text
        while not text.startswith(OVER):
            text = await call(client, "act", answer=greedy([{"content": rules}, {"content": text}]))
        assert await call(client, "act", answer="1") == text, "nothing happens after the end"
        return text


async def play_all() -> list[str]:
    ends = []
    for match in range(EPISODES):
        with SeatClient.of_suite(SUITE, ONE, match, episodes=EPISODES, records=sys.argv[1]) as seat_client:
            ends.append(await play(seat_client))
    return ends


async def look_around() -> dict[str, object]:
    """Return tools and resources of the seats of a kitchen, one of which knows the recipe."""
    recipes = {}
    for name, team in (("chef", "agent_0=llm:me all=greedy"), ("helper", "agent_1=llm:me all=greedy")):
        with SeatClient.of_suite("collab-overcooked", team, levels="1") as seat_client:
            async with mcp.Client(make_server(seat_client)) as client:
                assert await call(client, "look")
                recipes[name] = (await read(client, "recipe")).text
                tools = sorted(tool.name for tool in (await client.list_tools()).tools)
                resources = sorted(str(resource.uri) for resource in (await client.list_resources()).resources)
                picture = await read(client, "picture")
    seen = {"tools": tools, "resources": resources, "recipes": recipes}
    return seen | {"picture": [picture.mime_type, picture.blob[:8]]}


print(json.dumps({"ends": asyncio.run(play_all())} | asyncio.run(look_around())))
