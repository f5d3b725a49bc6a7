"""What prompts say is true: times, prices, units, free counters, plans of others, demonstrations."""

from __future__ import annotations

import re

import pytest
from support.hidden import reach

import collab_overcooked as co
from collab_overcooked.core.limits import Limits
from collab_overcooked.games.house.text.text import several
from collab_overcooked.games.overcooked.engine.constants import MEMORY, DirectiveHistory
from collab_overcooked.games.rooms.engine.constants import Player
from collab_overcooked.runner.conversation import Plans

pytest.importorskip("jinja2", reason="needs the extra llm")
CLOCKS = {
    "CollabOvercooked-v0": "timestep",
    "CraftKitchen-v0": "step",
    "CuisineWorld-v0": "step",
    "Overcooked-v0": "step",
    "Housework-v0": "time",
    "Transport-v0": "time",
    "CollabCapture-v0": "turn",
    "CollabEscape-v0": "turn",
    "KitchenRush-v0": "turn",
}


def last(request):
    """Choose the first of a numbered list that takes or puts something, else the last."""
    listed = re.findall(r"^(\d+)\. (.*)", request.turns[-1].content, re.MULTILINE)
    return {
        "action": int(next((k for k, text in listed if text.startswith(("take", "put"))), (listed or ["1"])[-1][0]))
    }


@pytest.mark.parametrize("env_id", CLOCKS)
def test_memory_has_the_clock_of_the_game(play_team, env_id):
    options = {} if env_id.startswith(("CollabC", "CollabE", "Kitchen")) else {"max_cycles": 20}
    options |= {"action_level": "medium"} if env_id == "Overcooked-v0" else {}
    _, client = play_team("llm:m?agent=choose,menu=legal,memory=3", last, env_id, **options)
    noun, count = CLOCKS[env_id], 0
    for prompt in client.last:
        assert not re.search(r"\b1 (?:more )?(?:step|turn|frame|move|fixe|fix|time)s\b", prompt)
        now = int(re.search(rf"(?i)\b{noun}:? (\d+)", prompt)[1])
        for line in re.findall(r"^What you did last: (.+)\.$", prompt, re.MULTILINE):
            times = re.findall(r"\((\w+) (\d+)(?: to (\d+))?\)(?:;|$)", line)
            assert times and all(name == noun for name, *_ in times)
            ended = env_id == "KitchenRush-v0" or noun == "time"  # actions end at this time
            assert all(int(two or one) <= now - (not ended) for _, one, two in times)
            count += 1
    assert count


@pytest.mark.parametrize("env_id", ["CollabOvercooked-v0", "Overcooked-v0", "Housework-v0", "Transport-v0"])
def test_memory_has_the_start_and_the_end_of_actions(play_team, env_id):
    """An action lasts from the time at which the model chose it to the time at which it chooses again."""

    def works(request):
        listed = re.findall(r"^(\d+)\. (.*)", request.turns[-1].content, re.MULTILINE)
        return {"action": int(next((k for k, text in listed if re.match("take|put|pick", text)), listed[-1][0]))}

    options = {"action_level": "medium"} if env_id == "Overcooked-v0" else {}
    team = ["always:nothing", "llm:m?agent=choose,menu=legal,memory=1"]
    _, client = play_team(team, works, env_id, max_cycles=40, **options)
    noun, chosen, lasting = CLOCKS[env_id], {0}, 0
    for prompt in client.last:
        chosen.add(now := int(re.search(rf"(?i)\b{noun}:? (\d+)", prompt)[1]))
        span = re.compile(r"^What you did last: (.+) \(\w+ (\d+)(?: to (\d+))?\)\.$", re.MULTILINE)
        for text, start, end in span.findall(prompt):
            assert int(start) in chosen, text
            if not text.startswith("wait"):
                lasting += bool(end)
            assert int(end or start) <= now
    assert lasting


def test_an_announced_plan_keeps_what_was_begun_in_this_step():
    plans = Plans(3, lambda seat, plan: plan.split("; "))
    plans.follow(0, "pickup(egg,pot0); wait(1)", told=[1, 2])
    plans.follow(1, "cook(pot0)", told=[])
    plans.begun = [plans.next(0), plans.next(1), None]
    text = lambda seat, entry: str(entry)  # noqa: E731
    assert plans.visible_to(2, text)[1] == (("pickup(egg,pot0) (begun)", "wait(1)"), (), ())
    assert plans.visible_to(0, text) == (("wait(1)",), ((), (), ()))
    plans.next(0)
    plans.begun = [None, None, None]
    assert plans.visible_to(2, text)[1] == ((), (), ())


