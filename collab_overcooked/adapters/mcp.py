"""MCP: seats as tools, for assistants and coding agents.

    python -m collab_overcooked.adapters.mcp --suite collab-capture --team agent_0=llm:me agent_1=greedy

serves the open seat over stdio. With ``--port`` every open seat has an address of its own, ``/mcp/TOKEN``, where the
token is printed once: several clients sit at one table. Tools and resources show what the seat may know and nothing of
other seats, state or seed. Tested with mcp 2.3.0.
"""

from __future__ import annotations

import argparse
import json
import secrets
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import anyio.to_thread
from mcp.server import MCPServer

from collab_overcooked.adapters.sitting import Sitting, Turn
from collab_overcooked.adapters.table import NotAsked, Table, check_seconds, only_seat
from collab_overcooked.policies.api import Seen
from collab_overcooked.policies.llm.images import Picture

INSTRUCTIONS = (
    "You sit in a cooperative game. Read the manual, then look, act, and go on until the episode is over. If others "
    "are still choosing, wait."
)
MAX_WAIT = 60.0  # seconds of one call
PATIENCE = 30.0  # seconds that an answer waits for the next question
LEFT = "You have left."
NO_RECIPE = "Your seat has no recipe beside what its state says."
WAITING = "Other seats are still choosing; call wait."
UNKNOWN = "Nothing is known yet; it will be once this seat is asked for the first time."


class SeatTools:
    """Tools and resources of one seat; docstrings are what clients read.

    Args:
        table: A table that was started.
        seat: An open seat.
    """

    def __init__(self, table: Table, seat: int) -> None:
        self._table, self._seat = table, seat
        self._rules = ""
        self._seen: Seen | None = None
        self._left = False

    async def look(self) -> str:
        """Read the current state and the actions that are possible now."""
        return await anyio.to_thread.run_sync(self._wait, 0.0)

    async def act(self, answer: str) -> str:
        """Answer with the number or the text of an action, or in the form that the state asks for."""
        return await anyio.to_thread.run_sync(self._answer, answer)

    async def reply(self, answer: str) -> str:
        """Answer a teammate's message, in the form that the state asks for."""
        return await anyio.to_thread.run_sync(self._answer, answer)

    async def wait(self, seconds: float = PATIENCE) -> str:
        """Wait until it is your turn or the episode is over, at most 60 seconds."""
        return await anyio.to_thread.run_sync(self._wait, seconds)

    async def leave(self) -> str:
        """Leave the table; the others play on without you."""
        if not self._left:
            self._left = True
            await anyio.to_thread.run_sync(self._table.leave, self._seat)
        return LEFT

    async def manual(self) -> str:
        """Rules of the game as the seat may know them."""
        await self.look()
        return self._rules or UNKNOWN

    async def recipe(self) -> str:
        """Recipe of the order, only for a seat that knows it."""
        await self.look()
        if self._seen is None:
            return UNKNOWN
        return self._seen.view.recipe or NO_RECIPE

    async def picture(self) -> bytes:
        """The last state that the seat was asked about, as it sees it."""
        await self.look()
        return Picture(self._seen.view.picture).png if self._seen is not None else b""

    def _wait(self, seconds: float) -> str:
        if self._left:
            return LEFT
        turn = self._table.wait(self._seat, min(max(check_seconds(seconds), 0.0), MAX_WAIT))
        return WAITING if turn is None else self._text(turn)

    def _answer(self, text: str) -> str:
        if self._left:
            return LEFT
        try:
            self._table.answer(self._seat, text)
        except NotAsked:
            return self._wait(0.0)
        return self._wait(PATIENCE)

    def _text(self, turn: Turn) -> str:
        if turn.done:
            return f"The episode is over. {json.dumps(dict(turn.info['metrics']))}"
        self._rules, self._seen = turn.messages[0]["content"], self._table.sitting.seen
        return turn.text


def make_server(table: Table | Sitting, seat: int | None = None) -> MCPServer:
    """Return a server for one seat.

    Args:
        table: A table that was started, or a sitting, which is started.
        seat: An open seat; None for the only one.
    """
    if isinstance(table, Sitting):
        table = Table(table)
        table.start()
    seat = only_seat(table) if seat is None else seat
    if seat not in table.seats:
        raise ValueError(f"seat must be one of {', '.join(map(str, table.seats))}, the open seats, not {seat!r}")
    tools = SeatTools(table, seat)
    server = MCPServer("collab-overcooked", instructions=INSTRUCTIONS)
    for tool in (tools.look, tools.act, tools.reply, tools.wait, tools.leave):
        server.tool()(tool)
    server.resource("kitchen://manual")(tools.manual)
    server.resource("kitchen://recipe")(tools.recipe)
    server.resource("kitchen://picture", mime_type="image/png")(tools.picture)
    return server


class SeatServers:
    """MCP servers of all seats of a table, for mounting into a Starlette application such as the play server.

    Args:
        table: A table that was started.

    Attributes:
        paths: Address path of each open seat; the last part is its secret token.
    """

    def __init__(self, table: Table) -> None:
        self._servers: Mapping[int, MCPServer] = {seat: make_server(table, seat) for seat in table.seats}
        self.paths = {seat: f"/mcp/{secrets.token_urlsafe(16)}" for seat in table.seats}

    def routes(self) -> Sequence[Any]:
        """Return the Starlette routes; requests need ``running`` around the application."""
        from starlette.routing import Mount

        return [
            Mount(self.paths[seat], app=server.streamable_http_app(streamable_http_path="/"))
            for seat, server in self._servers.items()
        ]

    @asynccontextmanager
    async def running(self, app: Any = None) -> AsyncIterator[None]:
        """Run the sessions of all servers; the lifespan of an application that has only these routes."""
        async with AsyncExitStack() as stack:
            for server in self._servers.values():
                await stack.enter_async_context(server.session_manager.run())
            yield

    async def run_beside(self) -> None:
        """Run the sessions until cancelled: ``play.server.make_app(host, s.routes(), beside=[s.run_beside])``."""
        async with self.running():
            await anyio.sleep_forever()


def serve(table: Table, port: int) -> None:
    """Serve all open seats of a table over HTTP on the loopback and print the address of each."""
    import uvicorn
    from starlette.applications import Starlette

    seats = SeatServers(table)
    for seat, path in seats.paths.items():
        print(f"agent_{seat}: http://127.0.0.1:{port}{path}/", flush=True)
    uvicorn.run(Starlette(routes=list(seats.routes()), lifespan=seats.running), port=port, log_level="warning")


def main(arguments: Any = None) -> None:
    """Serve one match."""
    parser = argparse.ArgumentParser(description="Serve seats of a cooperative game over MCP.")
    parser.add_argument(
        "--suite", default="collab-capture", help="Suite, as printed by 'collab-overcooked list suites'."
    )
    parser.add_argument("--team", nargs="+", default=["agent_0=llm:me?agent=choose", "agent_1=greedy"])
    parser.add_argument("--seed", type=int, default=0, help="Seed of the suite.")
    parser.add_argument("--port", type=int, help="Serve every open seat over HTTP on this port. Default: stdio.")
    chosen = parser.parse_args(arguments)
    with Sitting.of_suite(chosen.suite, " ".join(chosen.team), seed=chosen.seed) as sitting:
        table = Table(sitting)
        table.start()
        if chosen.port is None:
            make_server(table).run("stdio")
        else:
            serve(table, chosen.port)


if __name__ == "__main__":
    main()
