"""MCP: one seat as tools, for assistants and coding agents.

    python -m collab_overcooked.adapters.mcp --suite collab-capture --team agent_0=llm:me agent_1=greedy

serves the open seat over stdio. Tools and resources show what the seat may know and nothing of other seats, state or
seed. Tested with mcp 2.3.0.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import anyio
import anyio.to_thread
from mcp.server import MCPServer

from collab_overcooked.adapters.seat_client import SeatClient
from collab_overcooked.policies.llm.images import Picture

INSTRUCTIONS = "You play one seat of a cooperative game. Read the manual, look, and act until the episode is over."
NO_RECIPE = "Your seat has no recipe beside what its state says."


class SeatTools:
    """Tools and resources of one seat; clients read the docstrings.

    Args:
        client: A match with one open seat, which is started.

    Raises:
        ValueError: If several seats are open.
    """

    def __init__(self, client: SeatClient) -> None:
        if len(client.seats) > 1:
            raise ValueError(f"team {' '.join(client.match.team)!r}: exactly one seat must be open")
        self._client, self._turn = client, client.start()
        self._rules = self._turn.messages[0]["content"] if self._turn.messages else ""
        self._one_at_a_time = anyio.Lock()

    async def look(self) -> str:
        """Read the current state and the actions that are possible now."""
        if self._turn.done:
            return f"The episode is over. {json.dumps(dict(self._turn.info['metrics']))}"
        return self._turn.text

    async def act(self, answer: str) -> str:
        """Answer with the number or the text of an action, or in the form that the state asks for."""
        async with self._one_at_a_time:
            if not self._turn.done:
                self._turn = await anyio.to_thread.run_sync(self._client.step, answer)
        return await self.look()

    async def manual(self) -> str:
        """Rules of the game as the seat may know them."""
        return self._rules

    async def recipe(self) -> str:
        """Recipe of the order, only for a seat that knows it."""
        seen = self._client.seen
        return (seen.view.recipe if seen is not None else None) or NO_RECIPE

    async def picture(self) -> bytes:
        """The current state as the seat sees it; empty after the end, and where no action is asked for."""
        seen = self._client.seen
        return Picture(seen.view.picture).png if seen is not None else b""


def make_server(client: SeatClient) -> MCPServer:
    """Return a server for the open seat of a match, which is started.

    Args:
        client: A match with one open seat.

    Raises:
        ValueError: If several seats are open.
    """
    tools = SeatTools(client)
    server = MCPServer("collab-overcooked", instructions=INSTRUCTIONS)
    server.tool()(tools.look)
    server.tool()(tools.act)
    server.resource("kitchen://manual")(tools.manual)
    server.resource("kitchen://recipe")(tools.recipe)
    server.resource("kitchen://picture", mime_type="image/png")(tools.picture)
    return server


def main(arguments: Any = None) -> None:
    """Serve one match."""
    parser = argparse.ArgumentParser(description="Serve a seat of a cooperative game over MCP.")
    parser.add_argument(
        "--suite", default="collab-capture", help="Suite, as printed by 'collab-overcooked list suites'."
    )
    parser.add_argument("--team", nargs="+", default=["agent_0=llm:me?agent=choose", "agent_1=greedy"])
    parser.add_argument("--seed", type=int, default=0, help="Seed of the suite.")
    chosen = parser.parse_args(arguments)
    with SeatClient.of_suite(chosen.suite, " ".join(chosen.team), seed=chosen.seed) as client:
        make_server(client).run("stdio")


if __name__ == "__main__":
    main()