def test_a_partner_reads_what_was_announced_and_begun(play_team):
    def answer(request):
        bob, replies = "You are Bob" in request.turns[0].content, "turn to answer" in request.turns[-1].content
        return {"analysis": "", "plan": "" if replies else "wait(3)", "say": "I wait. [END]" if bob else "[NOTHING]"}

    _, client = play_team("llm:m?agent=partner", answer, max_cycles=4)
    prompts = [r.turns[-1].content for r in client.asked if "You are Alice" in r.turns[0].content]
    assert any("Bob has announced: wait(1) (begun); wait(2)." in prompt for prompt in prompts)
    assert any("Bob: I wait. (plans: wait(3))" in prompt for prompt in prompts)
    assert not any("wait(1); wait(1)" in prompt for prompt in prompts)


HOMES = {"Housework-v0": ("step", "steps", 1), "Transport-v0": ("frame", "frames", 6)}


@pytest.mark.parametrize("env_id", HOMES)
def test_only_who_pays_for_messages_reads_their_price(play_team, env_id):
    unit = HOMES[env_id][0]
    for talk in ("paid", "free"):
        for spec, pays in (
            ("choose", False),
            ("coela", True),
            ("roco", True),
            ("cots,n=1", False),
            ("cots,n=1,charge=on", True),
        ):
            _, client = play_team(f"llm:m?agent={spec}", last, env_id, max_cycles=1, talk=talk)
            rules = {request.turns[0].content for request in client.asked}
            price = f"A message costs one {unit} for every 500 characters, rounded up."
            assert rules and all((price in text) == (pays and talk == "paid") for text in rules)
            assert not any("per 500" in text for text in rules)
    assert price not in co.make(env_id, talk="paid").game.manual()


@pytest.mark.parametrize("env_id", HOMES)
def test_distances_and_prices_of_plans_have_units(play_team, env_id):
    _, units, cost = HOMES[env_id]
    _, client = play_team("llm:m?agent=cots,n=1", last, env_id, max_cycles=2)
    prompt = next(text for text in client.last if "Sub-plans, with" in text)
    assert f"approximate number of {units}" in prompt
    away = re.findall(r"(\d+) (\w+) away", prompt)
    assert away and all(name in (units, units[:-1]) and int(count) % cost == 0 for count, name in away)
    assert "has not been seen yet" in prompt
    unseen = re.search(r"(\w+) has not been seen yet", prompt)[1]
    prices = re.search(rf"^{unseen}: (.+)$", prompt, re.MULTILINE)[1]
    assert "(unknown" in prices and not re.search(r"\(\d", prices)


CRAFT = {"options": {}, "fast": {"pace": 1, "walk": 3}, "field": {"level": "field"}, "many": {"level": "butchery"}}


@pytest.mark.parametrize("name", CRAFT)
@pytest.mark.parametrize("agents", [1, 2, 4])
def test_the_demonstration_of_craft_kitchen_has_the_rules_and_words_of_the_game(play_team, name, agents):
    options = {"level": "house", "agents": agents, **CRAFT[name]}
    _, client = play_team("llm:m?agent=dispatch", lambda _: "goto(bot1, 'mars')", "CraftKitchen-v0", **options)
    turns = client.asked[0].turns
    rules, last_turn = turns[0].content, turns[-1].content
    assert "First an example: a short game with the same rules on another field." in rules
    assert not re.search(r"\b(goto|killMob|mineBlock|put\w+|takeOutFurnace|wait)\((?!bot1)", rules)
    example, played = (re.findall(r"Step 0 of (\d+).\nOrders:\n.*, (\d+) steps left", t) for t in (rules, last_turn))
    assert len(example) == 1 and example == played
    assert "bot1 has nothing" in last_turn and "Outcome of" not in last_turn
    assert last_turn.split("Step 0")[1].split("Commands")[0] not in rules  # of another field
    asked = [turn.content for turn in turns if turn.role == "assistant"]
    assert asked and not any("wait(" in commands for commands in asked)  # the planner has work for all
    later = client.asked[1].turns[-1].content
    assert "unknown" in later and "all were carried out" not in later


