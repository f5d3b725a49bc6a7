from __future__ import annotations

import inspect
import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs, to_builtins
from support.records import as_json, from_json

import collab_overcooked
from collab_overcooked.core.record import HistoryEntry
from collab_overcooked.io.structs import encode
from collab_overcooked.policies.api import Decision, Message
from collab_overcooked.runner.conversation import Conversation, Delivery, Plans
from collab_overcooked.runner.episode import (
    Ask,
    Episode,
    Limits,
    Started,
    Stepped,
    derive_seed,
    drive,
    episode_seed,
    make_logger,
    play_episode,
    policy_seed,
)
from collab_overcooked.runner.records import dump_line, parse_record
from collab_overcooked.runner.teams import Team


@pytest.fixture(scope="module")
def env():
    return collab_overcooked.make("CollabOvercooked-v0", task="boiled_egg")


def play(env, *policies, seed=1, **options):
    team = Team(tuple(policy.name for policy in policies), policies)
    return play_episode(env, team, seed, task="boiled_egg", level=1, **options)


def steps_of(record, field, seat):
    return [getattr(step, field)[seat] for step in record.steps]


def test_a_plan_is_carried_out_one_action_after_the_other(env, scripted):
    helper = scripted(["pickup(egg,ingredient_dispenser); place_obj_on_counter()"])
    record = play(env, scripted(), helper)
    assert [entry.action for entry in record.history[1]] == [
        "pickup(egg,ingredient_dispenser)",
        "place_obj_on_counter()",
    ]
    texts = [text for text in steps_of(record, "action_texts", 1) if text != "continue"]
    assert texts[:3] == ["pickup(egg,ingredient_dispenser)", "place_obj_on_counter()", "wait(1)"]
    assert not any(step.errors for step in record.steps)


def test_busy_agents_are_not_asked(env, scripted):
    helper = scripted(["pickup(egg,ingredient_dispenser)"])
    record = play(env, scripted(), helper)
    busy = steps_of(record, "action_texts", 1).count("continue")
    assert busy >= 1
    assert len(helper.views) == record.timesteps - busy


def test_histories_are_stamped_with_the_step_index_plus_one(env, scripted):
    record = play(env, scripted(), scripted(["pickup(egg,ingredient_dispenser)"]))
    (entry,) = record.history[1]
    event = record.steps[entry.timestamp - 1].events[1]
    assert event.label == entry.action == "pickup(egg,ingredient_dispenser)"


def test_a_long_wait_can_be_cut_short_by_a_word(env, scripted):
    caller = scripted(["wait(1)", Decision(plan="wait(1)", say="now!")])
    helper = scripted(["wait(5)"], [Message(1, "coming", "pickup(egg,ingredient_dispenser)")])
    record = play(env, caller, helper)
    assert steps_of(record, "action_texts", 1)[:2] == ["wait(1)", "pickup(egg,ingredient_dispenser)"]


def test_requests_are_recorded_and_not_carried_out(env, scripted):
    chef = scripted([Decision(plan="request('cut(chopping_board0)'); wait(2)", say="cut it")])
    record = play(env, chef, scripted())
    assert to_builtins(record.steps[0].messages) == [
        {"agent": 0, "conversation": 0, "say": "cut it", "plan": "request('cut(chopping_board0)'); wait(2)"}
    ]
    assert steps_of(record, "action_texts", 0)[:2] == ["wait(1)", "wait(1)"]
    assert len(chef.views) == record.timesteps - 1  # the two waits took one decision
    assert not record.steps[0].errors


def test_a_decision_without_any_action_waits(env, scripted):
    record = play(env, scripted([Decision(say="hm"), Decision(plan="request('wait(1)')"), ""]), scripted())
    assert steps_of(record, "action_texts", 0)[:3] == ["wait(1)"] * 3
    assert not any(step.errors for step in record.steps)


