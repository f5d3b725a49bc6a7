"""Play in the terminal: line by line, and on a full screen."""

from __future__ import annotations

import asyncio

import pytest
from play.world import ESCAPE

from collab_overcooked.play import screen
from collab_overcooked.play.terminal import LineScreen, play_here
from collab_overcooked.runner.replay import first_difference


def test_lines_play_a_whole_game(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    given, told = iter(["?", "p", "m", "say over here", "1", "nonsense", *["2"] * 200]), []
    asyncio.run(LineScreen(session, lambda prompt: next(given), told.append).run())
    (record,) = session.records
    assert first_difference(record) is None and record["people"]["agent_0"]["interface"] == "terminal"
    shown = "\n".join(told)
    assert session.env.game.manual()[:40] in shown and "Refused: nonsense" in shown
    assert record["steps"][0]["messages"][0]["say"] == "over here" and record["steps"][0]["action_texts"][0] == "wait"
    assert told[-1] in ("Over.", session.env.game.id) or "turns" in shown


def test_the_end_of_input_leaves(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    asyncio.run(LineScreen(session, lambda prompt: None, lambda text: None).run())
    assert session.records == [] and (session.folder.path / "aborted.jsonl").exists()


def test_a_terminal_is_for_one_person(make_session) -> None:
    with pytest.raises(ValueError, match="one person"):
        play_here(make_session(["all=person"], **ESCAPE), lines=True)


def test_the_full_screen_in_turns(make_session) -> None:
    pytest.importorskip("textual", reason="needs the extra screen")
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    app = screen.make_screen(session)

    async def story() -> None:
        async with app.run_test(size=(110, 40)) as pilot:
            for _ in range(400):
                await pilot.pause(0.01)
                if session.state == "closed":
                    break
                if app.hand._question is not None:
                    await pilot.press("down", "enter")
            assert "Ctrl+Q" in str(app.query_one("#status").render())

    asyncio.run(story())
    assert session.records and first_difference(session.records[0]) is None


def test_the_full_screen_in_real_time(make_session) -> None:
    pytest.importorskip("textual", reason="needs the extra screen")
    session = make_session(["agent_0=person", "agent_1=greedy"], how={"tick": 0.1})
    app = screen.make_screen(session)

    async def story() -> None:
        async with app.run_test(size=(110, 40)) as pilot:
            for _ in range(400):
                await pilot.pause(0.01)
                if session.state == "closed":
                    break
                if app.hand._ready:
                    await pilot.press("enter")
                elif session.state == "playing":
                    await pilot.press("right")

    asyncio.run(story())
    assert "east" in {step["action_texts"][0] for step in session.records[0]["steps"]}
