from __future__ import annotations

import re

import pytest
from msgspec import structs

from collab_overcooked.games.cuisineworld.text.text import ALL_IDLE

pytest.importorskip("jinja2", reason="needs the extra llm")

import collab_overcooked as co
from collab_overcooked import registry
from collab_overcooked.games.craft.policies.commands import Commands as CraftCommands
from collab_overcooked.games.cuisineworld.policies.commands import Commands, demonstration
from collab_overcooked.policies.llm.answers import Unreadable
from collab_overcooked.runner.records import check_record
from collab_overcooked.runner.replay import first_difference

OPTIONS = {"env_id": "CuisineWorld-v0", "level": "level_3", "agents": 2, "max_cycles": 5}


def idle(request):
    return "noop_agent0\nnoop_agent1"


def test_one_mind_commands_all_seats(play_team):
    reply = iter(["1. goto_agent0_storage0\n2. goto_agent1_pot0", "get_agent0_tuna_storage0 noop_agent1"])
    record, client = play_team("llm:m", lambda request: next(reply, "noop_agent0"), **OPTIONS)
    assert [step.action_texts for step in record.steps][:2] == [
        ["goto storage0", "goto pot0"],
        ["get tuna storage0", "noop"],
    ]
    assert len(client.asked) == 5 == record.accounts["agent_0"].calls
    assert record.accounts["agent_1"].calls == 0