@pytest.mark.parametrize(
    ("refused", "code"),
    [
        ("cook(pot0)", "OP_EMPTY"),
        ("pickup(egg,counter)", "PICK_NOT_ON_COUNTER"),
        ("deliver()", "DELIVER_EMPTY_HANDED"),
        ("dance", "F_NOT_FUNCTION"),
        ("wait(9)", "F_WAIT_TOO_LONG"),
        (100_000, "OUT_OF_SPACE"),
        (-1, "OUT_OF_SPACE"),
    ],
)
def test_a_refused_action_is_handed_back_once(env, scripted, refused, code):
    chef = scripted([refused, "wait(3)"])
    record = play(env, chef, scripted())
    (error,) = record.steps[0].errors
    assert (error.agent, error.action, error.code) == (0, str(refused), code)
    assert error.message
    assert chef.views[1].error == (code, error.message)
    assert chef.views[1].timestep == 0
    assert steps_of(record, "action_texts", 0)[0] == "wait(1)"


def test_a_refused_correction_ends_in_waiting(env, scripted):
    chef = scripted(["cook(pot0)", "deliver()", "wait(1)"])
    record = play(env, chef, scripted())
    assert [error.code for error in record.steps[0].errors] == ["OP_EMPTY", "DELIVER_EMPTY_HANDED"]
    assert record.steps[0].action_texts[0] == "wait(1)"
    assert chef.views[2].timestep == 1
    assert chef.views[2].error is None


@pytest.mark.parametrize("corrections", [0, 3])
def test_the_number_of_corrections_is_bounded(env, scripted, corrections):
    chef = scripted(["cook(pot0)"] * 4)
    record = play(env, chef, scripted(), limits=Limits(max_corrections=corrections))
    assert len(record.steps[0].errors) == corrections + 1


def test_a_refused_step_of_a_plan_ends_the_plan(env, scripted):
    helper = scripted(["place_obj_on_counter(); pickup(egg,ingredient_dispenser)", "wait(2)"])
    record = play(env, scripted(), helper)
    assert record.steps[0].errors[0].code == "PLACE_EMPTY_HANDED"
    assert steps_of(record, "action_texts", 1)[:3] == ["wait(1)"] * 3
    assert record.history[1] == []


def test_conversations_alternate_until_one_is_silent(env, scripted):
    chef = scripted([Decision(plan="wait(1)", say="a")], [Message(0, "c", "")])
    helper = scripted([], [Message(1, "b", ""), None])
    record = play(env, chef, helper)
    assert [(m.agent, m.say) for m in record.steps[0].messages] == [(0, "a"), (1, "b"), (0, "c")]
    assert [message.say for message in helper.heard[1].inbox] == ["a", "b", "c"]
    assert [message.say for message in helper.views[0].inbox] == ["a", "b", "c"]


def test_conversations_end_after_the_last_turn(env, scripted):
    chef = scripted([Decision(plan="wait(1)", say="a")], [Message(0, "x", "")] * 99)
    record = play(env, chef, scripted([], [Message(1, "y", "")] * 99), limits=Limits(max_messages=5))
    assert [m.agent for m in record.steps[0].messages] == [0, 1, 0, 1, 0]


def test_without_messages_nobody_is_heard_and_plans_stay_private(env, scripted):
    chef = scripted([Decision(plan="wait(2)", say="a"), "wait(1)"])
    helper = scripted([Decision(plan="wait(1)", say="b"), "wait(1)"], [Message(1, "y", "")] * 9)
    record = play(env, chef, helper, limits=Limits(max_messages=0))
    assert not any(step.messages for step in record.steps)
    assert not any(view.inbox or view.past_messages or view.announced[0] for view in helper.views)


def test_the_last_plan_of_each_speaker_counts(env, scripted):
    chef = scripted([Decision(plan="wait(1)", say="a")], [Message(0, "c", "wait(2)")])
    helper = scripted(
        [], [Message(1, "b", "wait(3)"), Message(1, "d", "pickup(egg,ingredient_dispenser); place_obj_on_counter()")]
    )
    record = play(env, chef, helper)
    assert steps_of(record, "action_texts", 0)[:2] == ["wait(1)", "wait(1)"]
    assert len([view for view in chef.views if view.timestep < 2]) == 1
    assert steps_of(record, "action_texts", 1)[0] == "pickup(egg,ingredient_dispenser)"


