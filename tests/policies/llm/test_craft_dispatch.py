"""A model that commands all agents of CraftKitchen, with scripted answers."""

from __future__ import annotations

import pytest

pytest.importorskip("jinja2", reason="needs the extra llm")

import collab_overcooked as co
from collab_overcooked.games.craft.policies.commands import Commands, demonstration
from collab_overcooked.policies.llm.answers import Unreadable
from collab_overcooked.runner.replay import first_difference

OPTIONS = {"env_id": "CraftKitchen-v0", "level": "house", "agents": 2, "max_cycles": 4}
FIRST = "1. goto(bot1, 'chicken')\n2. killMob(bot2, 'sheep')"


def test_one_model_commands_all_seats_and_hears_what_was_refused(play_team):
    reply = iter([FIRST, "killMob(bot1, 'chicken') wait(bot2)"])
    record, client = play_team(
        "llm:m?agent=dispatch,temperature=0,tokens=100", lambda _: next(reply, "wait(bot1)"), **OPTIONS
    )
    texts = [step.action_texts for step in record.steps]
    assert [text[0] for text in texts[:3]] == ["goto(chicken)", "killMob(chicken)", "wait()"]
    assert record.steps[0].errors[0].code == "F_TOO_FAR"
    assert "bot2 is too far away for killMob(bot2, 'sheep')" in client.asked[1].turns[-1].content
    first = client.asked[0].turns
    assert len(first) == 1 + 2 * len(demonstration(2))
    assert "cooked_chicken from chicken" in first[0].content and "Plan for bot1, bot2" in first[-1].content


@pytest.mark.parametrize(
    ("switch", "gone"), [("hints=off", "Hints:"), ("feedback=off", "Outcome of"), ("demo=off", "bot1, bot2: ")]
)
def test_switches_leave_something_out(play_team, switch, gone):
    _, client = play_team(f"llm:m?agent=dispatch,{switch}", lambda _: FIRST, **OPTIONS)
    turns = client.asked[1].turns
    assert (len(turns) == 3) if switch == "demo=off" else not any(gone in turn.content for turn in turns)


def test_the_window_is_as_long_as_history_says(play_team):
    for history in (0, 2):
        _, client = play_team(f"llm:m?agent=dispatch,demo=off,history={history}", lambda _: FIRST, **OPTIONS)
        assert [len(request.turns) for request in client.asked] == [1 + 2 * min(k, history) for k in range(4)]


def test_a_schema_offers_what_is_possible(play_team):
    _, client = play_team("llm:m?agent=dispatch,answer=schema", lambda _: {"bot1": "goto(bot1, 'chest')"}, **OPTIONS)
    offered = client.asked[0].schema["properties"]["bot1"]["enum"]
    assert "goto(bot1, 'chest')" in offered and "takeOutFurnace(bot1)" not in offered


def test_demonstrations_deliver_a_dish():
    for agents in (1, 2, 4):
        pairs = demonstration(agents)
        assert len(pairs) <= 20
        assert "Orders served: 1" in pairs[-1][0]
        assert all(sorted(Commands.read(commands, range(agents))) == list(range(agents)) for _, commands in pairs)


def test_commands_are_read_from_a_list_and_never_evaluated():
    result = Commands.read('GOTO(bot1,"chest"); `takeOutFurnace( bot2 )`, goto (bot1, furnace)', (0, 1))
    assert result == {0: "GOTO(bot1, 'chest')", 1: "takeOutFurnace(bot2)"}
    with pytest.raises(Unreadable):
        Commands.read('goto(bot1, "chest") __import__("os")', (0, 1))
    with pytest.raises(Unreadable):
        Commands.read("goto(bot9, 'chest') eval(bot1)", (0, 1))


@pytest.mark.parametrize(("written", "first"), [((1, 2), 0), ((2, 1), 1)])
def test_what_several_agents_want_goes_to_the_one_whose_command_is_written_first(play_team, written, first):
    go = "goto(bot1, 'chicken') goto(bot2, 'chicken')"
    kill = " ".join(f"killMob(bot{bot}, 'chicken')" for bot in written)
    reply = iter([go, kill])
    options = {**OPTIONS, "level": "field"}
    record, client = play_team("llm:m?agent=dispatch", lambda _: next(reply, "wait(bot1)"), **options)
    events = record.steps[1].events
    assert events[first].event == "KILL" and events[1 - first] is None
    assert record.steps[1].turn_order == ([1, 0] if first else [])
    assert f"bot{2 - first}: another agent got this" in client.asked[2].turns[-1].content
    assert first_difference(record) is None
    env = co.make(options["env_id"], level="field", agents=2)
    env.reset(seed=1)
    state, out = env.arrays
    for commands in (go, kill):
        report = env.game.command(state, out, commands.replace(") ", ")\n").split("\n"))
    assert report.obeyed == (True, False)  # a list of commands has the same order