def rules_of(client):
    return {request.turns[0].content for request in client.asked}


@pytest.mark.parametrize("agent", ["choose", "coela", "roco", "choose,channel=tools"])
def test_rush_says_what_counts_and_asks_for_no_dictionary(play_team, agent):
    _, client = play_team(f"llm:m?agent={agent}", last, "KitchenRush-v0")
    for rules in rules_of(client):
        assert "action_type" not in rules and "invalid" not in rules
        assert (
            rules.count("score") == 1
            and "The score is the number of finished orders;" in rules
            and "point" not in rules
        )


def test_one_way_passages_are_named(play_team):
    _, client = play_team("llm:m?agent=choose,check=1", last, "CollabEscape-v0")
    level = co.make("CollabEscape-v0").game.compiled.level
    assert level.one_way
    for rules in rules_of(client):
        for a, b in level.one_way:
            assert f"One way only: from {level.title(a)} to {level.title(b)}." in rules
    assert not any("bring the order closer" in prompt for prompt in client.last)


@pytest.mark.parametrize("level", ["primitive", "medium"])
def test_no_counter_is_listed_that_can_never_be_reached(play_team, level):
    for layout in ("forced_coordination", "gated_delivery"):
        _, client = play_team(
            "llm:m?agent=choose", last, "Overcooked-v0", layout=layout, action_level=level, max_cycles=2
        )
        for request in client.asked:
            rules, state = request.turns[0].content, request.turns[-1].content
            reach = " ".join(re.findall(r"can reach (.*)", rules))
            named = re.findall(r"\bk\d+\b", " ".join(re.findall(r"^(?:- c|C|Other c)ounters: .*", rules + state, re.M)))
            assert set(named) <= set(re.findall(r"\bk\d+\b", reach))


def test_single_actions_come_without_rules_of_plans(play_team):
    for agent in ("choose", "coela", "cots,n=1"):
        _, client = play_team(f"llm:m?agent={agent}", last, max_cycles=2)
        assert all("costs timesteps" in rules and "request(" not in rules for rules in rules_of(client))
    _, client = play_team("llm:m?agent=partner", lambda _: {"plan": "wait(1)"}, max_cycles=2)
    assert all("costs timesteps" in rules for rules in rules_of(client))


def test_pictures_and_texts_name_the_same_turn():
    for env_id in ("CollabCapture-v0", "CollabEscape-v0", "KitchenRush-v0"):
        game = co.make(env_id).game
        state, _ = reach(game, 3, 2)
        view = game.seen(state, 0, 0)
        turn = re.search(r"Turn \d+ of \d+", view.text)[0]
        assert turn.lower() in repr(game.drawing(view.scene, 0))


@pytest.mark.parametrize("env_id", CLOCKS)
def test_the_length_of_an_episode_is_that_of_the_environment(play_team, env_id):
    options = {"task": "boiled_egg"} if env_id == "CollabOvercooked-v0" else {}
    game = co.make(env_id, **options).game
    _, client = play_team("llm:m?agent=choose", last, env_id, max_cycles=6, **options)
    turns = 3 if env_id == "KitchenRush-v0" else 6
    for rules, state in ((request.turns[0].content, request.turns[-1].content) for request in client.asked):
        if env_id in HOMES:
            assert "The episode also ends after 6 decisions of the team" in rules
        else:
            assert re.search(rf"(?i)(\d+ of|maximum game steps:) {turns}\b", state)
            assert not re.search(rf"\b{game.max_cycles} (steps|turns)|has {game.max_cycles // 2} turns", rules)
    assert "decisions of the team" not in game.manual()


@pytest.mark.parametrize("auto_open", [True, False])
def test_homes_say_what_takes_how_long_and_needs_a_hand(auto_open):
    manual = co.make("Housework-v0", auto_open=auto_open).game.manual()
    assert "Every action takes one step" not in manual  # sub-plans take many
    assert f"Opening needs a free hand{', except at the goal place' if auto_open else ''}." in manual