def test_several_conversations_of_a_step_have_numbers(env, scripted):
    chef = scripted([Decision(plan="wait(1)", say="one")], [None, Message(0, "ok", "")])
    helper = scripted([Decision(plan="wait(1)", say="two")], [Message(1, "ok", "")])
    record = play(env, chef, helper)
    assert [(m.agent, m.conversation) for m in record.steps[0].messages] == [(0, 0), (1, 0), (1, 1), (0, 1)]


def test_a_correction_is_one_more_message_of_its_conversation(env, scripted):
    chef = scripted([Decision(plan="cook(pot0)", say="a"), Decision(plan="wait(1)", say="sorry")])
    helper = scripted([], [Message(1, "b", ""), None, Message(1, "never", "")])
    record = play(env, chef, helper)
    replies = [(m.agent, m.conversation, m.say) for m in record.steps[0].messages]
    assert replies == [(0, 0, "a"), (1, 0, "b"), (0, 0, "sorry")]


def test_an_action_id_is_announced_as_text(env, scripted):
    wait = env.parse("wait(2)")
    record = play(env, scripted([Decision(action=wait, say="I wait")]), scripted())
    assert record.steps[0].messages[0].plan == "wait(2)"
    assert record.steps[0].actions[0] == wait


def test_tokens_of_a_step_are_added_up(env, scripted):
    chef = scripted([Decision(plan="cook(pot0)", tokens=30), Decision(plan="wait(1)", tokens=12)])
    record = play(env, chef, scripted())
    assert record.steps[0].tokens == [42, None]


def test_views_show_what_the_environment_shows(env, scripted):
    chef = scripted()
    play(env, chef, scripted(), seed=4)
    observations, infos = env.reset(seed=4)
    first = chef.views[0]
    assert np.array_equal(first.observation, observations["agent_0"])
    assert np.array_equal(first.mask, infos["agent_0"]["action_mask"])
    assert first.scene["orders"] == ["boiled_egg"]


def test_a_finished_order_is_a_success(env, talker, scripted):
    record = play(env, talker(""), talker(""))
    assert record.success is True
    assert record.timesteps < record.max_cycles == 25
    assert record.history[0][-1] == HistoryEntry(record.timesteps, "deliver()")
    failed = play(env, scripted(), scripted())
    assert failed.success is False
    assert failed.timesteps == 25


def test_records_are_json(env, talker):
    record = play(env, talker(""), talker(""))
    assert from_json(as_json(record)) == record


def test_equal_seeds_give_equal_episodes():
    from collab_overcooked.policies.specs import make_policy

    env = collab_overcooked.make("CollabOvercooked-v0", task="boiled_egg")
    one, two, other = (play(env, make_policy("random"), make_policy("random"), seed=seed) for seed in (5, 5, 6))
    assert one == two
    assert one.steps != other.steps


def test_all_agents_of_a_larger_team_are_heard(scripted):
    env = collab_overcooked.make("CollabOvercooked-v0", kitchen="three_agents", task="boiled_egg")
    chef = scripted([Decision(plan="wait(1)", say="who?")])
    silent, speaking = scripted(), scripted([], [Message(2, "me", "wait(2)")])
    record = play(env, chef, silent, speaking)
    assert [(m.agent, m.say) for m in record.steps[0].messages] == [(0, "who?"), (2, "me")]
    assert len(chef.heard) == 1
    assert len(silent.heard) == 2


def test_primitive_actions_are_played_too(scripted):
    env = collab_overcooked.make("CollabOvercooked-v0", task="boiled_egg", action_level="primitive", max_cycles=6)
    refused = env.parse("start")
    assert not env.reset(seed=0)[1]["agent_0"]["action_mask"][refused]
    chef = scripted(["north; west; wait(2)", refused, "stay"])
    record = play(env, chef, scripted(["stay"] * 9))
    assert record.timesteps == 6
    assert any(error.code == "F_NOT_FUNCTION" for step in record.steps for error in step.errors)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"max_messages": -1}, "max_messages"),
        ({"max_corrections": -1}, "max_corrections"),
        ({"max_messages": True}, "max_messages"),
    ],
)
def test_limits_are_checked(change, text):
    with pytest.raises(ValueError, match=text):
        Limits(**change)