def test_the_order_of_the_messages(play_team):
    _, client = play_team("llm:m", idle, **OPTIONS)
    roles = [turn.role for turn in client.asked[4].turns]
    assert roles == ["user", "assistant"] * ((len(roles) - 1) // 2) + ["user"]
    first = client.asked[0].turns
    assert len(first) == 1 + 2 * len(demonstration(2))
    assert "goto_agentN_TOOL" in first[0].content and "There are 2 agents" in first[-1].content
    assert len(client.asked[4].turns) == len(first) + 2 * 2  # two earlier pairs at most
    assert "current game step: 2" in client.asked[4].turns[-5].content
    assert "current game step: 4" in client.asked[4].turns[-1].content
    assert client.asked[4].schema is None


def test_refused_commands_are_reported_in_the_next_step(play_team):
    _, client = play_team("llm:m", lambda request: "goto_agent0_nowhere\nactivate_agent1_pot0", **OPTIONS)
    first, second = (request.turns[-1].content for request in client.asked[:2])
    assert "  --  []" in first
    assert "unknown location 'nowhere'" in second and "agent1 is not located in pot0" in second
    assert len(client.asked) == 5  # nothing is asked again within a step


@pytest.mark.parametrize("idle_error", [True, False])
def test_idleness_of_all_is_an_error_for_the_original_only(play_team, idle_error):
    _, client = play_team("llm:m", idle, **OPTIONS, idle_error=idle_error)
    assert (ALL_IDLE in client.asked[1].turns[-1].content) == idle_error


@pytest.mark.parametrize("spec", ["llm:m", "llm:m?agent=choose"])
def test_both_prompts_explain_tools_at_work(play_team, spec):
    _, client = play_team(spec, idle, **OPTIONS)
    rules = client.asked[0].turns[0].content
    assert "occupy(TOOL) says that a tool is at work" in rules and "already holds is lost" in rules
    assert "pot 3; chopboard 1, in which its agent is busy too. Other tools are done at once." in rules


def test_orders_without_time_left_are_not_listed(play_team):
    _, client = play_team("llm:m", idle, **OPTIONS | {"max_cycles": 40})
    listed = {int(number) for prompt in client.last for number in re.findall(r"lifetime: (-?\d+)", prompt)}
    assert 1 in listed and 0 not in listed
    env = co.make("CuisineWorld-v0", level="level_3", agents=2)
    env.reset(seed=0, options={"state": {"orders": [{"name": "tunaSushi", "remaining": 0}]}})
    assert "tunaSushi" not in env.describe("agent_0") + env.seen("agent_0").surroundings
    env = co.make("CuisineWorld-v0", level="level_3", agents=2, show_lost=True)
    env.reset(seed=0, options={"state": {"orders": [{"name": "tunaSushi", "remaining": 0}]}})
    assert "name: tunaSushi lifetime: 0" in env.describe("agent_0"), "as the original prints it"


@pytest.mark.parametrize(
    ("game", "praise", "options"),
    [
        (Commands, "-served since the last commands:", {**OPTIONS, "level": "level_0", "max_cycles": 40}),
        (CraftCommands, "served since then:", {"env_id": "CraftKitchen-v0", "level": "field", "agents": 2}),
    ],
)
def test_what_was_served_is_reported_once_in_the_next_step(play_team, game, praise, options):
    """The teammate serves while the model commands one agent to wait."""
    mate = ["greedy", "llm:m?agent=dispatch"]
    _, client = play_team(mate, lambda request: game.idle(1), **options)
    texts = [request.turns[-1].content for request in client.asked]
    praised = [i for i, text in enumerate(texts) if praise in text]
    assert praised and praised[0] > 0 and len(praised) < len(texts) / 2
    _, client = play_team(["greedy", "llm:m?agent=dispatch,feedback=off"], lambda request: game.idle(1), **options)
    assert not any(praise in request.turns[-1].content for request in client.asked)


@pytest.mark.parametrize(
    ("switch", "gone"),
    [("hints=off", "Hints:"), ("feedback=off", "-execution error messages"), ("demo=off", "current game level: demo")],
)
def test_ablations_leave_something_out(play_team, switch, gone):
    _, full = play_team("llm:m", idle, **OPTIONS)
    _, without = play_team(f"llm:m?{switch}", idle, **OPTIONS)
    assert any(gone in turn.content for turn in full.asked[1].turns)
    assert not any(gone in turn.content for turn in without.asked[1].turns)


def test_the_demonstration_can_be_cut_or_show_another_team(play_team):
    _, few = play_team("llm:m?demo=few", idle, **OPTIONS)
    assert len(few.asked[0].turns) == 1 + 2 * 2
    _, other = play_team("llm:m?demo_agents=4,history=0", idle, **OPTIONS)
    assert "noop_agent3" in other.asked[0].turns[1].content or "agent3" in other.asked[0].turns[1].content
    assert len(other.asked[4].turns) == len(other.asked[0].turns)


@pytest.mark.parametrize(("agents", "states"), [(1, 14), (2, 10), (3, 10), (4, 10)])
def test_demonstrations_serve_their_dish(agents, states):
    pairs = demonstration(agents)
    assert len(pairs) == states
    assert "Meatcake" in pairs[-1][0].partition("-accomplished task:")[2]
    for _, commands in pairs:
        assert sorted(Commands.read(commands, range(agents))) == list(range(agents))


def test_seats_of_others_are_not_commanded(play_team):
    record, client = play_team(["greedy", "llm:m"], lambda request: "goto_agent0_pot0\ngoto_agent1_pot1", **OPTIONS)
    assert record.steps[0].action_texts[1] == "goto pot1"
    assert "Give one command to each of agent 1 " in client.asked[0].turns[0].content


def test_with_a_schema_only_possible_commands_are_offered(play_team):
    _, client = play_team("llm:m?answer=schema", lambda request: {"agent0": "goto_agent0_pot0"}, **OPTIONS)
    offered = client.asked[0].schema["properties"]
    assert sorted(offered) == ["agent0", "agent1"]
    assert (
        "goto_agent1_storage0" in offered["agent1"]["enum"] and "activate_agent1_pot0" not in offered["agent1"]["enum"]
    )


@pytest.mark.parametrize("reply", ["", "no idea", "goto_agent9_pot0", "x" * 99_999, "noop_agent" + "9" * 999])
def test_no_answer_breaks_the_game(play_team, reply):
    record, _ = play_team("llm:m?repairs=0", lambda request: reply, **OPTIONS)
    assert {text for step in record.steps for text in step.action_texts} == {"noop"}
    assert record.accounts["agent_0"].trouble == {"unreadable": 5}


ONE, OTHER = "goto_agent1_pot0", "get_agent0_tuna_storage0"


@pytest.mark.parametrize(
    "text",
    [
        f"{ONE}\n{OTHER}",
        f"{ONE}, {OTHER}.",
        f"1. `{ONE}`\n\n2. `{OTHER}`",
        f"- {ONE}  # to the pot\n- {OTHER}",
        f"agent1: Goto_agent1_pot0\nagent0: {OTHER}",
        f"Commands: {ONE} {OTHER}",
        f"['{ONE}', '{OTHER}']",
        f"I will not goto_agent0_storage0.\n\n{ONE}\n{OTHER}\n\nThat serves tuna soon.",
        f"noop_agent0\nwould be wasteful, so:\n{ONE}\n{OTHER}",
        f"```\n{ONE}\n{OTHER}\n```\nIf that fails:\nnoop_agent0",
        f"{ONE}\n{OTHER}\nput_agent1_pot0",
        f'{{"agent1": "{ONE}", "agent0": "{OTHER}"}}',
    ],
)
def test_a_list_of_commands_is_read(text):
    assert Commands.read(text, [0, 1]) == {1: ONE, 0: OTHER}


@pytest.mark.parametrize(
    "text",
    [
        "I will not goto_agent0_storage0 ... So: goto_agent0_pot0",
        "First Goto_agent1_pot0, then: get_agent0_tuna_storage0!",
        "Should agent 0 goto_agent0_storage0?",
        "goto_agent0_pot0 is a bad idea",
    ],
)
def test_commands_within_prose_are_none(text):
    with pytest.raises(Unreadable, match="Write one command for each agent, a line each, such as noop_agent0"):
        Commands.read(text, [0, 1])


def test_commands_of_other_seats_are_no_answer():
    with pytest.raises(Unreadable, match="noop_agent1"):
        Commands.read("goto_agent0_pot0", [1])


class Walker:
    """Goes to the storage, whatever happens."""

    name = "walker"

    def reset(self, seat, info, seed):
        self.seat = seat

    def act(self, seen):
        return "goto storage0"

    def reply(self, seen):
        return None


def test_what_earlier_seats_have_chosen_is_shown(play_team):
    _, client = play_team("llm:m", lambda request: "noop_agent1", mates={0: Walker()}, **OPTIONS)
    reply = client.asked[0].turns[-1].content
    assert reply.endswith("-commands of other agents in this step:\n  agent0: goto storage0\n-action:")
    _, client = play_team("llm:m", idle, **OPTIONS)
    assert all("commands of others" not in turn.content for request in client.asked for turn in request.turns)


def test_commands_that_are_not_carried_out_are_told_in_the_next_step(play_team):
    reply = iter(["goto_agent0_storage0\ngoto_agent0_pot0\nnoop_agent1\ngoto_agent7_pot0"])
    _, client = play_team("llm:m", lambda request: next(reply, idle(request)), **OPTIONS)
    first, second, third = (request.turns[-1].content for request in client.asked[:3])
    assert "was ignored" not in first and "was ignored" not in third
    assert "goto_agent0_pot0 was ignored: agent0 had a command already, goto_agent0_storage0." in second
    assert "goto_agent7_pot0 was ignored: there is no agent7." in second


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("goto_agent0_storage0\ngoto_agent0_pot0\ngoto_agent1_pot0", "agent ids cannot be the same"),
        ("goto_agent0_storage0\ngoto_agent1_nowhere", "for agent1, tool nowhere is not in the current game level"),
        ("goto_agent0_storage0\ngoto_agent7_pot0", "there is no agent7"),
        ("goto_agent7_pot0", "there is no agent7"),
        ("goto_agent0_storage0\ngoto_agent1", "goto of agent1 names no location"),
        ("goto_agent0_storage0\nactivate_agent1_x_pot0", ""),
    ],
)
def test_the_papers_preset_voids_lists_as_the_original_does(play_team, written, message):
    """No command of the list is carried out, and the message is that of ``env.command``."""
    preset = registry.presets()["mindagent"].options
    reply = iter([written])
    record, client = play_team(
        "llm:m?preset=mindagent", lambda request: next(reply, idle(request)), **OPTIONS, **preset
    )
    assert record.steps[0].action_texts == ["noop", "noop"]
    *_, sent, told = client.asked[1].turns
    assert sent.content.splitlines() == written.splitlines()[:2]
    assert message in told.content and "ignored" not in told.content and ALL_IDLE not in told.content
    env = co.make("CuisineWorld-v0", level="level_3", agents=2, **preset)
    env.reset(seed=0)
    report = env.command(written.splitlines())
    assert not any(report.obeyed) and all(line in told.content for line in report.feedback)