@pytest.mark.parametrize("env_id", HOMES)
def test_distances_of_rooms_are_not_shorter_than_the_walk(play_team, env_id):
    """An agent is inside before it is at the centre, whose distance the text gives."""
    _, client = play_team("llm:m?agent=choose,menu=legal,memory=1", last, env_id, max_cycles=30)
    assert all("The distance of a room is that of its centre." in rules for rules in rules_of(client))
    before, shorter = {}, 0
    for prompt in client.last:
        seat = re.search(r"You are (\w+)", prompt)[1]
        walk = re.search(r"What you did last: go to (.+?) \(time (\d+) to (\d+)\)", prompt)
        away = walk and re.search(rf"^{walk[1]} \(.*?(\d+) \w+ away\)", before.get(seat, ""), re.MULTILINE)
        if away:
            assert int(walk[3]) - int(walk[2]) <= int(away[1])
            shorter += int(walk[3]) - int(walk[2]) < int(away[1])
        before[seat] = prompt
    assert shorter


@pytest.mark.parametrize("env_id", HOMES)
def test_joint_plans_name_one_set_of_sub_plans(play_team, env_id):
    _, client = play_team("llm:m?agent=cots,n=1", last, env_id, max_cycles=1)
    assert all("sub-plans replace the actions above" in rules for rules in rules_of(client))


def test_a_message_is_cut_only_where_its_whole_plan_stands_below(play_team):
    def answer(request):
        if "joint plan" in request.turns[-1].content:
            return {"analysis": "", "message": "Look.", "Alice": "go to office; wait", "Bob": "go to bedroom"}
        return last(request)

    _, client = play_team("llm:m?agent=capo", answer, "Transport-v0", max_cycles=12)
    cut = [line for prompt in client.last for line in re.findall(r"^.*the joint plan below.*$", prompt, re.MULTILINE)]
    assert cut and all(line.endswith("(the joint plan below)") for line in cut)
    busy = [prompt for prompt in client.last if "You are busy" in prompt]
    assert busy and not any("only action now" in prompt or "begin now" in prompt for prompt in busy)
    assert all("first; your part of a joint plan begins after that." in prompt for prompt in busy)


@pytest.mark.parametrize("env_id", HOMES)
def test_primitive_actions_of_homes_are_those_of_the_home(env_id):
    game = co.make(env_id, action_level="primitive").game
    named = game.manual().split("Actions are primitive: ")[1]
    verbs = {"walk", "take", "open", "close", "put down", "put in", "look around", "wait"}
    there = {verb for verb in verbs if any(text.startswith(verb) for text in game.action_texts())}
    assert {verb for verb in verbs if verb in named} == there


@pytest.mark.parametrize("layout", ["cramped_room", "forced_coordination"])
def test_directives_put_things_where_the_rules_say(play_team, layout):
    """Things go on the nearest empty counter, and on the counters that a layout names for handing over."""
    _, client = play_team(
        "llm:m?agent=choose", last, "Overcooked-v0", layout=layout, action_level="medium", max_cycles=40
    )
    shared = any("on shared counters and otherwise only on the nearest" in rules for rules in rules_of(client))
    offered = {place[0] for prompt in client.last for place in re.findall(r"^\d+\. put on (\w+)", prompt, re.MULTILINE)}
    assert offered and shared == ("s" in offered)


def test_who_answers_with_tools_can_stay_silent(play_team):
    """An answer must call a tool: the prompt says which one if there is nothing to change and nothing to say."""

    def answer(request):
        replies = "turn to answer" in request.turns[-1].content
        calls = [("say", "[NOTHING]")] if replies else [("act", "wait(3)"), ("say", "I wait.")]
        fields = {"act": "action", "say": "message"}
        return {"calls": [{"name": name, "arguments": {fields[name]: text}} for name, text in calls]}

    record, client = play_team("llm:m?agent=partner,channel=tools", answer, max_cycles=4)
    asked = [prompt for prompt in client.last if "turn to answer" in prompt]
    assert asked and all("call say with [NOTHING]" in prompt and "Leave it empty" not in prompt for prompt in asked)
    assert set(record.accounts["agent_1"].readings) == {"tool"} and "Alice: [NOTHING]" not in "".join(client.last)


@pytest.mark.parametrize("env_id", [*HOMES, "CuisineWorld-v0", "CraftKitchen-v0"])
def test_without_the_manual_the_goal_is_that_of_the_game(play_team, env_id):
    _, client = play_team("llm:m?agent=choose,manual=off", last, env_id, max_cycles=1)
    goal = "Bring to the " if env_id in HOMES else "Every order that is served "
    assert all(goal in rules and "Serve what is ordered" not in rules for rules in rules_of(client))