def test_a_team_must_fill_the_seats(env, scripted):
    with pytest.raises(ValueError, match="1 policies for 2 seats"):
        play(env, scripted())


def test_masks_must_be_in_the_infos(scripted):
    env = collab_overcooked.make("CollabOvercooked-v0", mask_in="obs")
    with pytest.raises(ValueError, match="mask_in"):
        play(env, scripted(), scripted())


def test_an_answer_that_is_none_of_the_three_is_refused(env, scripted):
    with pytest.raises(ValueError, match="action id, a text or a Decision"):
        play(env, scripted([3.5]), scripted())


def test_seeds_are_derived_once_and_for_all():
    assert (
        episode_seed(0, "boiled_egg", 0) == derive_seed(0, "boiled_egg", 0) == 147_677_616_656_767
    )  # a constant of the format
    seeds = [episode_seed(s, task, k) for s in range(20) for task in ("a", "b") for k in range(50)]
    assert max(Counter(seeds).values()) == 1
    assert len({policy_seed(seed, seat) for seed in seeds[:100] for seat in range(3)}) == 300


def test_policies_get_seeds_of_their_own(env, scripted):
    chef, helper = scripted(), scripted()
    play(env, chef, helper, seed=8)
    assert (chef.seeds, helper.seeds) == ([policy_seed(8, 0)], [policy_seed(8, 1)])


# ------------------------------------------------------------------------------------------- asking and answering


def driven(run, answers):
    """Answer every question of an episode by ``answers(ask)``; returns all events and the record."""
    events = []

    def answer(event):
        events.append(event)
        return answers(event) if isinstance(event, Ask) else None

    record = drive(run, answer)
    return events, record


OPTIONS = {  # of an episode, each with a value that is not its default
    "task": "boiled_egg",
    "episode": 3,
    "level": 2,
    "limits": Limits(max_messages=0),
    "fresh": False,
    "feedback": ["Well done.", "Well done."],
    "reset_options": {"state": {"timestep": 1}},
    "accounts": lambda: {"agent_0": {}},
    "ends_after": 5,
    "replaced": lambda message: None,
}


def test_every_option_of_an_episode_reaches_it(env):
    declared = inspect.signature(Episode).parameters.values()
    assert OPTIONS.keys() == {option.name for option in declared if option.kind is option.KEYWORD_ONLY}
    kept = vars(Episode(env, ("one", "two"), 1, **OPTIONS)).values()
    for name, value in OPTIONS.items():
        assert any(attribute is value for attribute in kept), name


def test_an_episode_that_is_not_fresh_goes_on_with_the_generator_of_the_one_before():
    env = collab_overcooked.make("Housework-v0", max_cycles=3)
    scenes = []
    for fresh in (True, False, True, False):
        run = Episode(env, ("one", "two"), 7, fresh=fresh)
        next(run)
        scenes.append(env.scene())
        run.close()
    assert scenes[0] != scenes[1] and scenes[:2] == scenes[2:]


def test_an_episode_is_left_when_the_driver_says_so(env):
    run = Episode(env, ("one", "two"), 1, task="boiled_egg")
    left = drive(run, lambda event: "wait(1)", lambda event: isinstance(event, Stepped) and event.timestep == 3)
    assert (left.timesteps, left.ended) == (3, "left")
    whole = drive(Episode(env, ("one", "two"), 1, task="boiled_egg"), lambda event: "wait(1)")
    assert whole.steps[:3] == left.steps and not whole.ended


