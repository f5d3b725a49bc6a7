"""MCP: a seat as tools, for assistants and coding agents.

    python -m collab_overcooked.adapters.mcp --suite collab-capture --team agent_0=llm:me agent_1=greedy

serves one table over stdio; ``make_server(sitting).streamable_http_app()`` is a Starlette application. Tools show what
the seat may know and nothing of other seats, state or seed. Tested with mcp 2.3.0.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

from mcp.server import MCPServer

from collab_overcooked.adapters.sitting import Sitting, Turn

INSTRUCTIONS = "You sit in a cooperative game. Read the manual, then look, act, and go on until the episode is over."


class Seat:
    """The current question of a table's open seat."""

    def __init__(self, sitting: Sitting) -> None:
        self.sitting = sitting
        self.turn: Turn = sitting.start()
        self.manual = self.turn.messages[0]["content"]

    def text(self) -> str:
        """Return the state, or how the episode ended."""
        if not self.turn.done:
            return self.turn.text
        return f"The episode is over. {json.dumps(dict(self.sitting.metrics))}"


def make_server(sitting: Sitting) -> MCPServer:
    """Return a server whose tools play the open seat of a sitting."""
    seat = Seat(sitting)
    server = MCPServer("collab-overcooked", instructions=INSTRUCTIONS)

    @server.tool()
    def look() -> str:
        """Read the current state and the actions that are possible now."""
        return seat.text()

    @server.tool()
    def act(answer: str) -> str:
        """Answer with the number or the text of an action, or in the form that the state asks for."""
        if not seat.turn.done:
            seat.turn = sitting.step(answer)
        return seat.text()

    @server.tool()
    def leave() -> str:
        """Leave the table; the episode ends."""
        sitting.close()
        seat.turn = Turn("", (), {}, -1, True, 0.0, {})
        return "You have left."

    @server.resource("kitchen://manual")
    def manual() -> str:
        """Rules of the game as the seat may know them."""
        return seat.manual

    return server


def main(arguments: Any = None) -> None:
    """Serve one job over stdio."""
    parser = argparse.ArgumentParser(description="Serve a seat of a cooperative game over MCP (stdio).")
    parser.add_argument(
        "--suite", default="collab-capture", help="Suite, as printed by 'collab-overcooked list suites'."
    )
    parser.add_argument("--team", nargs="+", default=["agent_0=llm:me?agent=choose", "agent_1=greedy"])
    parser.add_argument("--seed", type=int, default=0, help="Seed of the suite.")
    chosen = parser.parse_args(arguments)
    with Sitting.of_suite(chosen.suite, " ".join(chosen.team), seed=chosen.seed) as sitting:
        make_server(sitting).run("stdio")


if __name__ == "__main__":
    main()