PARTNERS = r"(?i)\b(players?|partners?|teammates?|team|each other|(?:the )others|somebody|bob)\b"


@pytest.mark.parametrize("level", ["primitive", "medium"])
@pytest.mark.parametrize("layout", ["cramped_room", "gated_delivery"])
def test_who_plays_alone_reads_of_nobody_else(play_team, layout, level):
    spec = "llm:m?agent=choose,alone=on,predict=on,intention=on,helper=on,check=1"
    _, client = play_team([spec, "greedy"], last, "Overcooked-v0", layout=layout, action_level=level, max_cycles=12)
    texts = [turn.content for request in client.asked for turn in request.turns]
    assert texts and not {word for text in texts for word in re.findall(PARTNERS, text)}
    assert not any("partner" in str(request.schema) for request in client.asked)
    assert {"bring you closer to the goal" in text for text in client.last} == {True, False}
    with pytest.raises(ValueError, match="alone=on is not possible: the rules of this game are about several agents"):
        play_team("llm:m?agent=choose,alone=on", last, "CollabEscape-v0")


@pytest.mark.parametrize("team", [{}, {"kitchen": "three_agents"}], ids=["two", "three"])
@pytest.mark.parametrize("channel", ["text", "tools"])
@pytest.mark.parametrize("silenced", ["by its switch", "by the episode"])
def test_who_cannot_speak_is_not_told_to(play_team, channel, team, silenced):
    def answer(request):
        call = {"name": "act", "arguments": {"action": "wait(3)"}}
        return {"calls": [call]} if request.tools else {"analysis": "", "plan": "wait(3)"}

    talk, limits = (",talk=off", None) if silenced == "by its switch" else ("", Limits(max_messages=0))
    spec = f"llm:m?agent=partner,channel={channel}{talk}"
    _, client = play_team(spec, answer, limits=limits, max_cycles=4, **team)
    words = r"(?i)\b(say|said|ask (?:what|for)|asks for|asked for|requests?|message|conversation)\b"
    for rules, prompt in ((request.turns[0].content, request.turns[-1].content) for request in client.asked):
        assert not re.findall(words, rules + prompt)
        assert ("assistants Alice and Carol" in rules) == (bool(team) and "You are Bob" in rules)


def test_messages_that_nobody_would_read_are_not_drafted(play_team):
    """CoELA asks for no message where the episode allows none, as with talk=off."""

    def answer(request):
        return {"message": "Hello."} if "message" in request.turns[-1].content else {"action": 1}

    asked = []
    for spec, limits in (("llm:m?agent=coela,talk=off", None), ("llm:m?agent=coela", Limits(max_messages=0))):
        _, client = play_team(spec, answer, "Housework-v0", limits=limits, max_cycles=4)
        asked.append(client.last)
    assert asked[0] == asked[1]


@pytest.mark.parametrize("kind", ["coela", "roco", "capo"])
def test_who_writes_messages_is_told_their_limits(play_team, kind):
    def answer(request):
        return {"message": "Hello there."} if "message" in request.turns[-1].content else {"action": 1}

    limits = Limits(max_chars=5, messages_to="one-way")
    record, client = play_team(f"llm:m?agent={kind}", answer, "Housework-v0", limits=limits, max_cycles=4)
    asked = [
        question for question in client.last if re.search("Write one short message|Propose a joint plan", question)
    ]
    assert asked and all("A message has at most 5 characters" in question for question in asked)
    assert any("Your messages are heard by nobody." in question for question in asked)
    assert {message.say for step in record.steps for message in step.messages} <= {"Hello", ""}


def test_tools_offer_what_a_plan_can_have(play_team):
    """A part of a plan can become possible later: the tool takes whatever the seat could ever do."""

    def answer(request):
        return {"calls": [{"name": "act", "arguments": {"action": "wait(3)"}}]}

    _, client = play_team("llm:m?agent=partner,channel=tools,talk=off", answer, max_cycles=4)
    for request in client.asked:
        offered = request.tools[0]["parameters"]["properties"]["action"]["enum"]
        assert {f"wait({n})" for n in range(1, 6)} < set(offered)
        own = request.turns[0].content.partition("Actions of")[0]
        named = re.findall(r"^- (\w+\([\w,]*\))$", own, re.MULTILINE)
        assert named and set(named) <= set(offered)