def test_an_episode_asks_and_tells_of_its_steps(env):
    events, record = driven(Episode(env, ("one", "two"), 1, task="boiled_egg"), lambda ask: "wait(1)")
    assert isinstance(events[0], Started) and events[0].seed == 1
    assert [event.timestep for event in events if isinstance(event, Stepped)] == list(range(1, 26))
    asked = [(event.seat, event.kind, event.seen.timestep) for event in events if isinstance(event, Ask)]
    assert asked == [(seat, "act", t) for t in range(25) for seat in range(2)]
    assert record.team == {"agent_0": "one", "agent_1": "two"} and not record.accounts


def test_an_episode_that_is_left_gives_its_steps(env):
    run = Episode(env, ("one", "two"), 1)
    assert next(run).env is env and isinstance(next(run), Ask)
    assert isinstance(run.send("wait(1)"), Ask) and isinstance(run.send("wait(1)"), Stepped)
    next(run)
    record = run.close()
    assert record.timesteps == len(record.steps) == 1 and record.ended == "left"
    with pytest.raises(StopIteration):
        next(run)


@pytest.mark.parametrize("env_id", collab_overcooked.registered())
def test_an_episode_that_is_left_before_its_first_step_is_a_record(env_id):
    env = collab_overcooked.make(env_id)
    run = Episode(env, ["random"] * len(env.possible_agents), 1, task="any", level=1)
    next(run)
    record = run.close()
    assert record.ended == "left" and parse_record(dump_line(record).decode(), env_id).steps == []


@pytest.mark.parametrize("env_id", collab_overcooked.registered())
def test_a_record_has_every_field_of_a_games_events_and_logger(env_id):
    """What a class of records does not declare would be dropped without a word."""
    env, logger = collab_overcooked.make(env_id, max_cycles=25), make_logger(env_id)
    rng, run, answer, events = np.random.default_rng(0), Episode(env, ["x"] * len(env.possible_agents), 1), None, 0

    def check(kept, logged):
        for name, value in logged.items():
            assert json.loads(encode(getattr(kept, name))) == json.loads(encode(value)), name

    while True:
        try:
            event = run.send(answer)
        except StopIteration as over:
            record = over.value
            break
        answer = int(rng.choice(np.flatnonzero(event.seen.mask))) if isinstance(event, Ask) else None
        if logger is not None and isinstance(event, Started):
            logger.begin(env)
        if isinstance(event, Stepped):
            check(event.step, {} if logger is None else logger.step(env))
            for actual, expected in zip(event.step.events, env.events(), strict=True):
                fields = () if actual is None else structs.fields(actual)
                kept = {field.encode_name: getattr(actual, field.name) for field in fields}
                assert {**kept, **(expected or {})} == kept
                events += expected is not None
    check(record, {} if logger is None else logger.end())
    assert events


def test_an_episode_that_was_not_begun_can_be_left(env):
    assert Episode(env, ("one", "two"), 1).close().steps == []


@given(
    st.lists(st.sampled_from(["wait(1)", "deliver()", "", "nonsense", Decision(plan="wait(2)", say="hm")])), st.data()
)
@settings(max_examples=25)
def test_whatever_is_answered_and_whenever_it_is_left_the_record_is_whole(env, answers, data):
    run, answer = Episode(env, ("one", "two"), 3, task="boiled_egg", level=1), None
    for _ in range(data.draw(st.integers(1, 60))):
        event = run.send(answer)
        answer = None
        if isinstance(event, Ask):
            reply = data.draw(
                st.sampled_from([None, Message(event.seat, "", "wait(1)"), Message(event.seat, "ok", "")])
            )
            answer = (answers.pop() if answers else "wait(1)") if event.kind == "act" else reply
    record = run.close()
    assert len(record.steps) == record.timesteps
    parse_record(dump_line(record).decode(), "here")


