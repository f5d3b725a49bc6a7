"""A game, or a study, that runs until somebody kills it: `python -m play.crash session|study FOLDER`."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from play.world import ESCAPE, QUICK, Player, first_legal, matches

from collab_overcooked.play.recording import PlayFolder
from collab_overcooked.play.session import Session
from collab_overcooked.play.settings import PlaySettings

EPISODES = 1000
BOTS = 4


def session(folder: Path) -> None:
    """Play episodes one after the other, and say of each that people have been told of its end."""
    kept = PlayFolder(folder, ESCAPE["suite"])
    playing = Session(
        matches(["agent_0=person", "agent_1=greedy"], **ESCAPE) * EPISODES, PlaySettings(**QUICK), folder=kept
    )

    def answer(message: dict[str, Any]) -> dict[str, Any] | None:
        if message["type"] == "over":
            print("over", flush=True)
        return first_legal(message)

    async def play() -> None:
        player = asyncio.create_task(Player(playing, playing.people[0], answer).run())
        await playing.run()
        await player

    asyncio.run(play())


def study(folder: Path) -> None:
    """Let bots take part in a study to its end; those who came before go on where they were."""
    from study.world import QUICK as STUDY

    from collab_overcooked.study.reader import read_study
    from collab_overcooked.study.rehearsal import rehearse

    print("begun", flush=True)
    result = rehearse(read_study(STUDY), BOTS, folder)
    print(*result.errors, dict(result.ends), sep="\n")


if __name__ == "__main__":
    {"session": session, "study": study}[sys.argv[1]](Path(sys.argv[2]))