PICTURES = {
    "Overcooked-v0": [{"layout": "cramped_room"}, {"layout": "gated_delivery", "action_level": "medium"}],
    "OvercookedV2-v0": [{}],
    "CuisineWorld-v0": [{"level": "level_3"}],
}


@pytest.mark.parametrize("env_id", PICTURES)
def test_who_sees_pictures_reads_of_no_text(play_team, env_id):
    """Rules of texts, such as letters of a map, are for those who have the text."""
    of_text = r"(?i)letters|digits|the map|\boccupy\(|The state says|In the state|blank cells"
    for options in PICTURES[env_id]:
        for see in ("picture", "both", "text"):
            spec = [f"llm:m?agent=choose,see={see}", *["random"] * (co.make(env_id, **options).game.n_agents - 1)]
            _, client = play_team(spec, last, env_id, max_cycles=1, **options)
            assert client.asked and all(bool(re.search(of_text, r)) == (see != "picture") for r in rules_of(client))


@pytest.mark.parametrize("correct", ["on", "off"])
def test_refusals_name_the_agent_that_was_refused(play_team, correct):
    commands = "goto(bot1, 'chest')\nkillMob(bot2, 'mars')"
    options = {"level": "house", "agents": 2, "max_cycles": 2}
    spec = f"llm:m?agent=dispatch,demo=off,correct={correct}"
    _, client = play_team(spec, lambda _: commands, "CraftKitchen-v0", **options)
    told = client.asked[1].turns[-1].content.split("Step")[0]
    assert "bot2: unknown mob 'mars'" in told and "bot1" not in told


def test_lines_that_repeat_are_counted():
    game = co.make("Overcooked-v0", layout="cramped_room", action_level="medium").game
    state, _ = reach(game, 0, 0)
    state.macro_state[0, 0, DirectiveHistory.LAST : DirectiveHistory.LAST + MEMORY] = 1  # wait
    assert "Your last directives: wait (5 times).\n" in game.describe(state, 0, 0)


def test_nothing_is_asked_about_a_partner_who_is_out(play_team):
    game = co.make("CollabEscape-v0", loss="all").game
    state, _ = reach(game, 0, 0)
    assert game.seen(state, 0, 0).has_partners
    state.players[0, 1, Player.ACTIVE] = 0
    assert not game.seen(state, 0, 0).has_partners and game.seen(state, 0, 1).has_partners


@pytest.mark.parametrize(
    ("env_id", "idle", "did"), [("CollabEscape-v0", "wait", "waited"), ("CollabCapture-v0", "stay", "stayed")]
)
def test_memory_has_the_words_of_the_options(play_team, env_id, idle, did):

    def answer(request):
        return {"action": int(re.search(rf"^(\d+)\. {idle}$", request.turns[-1].content, re.MULTILINE)[1])}

    _, client = play_team("llm:m?agent=choose", answer, env_id, max_cycles=3)
    assert any(f"What you did last: {did} (turn 1)." in prompt for prompt in client.last)


def test_views_of_columns_end_at_the_walls():
    game = co.make("OvercookedV2-v0", view_radius=2).game
    state, _ = reach(game, 0, 0)
    height, width = game.compiled.tables.terrain.shape[1:]
    for seat in range(game.n_agents):
        found = re.search(r"You see columns (\d+) to (\d+) and rows (\d+) to (\d+)\.", game.describe(state, 0, seat))
        left, right, top, bottom = map(int, found.groups())
        assert 0 <= left < right < width and 0 <= top < bottom < height


def test_objections_are_sentences(play_team):
    answers = iter(
        [{"action": 1}, {"okay": False, "reason": "it is too far"}, {"action": 2}, {"okay": True, "reason": ""}]
    )
    _, client = play_team(["llm:m?agent=choose,check=1", "greedy"], lambda _: next(answers), max_cycles=1)
    assert "This speaks against it: it is too far. Choose again." in client.last[2]


def test_things_are_counted_in_words_of_their_number():
    assert [several(2, name) for name in ("loaf", "mouse", "apple", "bread")] == [
        "2 loaves",
        "2 mice",
        "2 apples",
        "2 bread",
    ]
    assert several(1, "loaf") == "1 loaf"
    game = co.make("Housework-v0").game
    state, _ = reach(game, 0, 5)
    assert not re.search(r"\bthe [a-z ]+ \d", game.describe(state, 0, 0))