def test_a_voice_without_a_seat_is_heard_by_all(env):
    run, answer, inboxes = Episode(env, ("one", "two"), 1, task="boiled_egg", level=1), None, []
    while True:
        try:
            event = run.send(answer)
        except StopIteration as over:
            record = over.value
            break
        answer = None
        if isinstance(event, Ask):
            answer = "wait(1)"
            inboxes.append((event.seen.timestep, event.seat, [(m.agent, m.say) for m in event.seen.inbox]))
        elif isinstance(event, Stepped) and event.timestep == 3:
            answer = Message(0, "Hurry!", "")
    assert [(t, seat) for t, seat, inbox in inboxes if inbox == [(None, "Hurry!")]] == [(3, 0), (3, 1)]
    assert [(t, seat) for t, seat, inbox in inboxes if inbox] == [(3, 0), (3, 1)]
    assert to_builtins(record.steps[3].messages) == [{"agent": None, "conversation": 0, "say": "Hurry!", "plan": ""}]
    assert parse_record(dump_line(record).decode(), "here") == record


def test_seconds_are_recorded_where_they_are_known(env, scripted):
    record = play(env, scripted([Decision(plan="wait(1)", seconds=1.5)]), scripted())
    assert record.steps[0].seconds == [1.5, None]
    assert not any(step.seconds for step in record.steps[1:])


# ------------------------------------------------------------------------------------------- what a seat may know


def test_plans_are_private_until_they_are_announced(env, scripted):
    chef, helper = scripted(["wait(3)"]), scripted(["wait(3)"])
    play(env, chef, helper)
    assert all(seen.announced == ((), ()) for policy in (chef, helper) for seen in policy.views)
    chef, helper = scripted([Decision(plan="wait(3)", say="I wait")]), scripted()
    play(env, chef, helper)
    assert helper.heard[0].announced == ((), ())  # the message itself says it; the queue is filled afterwards
    assert [seen.announced for seen in helper.views[:3]] == [
        (("wait(1) (begun)", "wait(2)"), ()),
        (("wait(1) (begun)", "wait(1)"), ()),
        (("wait(1) (begun)",), ()),
    ]
    assert all(seen.announced == ((), ()) for seen in chef.views)


@pytest.mark.parametrize("how", ["decision", "answer", "revision", "correction"])
def test_plans_without_words_stay_private(env, scripted, how):
    """A silent plan is carried out, stands in the record, and changes nothing that the teammate sees."""
    seen = {}
    for waits in (2, 3):
        plan = f"wait(1); wait({waits})"
        if how == "decision":
            chef, helper = scripted([plan]), scripted(["wait(1)"])
        elif how == "answer":
            helper = scripted([Decision(plan="wait(1)", say="Ready?")])
            chef = scripted(["wait(1)"], [Message(0, "", plan)])
        elif how == "revision":
            chef = scripted([Decision(plan="wait(1)", say="Ready?")], [Message(0, "", plan)])
            helper = scripted(["wait(1)"], [Message(1, "yes", "")])
        else:
            chef = scripted([Decision(plan="dance()", say="Ready?"), plan])
            helper = scripted(["wait(1)"])
        play(env, chef, helper)
        asked = [view.timestep for view in chef.views]
        longest = max(later - earlier for earlier, later in pairwise(asked))
        assert longest == 1 + waits + (how == "answer"), "the plan is carried out"
        seen[waits] = [json.dumps(view.to_dict()) for view in (*helper.views[:3], *helper.heard[:3])]
    assert seen[2] == seen[3]


def test_public_plans_are_seen_from_the_first_answer_on(env, scripted):
    """Also a plan in an answer without words, and in the answer of a seat that has never decided by itself."""
    chef = scripted(["wait(1)", Decision(plan="wait(1)", say="now?"), "wait(1)"])
    helper = scripted(["wait(2)"], [Message(1, "", "wait(3)", public=True)])
    play(env, chef, helper)
    assert [seen.announced[1] for seen in chef.views[:3]] == [(), (), ("wait(2)",)]


def test_an_opener_that_closes_its_conversation_is_not_asked_again(env, scripted):
    for last in (False, True):
        chef = scripted([Decision(plan="wait(1)", say="Wait.", last=last)], [Message(0, "Good.", "")])
        helper = scripted([], [Message(1, "Yes?", "")])
        record = play(env, chef, helper)
        assert (len(helper.heard), len(chef.heard)) == ((1, 0) if last else (2, 1))
        assert [message.agent for message in record.steps[0].messages] == ([0, 1] if last else [0, 1, 0])


