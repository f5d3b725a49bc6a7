"""Play CollabEscape over MCP, two clients per table, in the process and beside the play server; prints JSON."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time

import mcp
import uvicorn
from greedy import ALL, EPISODES, SUITE, Greedy

from collab_overcooked.adapters.mcp import WAITING, SeatServers, make_server
from collab_overcooked.adapters.sitting import Sitting
from collab_overcooked.adapters.table import Table
from collab_overcooked.play.host import Host
from collab_overcooked.play.server import make_app

OVER = "The episode is over. "
greedy = Greedy()


async def call(client: mcp.Client, tool: str, **arguments: object) -> str:
    return (await client.call_tool(tool, arguments)).content[0].text


async def play(server: object) -> str:
    """Play the seat of a server; returns its last text."""
    async with mcp.Client(server) as client:
        text, rules = await call(client, "look"), ""
        while not text.startswith(OVER):
            if text == WAITING:
                text = await call(client, "wait", seconds=5)
                continue
            rules = rules or (await client.read_resource("kitchen://manual")).contents[0].text
            text = await call(client, "act", answer=greedy([{"content": rules}, {"content": text}]))
        return text


async def play_all() -> None:
    for match in range(EPISODES):
        with Sitting.of_suite(SUITE, ALL, match, episodes=EPISODES, records=sys.argv[1]) as sitting:
            table = Table(sitting)
            table.start()
            await asyncio.gather(*(play(make_server(table, seat)) for seat in table.seats))


async def look_around() -> dict[str, object]:
    """Return tools and resources of the seats of a kitchen, one of which knows the recipe."""
    team = "all=llm:me?agent=choose"
    with Sitting.of_suite("collab-overcooked", team, levels="1") as sitting:
        table, seen = Table(sitting), {}
        table.start()
        clients = [mcp.Client(make_server(table, seat)) for seat in table.seats]
        async with clients[0] as chef, clients[1] as helper:
            waiting = await call(helper, "look")
            before = (await helper.read_resource("kitchen://recipe")).contents[0].text
            assert "Actions:" in await call(chef, "look")
            await call(chef, "act", answer="1")
            for name, client in (("chef", chef), ("helper", helper)):
                seen[name] = (await client.read_resource("kitchen://recipe")).contents[0].text
            picture = (await chef.read_resource("kitchen://picture")).contents[0]
            tools = sorted(tool.name for tool in (await chef.list_tools()).tools)
            resources = sorted(str(resource.uri) for resource in (await chef.list_resources()).resources)
            left = [await call(chef, "leave"), await call(chef, "act", answer="1")]
    return {"tools": tools, "resources": resources, "recipes": seen, "before": before, "waiting": waiting} | {
        "picture": [picture.mime_type, picture.blob[:8]],
        "left": left,
    }


def beside_the_play_server() -> list[str]:
    """Play both seats over HTTP at the address of the play server; returns how it ended for each."""
    table = Table(Sitting.of_suite(SUITE, ALL, episodes=EPISODES))
    table.start()
    seats = SeatServers(table)
    listening = socket.create_server(("127.0.0.1", 0))
    app = make_app(Host(), routes=seats.routes(), beside=[seats.run_beside])
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"

    async def both() -> list[str]:
        return list(await asyncio.gather(*(play(f"{url}{path}/") for path in seats.paths.values())))

    ends = asyncio.run(both())
    table.close()
    return ends


asyncio.run(play_all())
print(json.dumps(asyncio.run(look_around()) | {"ends": beside_the_play_server()}))