def test_the_papers_preset_tells_no_working_times(play_team):
    """Not to wait for a tool at work is the second failure that the paper names."""
    rules = {}
    for spec in ("llm:m", "llm:m?preset=mindagent"):
        _, client = play_team(spec, idle, **OPTIONS)
        rules[spec] = client.asked[0].turns[0].content
    assert "Steps for which a tool is at work" in rules["llm:m"]
    assert "Steps for which" not in rules["llm:m?preset=mindagent"]


def test_commands_for_seats_of_others_are_told_as_such(play_team):
    reply = iter(["noop_agent0 goto_agent1_pot0"])
    _, client = play_team("llm:m", lambda request: next(reply, "noop_agent1"), mates={0: Walker()}, **OPTIONS)
    assert "noop_agent0 was ignored: you do not command agent0." in client.asked[1].turns[-1].content


def raw_tuna_on_board(written):
    """Answers that bring tuna to the board by agent 1, while agent 0 waits there; then ``written``."""
    return iter(
        ["goto_agent1_storage0 goto_agent0_chopboard0", "get_agent1_tuna_storage0", "goto_agent1_chopboard0", written]
    )


@pytest.mark.parametrize(
    ("written", "turns", "works"),
    [
        ("put_agent1_chopboard0\nactivate_agent0_chopboard0", [1, 0], True),
        ("activate_agent0_chopboard0\nput_agent1_chopboard0", [], False),
    ],
)
def test_commands_are_carried_out_in_the_order_in_which_they_are_written(play_team, written, turns, works):
    reply = raw_tuna_on_board(written)
    record, client = play_team("llm:m?correct=off", lambda request: next(reply, "noop_agent0"), **OPTIONS)
    step = record.steps[3]
    assert step.turn_order == turns
    assert ([error.code for error in step.errors] == []) is works
    assert (step.events[0] is not None) is works and step.events[1].event == "PUT"
    assert client.asked[4].turns[-2].content == written  # the window shows the commands as they were carried out
    check_record(record)
    assert first_difference(record) is None
    if works:
        moved = record.replace(steps=[structs.replace(s, turn_order=[]) for s in record.steps])
        assert "events[0]" in first_difference(moved)


def test_a_person_acts_before_a_dispatcher_that_orders_its_own_agents(play_team):
    reply = iter(["goto_agent2_storage0 goto_agent1_chopboard0", "noop_agent2 goto_agent0_pot0 goto_agent1_pot0"])
    team = ["random", "llm:m", "llm:m"]
    record, _ = play_team(team, lambda request: next(reply, "noop_agent1"), **{**OPTIONS, "agents": 3})
    assert [step.turn_order for step in record.steps[:3]] == [[0, 2, 1], [0, 2, 1], []]


def test_a_turn_order_names_the_seats_of_the_game():
    env = co.make("CuisineWorld-v0", level="level_3", agents=2)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="each seat from 0 to 1 once"):
        env.set_turn_order([1])
    with pytest.raises(ValueError, match="fixed"):
        co.make("Overcooked-v0").set_turn_order([1, 0])
