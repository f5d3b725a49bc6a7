"""End of an episode: what happened, what programs reach, the best so far, and who did what."""

from __future__ import annotations

import asyncio
import re
from dataclasses import replace
from typing import Any

import pytest
from play.fed import Feed, state, welcome
from play.world import ESCAPE, Player, first_legal, matches, play

from collab_overcooked import registry
from collab_overcooked.play.ending import par_of, summary_of
from collab_overcooked.play.rooms import matches_of, playable, rematch_of, with_rematch


def over(session: Any) -> dict[str, Any]:
    return play(session)[0].of_type("over")[0]


def test_the_end_says_who_was_caught_where_and_counts_what_everybody_did(make_session) -> None:
    session = make_session(["all=person"], **ESCAPE)
    result, (record,) = over(session), session.records
    caught = {(seat, event.room) for step in record.steps for seat, event in enumerate(step.events) if event.caught}
    assert caught, "the killer catches those who only take the first action"
    names = ("Alice", "Bob")
    assert {f"The killer caught {names[seat]} in room {room}." for seat, room in caught} <= set(result["happened"])
    assert [sum(counts[:2]) for counts in result["did"]] == [len(record.steps)] * 2
    assert [counts[2] for counts in result["did"]] == [0, 0]


@pytest.mark.parametrize("game", playable())
def test_the_last_sentence_says_how_an_episode_of_every_game_ended(game: str) -> None:
    match = matches_of(game)[0]
    endings = {}
    for policy in ("greedy", "random"):
        record, *_ = replace(match, team=(policy,) * len(match.team)).run()
        happened = summary_of(registry.make(game, **match.env_kwargs).game, record, [])["happened"]
        assert happened and not re.search(r"[{}]|None", " ".join(happened))
        assert all(sentence.endswith(".") for sentence in happened)
        endings[policy] = happened
        signatures = [event.signature for step in record.steps for event in step.events if event is not None]
    decisive = registry.suite_of(record).decisive
    assert not decisive or len(endings["greedy"]) > 1, "what the best player does decides something"
    assert endings["greedy"] != endings["random"]
    if "Rush" in game:
        env = registry.make(game, **match.env_kwargs)
        env.reset(seed=0)
        view = env.game.seen(env.arrays[0], 0, 0)
        events = [event for step in record.steps for event in step.events if event is not None]
        assert {view.event_label(event.label) for event in events} <= set(view.action_labels.values())
    if game == "AlienRush-v0":
        assert any("Cheeseburger" in signature for signature in signatures)
        assert "Cheeseburger" not in str(endings), "it is named as in the other world"


def test_the_end_in_real_time_tells_seconds(make_session) -> None:
    def tap(message: dict[str, Any]) -> dict[str, Any] | None:
        moved = message["type"] == "frame" and message["timestep"] == 2
        return {"type": "tap", "key": "left"} if moved else first_legal(message)

    session = make_session(["agent_0=person", "agent_1=greedy"])
    ending = play(session, tap)[0].of_type("over")[0]["happened"][-1]
    (record,) = session.records
    assert f"{round(record.timesteps * session.settings.tick, 1):g} s" in ending and "step" not in ending


def test_the_best_of_the_same_people_is_kept_over_rematches(make_session) -> None:
    session = make_session(["agent_0=person", "agent_1=greedy"], **ESCAPE)
    assert over(session)["best"] == ""
    following = rematch_of(session)
    assert over(following)["best"] and following.history == session.records


def test_a_program_plays_the_same_episode(make_session) -> None:
    session = with_rematch(make_session(["agent_0=person", "agent_1=greedy"], suite="collab-capture", episodes=1))

    async def story() -> list[dict[str, Any]]:
        player = Player(session, session.people[0], first_legal)
        playing = asyncio.create_task(player.run())
        await asyncio.wait_for(session.run(), 120)
        await playing
        await asyncio.wait_for(session._par, 300)
        return [message for message in player.send_queue._queue if message and message["type"] == "par"]

    (message,) = asyncio.run(story())
    (match,) = matches(["all=greedy"], suite="collab-capture", episodes=1)
    assert message["par"].startswith("caught after")
    assert message["par"] == asyncio.run(par_of(match, match.keys[0])), "on the same seed"


@pytest.mark.browser
def test_playing_again_comes_first(context, problems) -> None:
    feed = Feed(context)
    feed.open()
    result = {
        "outcome": "lost after 3 turns",
        "lost": True,
        "metrics": {},
        "replay": "replay/0",
        "next": "",
        "practice": False,
    }
    result |= {"happened": ["The killer caught Bob in room 2."], "best": "", "did": [[3, 0, 1], [1, 2, 0]]}
    rematch = {"type": "rematch", "offers": ["again"], "wishes": [], "waiting": [0], "missing": [], "link": ""}
    feed.send(welcome("seat", "turns", ""), state("closed", True, True))
    feed.send({"type": "over", "left": False, "more": False, **result}, rematch)
    feed.send({"type": "par", "par": "escaped after 9 turns"})
    text = feed.page.inner_text("#over")
    expected = ["Lost after 3", "Play again", "caught Bob in room 2", "Programs in all seats", "Watch the replay"]
    places = [text.lower().index(part.lower()) for part in expected]
    assert places == sorted(places) and problems == []
    assert feed.page.get_attribute("#outcome", "class") == "bad"
    assert feed.page.locator("#did tbody tr").all_inner_texts() == ["Alice\t3\t0\t1", "Bob\t1\t2\t0"]
    feed.send(welcome("seat", "turns", "", talks=False), {"type": "over", "left": False, "more": False, **result})
    rows = feed.page.locator("#did tr").all_inner_texts()
    assert rows[0].count("\t") == 2 and rows[1:] == ["Alice\t3\t0", "Bob\t1\t2"], "nobody could speak"
