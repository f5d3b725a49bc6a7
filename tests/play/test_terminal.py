"""Play in the terminal, line by line."""

from __future__ import annotations

import asyncio

import pytest
from play.world import ESCAPE

from collab_overcooked.play.terminal import LineScreen, changed_lines, play_here
from collab_overcooked.runner.replay import first_difference


def test_lines_play_a_whole_game(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    value, message = iter(["?", "", "p", "m", "say over here", "1", "nonsense", *["2"] * 200]), []
    asyncio.run(LineScreen(session, lambda prompt: next(value), message.append).run())
    (record,) = session.records
    assert first_difference(record) is None and record.people["agent_0"].interface == "terminal"
    displayed = "\n".join(message)
    assert session.env.game.manual()[:40] in displayed and "Refused: nonsense" in displayed
    assert record.steps[0].messages[0].say == "over here"
    assert record.steps[0].action_texts[0] == "fix the generator", "the likeliest action has the number 1"
    assert message[-1] in ("Over.", session.env.game.id) or "turns" in displayed


def test_the_end_of_input_leaves(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    asyncio.run(LineScreen(session, lambda prompt: None, lambda text: None).run())
    assert session.records == [] and (session.folder.path / "aborted.jsonl").exists()


def test_lines_tell_what_has_changed_and_the_rest_when_asked(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    value, message = iter(["", "1", "t", *["1"] * 200]), []
    asyncio.run(LineScreen(session, lambda prompt: next(value), message.append).run())
    states = [text for text in message if text.startswith("\n")]
    first, second = states[0].strip().split("\n"), states[1].strip().split("\n")
    assert len(first) > len(second) >= 1 and not set(first) & set(second)
    full = message[message.index(states[1]) :]
    assert any(set(second) < set(text.split("\n")) and len(text.split("\n")) == len(first) for text in full)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("a\nb\nc", "a\nx\nc", "x"),
        ("a\nb", "a\nb\nc", "c"),
        ("a\n\nb\nc", "a", "No longer: b\nNo longer: c"),
        ("a\nb", "a\nb", "Nothing has changed."),
    ],
)
def test_changed_lines(before: str, after: str, message: str) -> None:
    assert changed_lines(before, after) == message


def test_a_game_for_keys_is_played_line_by_line_in_turns(make_session, monkeypatch) -> None:
    from collab_overcooked.play import terminal

    value = iter(["Enter", *["1"] * 400])
    monkeypatch.setattr(terminal, "input_line", lambda prompt: next(value))
    session = make_session(["agent_0=person", "agent_1=greedy"])
    play_here(session)
    (record,) = session.records
    assert record.people["agent_0"].clock == "turns" and first_difference(record) is None
    with pytest.raises(ValueError, match="clock: a terminal"):
        play_here(make_session(["agent_0=person", "agent_1=greedy"], how={"clock": "ticks"}))


def test_options_of_play_have_different_names() -> None:
    from collab_overcooked.cli.app import commands, prepare

    for name in ("overcooked", "cuisineworld"):
        prepare(["play", name])
        flags = [
            switch
            for one in commands["play"][name].assemble_argument_collection()
            for switch in one.names
            if switch != "*"
        ]
        assert len(flags) == len(set(flags)) and {"--show-replay", "--no-replay", "--replay"} <= set(flags)


def test_a_terminal_is_for_one_person(make_session) -> None:
    with pytest.raises(ValueError, match="one person"):
        play_here(make_session(["all=person"], **ESCAPE))