def test_each_of_several_teammates_answers_a_closed_conversation_once():
    plans = Plans(3, lambda seat, plan: [plan])
    talk = Conversation(plans, Delivery(Limits(max_messages=9), 3, 0), 0, []).hold(1, "Go.", "", last=True)
    asked = [next(talk), talk.send(Message(2, "Yes.", ""))]
    with pytest.raises(StopIteration):
        talk.send(Message(0, "Yes.", ""))
    assert asked == [2, 0]


def test_a_plan_in_an_answer_is_announced(env, scripted):
    chef = scripted(["wait(1)", Decision(plan="wait(1)", say="now?"), "wait(1)"])
    helper = scripted(["wait(2)"], [Message(1, "yes", "wait(3)")])
    play(env, chef, helper)
    assert [seen.announced[1] for seen in chef.views[:3]] == [(), (), ("wait(2)",)]


def test_later_seats_know_what_earlier_ones_chose_where_commands_are_carried_out_in_turn(env, scripted):
    chef, helper = scripted(["wait(1)"]), scripted()
    play(env, chef, helper)
    assert chef.views[0].earlier == helper.views[0].earlier == ()  # both act at once
    env = collab_overcooked.make("CuisineWorld-v0", level="level_0", max_cycles=1)
    one, other = scripted(["noop"]), scripted()
    play(env, one, other)
    assert one.views[0].earlier == () and other.views[0].earlier == ((0, "noop"),)


def test_only_those_who_need_it_get_a_simulator(env, scripted):
    planner, other = scripted(), scripted()
    planner.needs_simulator = True
    play(env, planner, other)
    assert other.info.simulator is None
    assert planner.info.simulator.state.clock.shape[0] == 1


def test_refusals_are_told_to_their_own_seat_only(env, scripted):
    chef, helper = scripted(["deliver()", "wait(1)"]), scripted()
    play(env, chef, helper)
    assert [refusal[:3] for refusal in chef.views[2].refused] == [(0, "deliver()", "DELIVER_EMPTY_HANDED")]
    assert helper.views[1].refused == ()


def test_a_policy_that_answers_for_several_seats_orders_them():
    """Seats whose turn comes first are asked first, others keep their turns, and all are judged in that order."""
    env = collab_overcooked.make("CuisineWorld-v0", level="level_1", agents=4, max_cycles=1)
    asked = []

    def answer(event):
        if isinstance(event, Ask):
            asked.append((event.seat, [seat for seat, _ in event.seen.earlier]))
            return Decision(action=0, turn_order=(3, 1)) if event.seat in (1, 3) else Decision(action=0)
        return None

    run, value = Episode(env, ["a", "b", "c", "b"], 0), None
    with pytest.raises(StopIteration) as over:
        while True:
            value = answer(run.send(value))
    (step,) = over.value.value.steps
    assert step.turn_order == [0, 3, 2, 1]
    assert asked == [(0, []), (1, [0]), (3, [0]), (2, [0, 3])]  # seat 1 answers once, its turn comes last


@pytest.mark.parametrize("turn_order", [(1, 1), (0, 4)])
def test_a_turn_order_of_other_seats_is_refused(turn_order):
    env = collab_overcooked.make("CuisineWorld-v0", level="level_1", agents=2, max_cycles=1)
    run = Episode(env, ["a", "b"], 0)
    run.send(None)
    assert isinstance(run.send(None), Ask)
    with pytest.raises(ValueError, match="must name seats of the game once each"):
        run.send(Decision(action=0, turn_order=turn_order))


def test_games_with_a_fixed_order_refuse_a_turn_order(env):
    run = Episode(env, ["a", "b"], 0)
    run.send(None)
    assert isinstance(run.send(None), Ask)
    with pytest.raises(ValueError, match="order of the seats is fixed"):
        run.send(Decision(action=0, turn_order=(1, 0)))
