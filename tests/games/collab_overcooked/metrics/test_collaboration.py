from __future__ import annotations

from typing import Any

import pytest

from collab_overcooked.games.collab_overcooked.options import CollaborationOptions
from collab_overcooked.games.collab_overcooked.suite.collaboration import (
    CollaborationRun,
    PlanConversation,
    PlanMessage,
    announced_actions,
    collaboration_events,
    kitchen_vocabularies,
    requested_actions,
    required_collaborations,
)
from collab_overcooked.games.collab_overcooked.suite.run_scores import CollabRow, score_run

B2 = 0.9025
FETCH, CHOP, CUT = ("pickup(egg,ingredient_dispenser)", "put_obj_in_utensil(chopping_board0)", "cut(chopping_board0)")
CHEF = ["cook(pot0)", "deliver()"]
REFERENCES = ([CHEF], [[FETCH, CHOP, CUT]])
WORDS = kitchen_vocabularies(["egg", "tofu"])


def talk(t: int, *messages: tuple[int, str, str]) -> PlanConversation:
    return PlanConversation(t, tuple(PlanMessage(*message) for message in messages))


def run_with(
    *conversations: PlanConversation, did: tuple[tuple[int, str], ...] = (), steps: int = 9
) -> CollaborationRun:
    return CollaborationRun(history=((), did), conversations=conversations, success=False, timesteps=steps)


def ask(*actions: str) -> str:
    return "Chef plan: " + "; ".join(f"request('{action}')" for action in actions) + "; wait(1)"


def codes(*conversations: PlanConversation, did: tuple[tuple[int, str], ...] = ()) -> tuple[int, ...]:
    return tuple(score_run(run_with(*conversations, did=did), REFERENCES, WORDS)["codes"])


def score_runs(runs: list[CollaborationRun], options: CollaborationOptions | None = None) -> list[dict[str, Any]]:
    return [score_run(run, REFERENCES, WORDS, options) for run in runs]


def pooled(episodes: list[dict[str, Any]]) -> tuple[float, float, int]:
    """IC, RC and the number of opportunities of a task."""
    row = CollabRow("", {"task": episodes})
    ic, rc = row.value("ic"), row.value("rc")
    assert ic is not None and rc is not None
    return ic.value, rc.value, sum(episode["opportunities"] for episode in episodes)


def test_the_four_codes() -> None:
    good, bad = f"plan: {FETCH}", "plan: pickup(tofu, counter)"
    assert codes(talk(0, (0, "hi", ask(FETCH)), (1, "ok", good))) == (0,)
    assert codes(talk(0, (0, "hi", ask(FETCH)), (1, "ok", bad))) == (1,)
    assert codes(talk(0, (0, "hi", ask(CUT)), (1, "ok", good))) == (2,)
    assert codes(talk(0, (0, "hi", ask(CUT)), (1, "ok", bad))) == (3,)


def test_scores_by_hand() -> None:
    conversation = talk(3, (0, "hi", ask(CHOP, CUT)), (1, "ok", f"plan: {CHOP}"))
    (event,) = collaboration_events(run_with(conversation, did=((2, FETCH), (5, CHOP))), REFERENCES, WORDS)
    one, two, three = (1.9025 * k / (3 + B2 * k) for k in (1, 2, 3))
    assert event.history == (FETCH,)
    assert event.c1 == pytest.approx(three - one)
    assert event.c2 == pytest.approx(three - two)
    assert event.c3 == pytest.approx(two - one)


def test_history_is_what_was_finished_before_the_conversation() -> None:
    conversation = talk(2, (0, "hi", ask(FETCH)))
    before = run_with(conversation, did=((2, FETCH),))
    after = run_with(conversation, did=((3, FETCH),))
    assert collaboration_events(before, REFERENCES, WORDS)[0].history == (FETCH,)
    assert collaboration_events(after, REFERENCES, WORDS)[0].history == ()


def test_unknown_actions_leave_the_history_but_those_of_other_seats_stay() -> None:
    did = ((1, "fly(moon)"), (1, "cook(pot0)"), (2, FETCH))
    (event,) = collaboration_events(run_with(talk(2, (0, "hi", "")), did=did), REFERENCES, WORDS)
    assert event.history == ("cook(pot0)", FETCH)


def test_ic_and_rc_pool_the_runs_and_runs_without_events_keep_their_place() -> None:
    good = run_with(talk(0, (0, "hi", ask(FETCH)), (1, "ok", f"plan: {FETCH}")))
    poor = run_with(talk(0, (0, "hi", ask(FETCH)), (1, "ok", "plan: wait(2)")), talk(4, (0, "hi", "wait(1)")))
    runs = score_runs([run_with(), good, poor])
    assert [run["codes"] for run in runs] == [[], [0], [1, 3]]
    assert pooled(runs) == (pytest.approx(2 / 3), pytest.approx(1 / 3), 3)


def test_no_event_gives_zero() -> None:
    assert pooled(score_runs([run_with()])) == (0.0, 0.0, 0)


def test_silence_is_no_event() -> None:
    assert codes(talk(0, (0, "[NOTHING]", ask(FETCH))), talk(1, (0, "", ask(FETCH)))) == ()


def test_the_first_who_speaks_is_the_initiator() -> None:
    conversation = talk(0, (0, "[NOTHING]", "wait(1)"), (1, "please", "request('cook(pot0)')"))
    (event,) = collaboration_events(run_with(conversation), REFERENCES, WORDS)
    assert (event.initiator, event.responder, event.requested) == (1, 0, ("cook(pot0)",))
    assert event.initiated


def test_initiators_option() -> None:
    result = talk(0, (1, "hi", "request('cook(pot0)')"), (0, "ok", "cook(pot0)"))
    chef = talk(1, (0, "hi", ask(FETCH)), (1, "ok", "wait(1)"))
    run = run_with(result, chef)
    assert score_run(run, REFERENCES, WORDS)["codes"] == [1]
    both = CollaborationOptions(initiators="both")
    assert score_run(run, REFERENCES, WORDS, both)["codes"] == [0, 1]


def test_denominator_option() -> None:
    runs = [run_with(talk(0, (0, "hi", ask(FETCH)), (1, "ok", FETCH))), run_with()]
    scores = score_runs(runs, CollaborationOptions(denominator="required"))
    assert pooled(scores) == (pytest.approx(1 / 6), pytest.approx(1 / 6), 6)


@pytest.mark.parametrize("size", [1, 2, 3, 19])
@pytest.mark.parametrize("waits", [True, False], ids=["done-before-the-next", "all-asked-first"])
def test_perfect_play_scores_one_per_required_action_however_requests_are_grouped(
    size: int, waits: bool, paper_references: dict, paper_foods: list[str]
) -> None:
    vocabularies, options = kitchen_vocabularies(paper_foods), CollaborationOptions(denominator="required")
    for references in paper_references.values():
        actions = references[1][-1]
        groups = [actions[i : i + size] for i in range(0, len(actions), size)]
        talks, did = [], [(t + 1, action) for t, action in enumerate(actions)]
        for number, group in enumerate(groups):
            t = number * size if waits else 0
            talks.append(talk(t, (0, "please", ask(*group)), (1, "ok", "; ".join(group))))
        run = CollaborationRun(((), tuple(did)), tuple(talks), True, 99)
        assert pooled([score_run(run, references, vocabularies, options)])[:2] == (1.0, 1.0)


def test_a_required_action_counts_once_and_only_when_it_is_next() -> None:
    options = CollaborationOptions(denominator="required")
    again = [talk(t, (0, "hi", ask(FETCH)), (1, "ok", FETCH)) for t in range(3)]
    assert pooled(score_runs([run_with(*again)], options))[:2] == (pytest.approx(1 / 3),) * 2
    early = talk(0, (0, "hi", ask(CUT, CHOP, FETCH)), (1, "ok", CUT))
    assert pooled(score_runs([run_with(early)], options))[:2] == (pytest.approx(1 / 3), 0.0)


def test_response_option_takes_what_was_done_until_the_next_conversation() -> None:
    first = talk(0, (0, "hi", ask(FETCH)), (1, "ok", "wait(1)"))
    second = talk(4, (0, "hi", ask(CUT)), (1, "ok", FETCH))
    run = run_with(first, second, did=((2, FETCH), (4, CHOP), (6, CUT)))
    events = collaboration_events(run, REFERENCES, WORDS, CollaborationOptions(response="executed"))
    assert [event.response for event in events] == [(FETCH, CHOP), (CUT,)]


@pytest.mark.parametrize("field", ["denominator", "initiators", "response", "quotes"])
def test_unknown_option_values_are_named(field: str) -> None:
    with pytest.raises(ValueError, match=f"{field}: got 'most', allowed are"):
        CollaborationOptions(**{field: "most"})  # type: ignore[arg-type]


def test_requests_of_all_messages_count_in_order() -> None:
    messages = [PlanMessage(0, "a", ask(FETCH)), PlanMessage(1, "b", ask(CHOP)), PlanMessage(0, "c", ask(CUT))]
    assert requested_actions(messages, 0, WORDS[1]) == (FETCH, CUT)


@pytest.mark.parametrize(
    ("plan", "single", "either"),
    [
        ("request('cut( chopping_board0 )')", (CUT,), (CUT,)),
        ("request(cut(chopping_board0))", (CUT,), (CUT,)),
        ('request("cut(chopping_board0)")', (), (CUT,)),
        ("Request('cut(chopping_board0)')", (), ()),
        ("request('wait(1)')", (), ()),
        ("request('cut(chopping_board9)')", (), ()),
        ("request('cook(pot0)')", (), ()),  # the assistant has no pot
        ("request('place_obj_on_counter()')", ("place_obj_on_counter()",), ("place_obj_on_counter()",)),
    ],
)
def test_request_spellings(plan: str, single: tuple[str, ...], either: tuple[str, ...]) -> None:
    messages = [PlanMessage(0, "hi", plan)]
    assert requested_actions(messages, 0, WORDS[1]) == single
    assert requested_actions(messages, 0, WORDS[1], quotes="any") == either


def test_without_a_vocabulary_every_plain_action_counts_but_waits() -> None:
    messages = [PlanMessage(0, "hi", "request('fly(moon)'); request('wait(1)'); request(\"cut(b)\")")]
    assert requested_actions(messages, 0, None) == ("fly(moon)",)


def test_only_the_first_plan_with_an_action_is_the_response() -> None:
    first = [PlanMessage(1, "hm", "plan: [NOTHING]"), PlanMessage(1, "ok", FETCH), PlanMessage(1, "no", CUT)]
    assert announced_actions(first, 1, WORDS[1]) == (FETCH,)
    waits = [PlanMessage(1, "ok", "wait(1)"), PlanMessage(1, "now", FETCH)]
    assert announced_actions(waits, 1, WORDS[1]) == ()
    mixed = [PlanMessage(1, "ok", "request('cook(pot0)'); wait(1); cut( chopping_board0 ); fly(moon)")]
    assert announced_actions(mixed, 1, WORDS[1]) == (CUT,)


def test_waits_and_requests_are_no_response_even_if_the_vocabulary_has_them() -> None:
    messages = [PlanMessage(1, "ok", f"wait(1); request(egg); {CUT}")]
    assert announced_actions(messages, 1, frozenset({"wait(1)", "request(egg)", CUT})) == (CUT,)


def test_among_three_agents_the_first_that_answers_is_the_responder() -> None:
    run = CollaborationRun(((), (), ()), (talk(0, (0, "hi", ""), (2, "me", ""), (1, "no", "")),), False, 1)
    assert collaboration_events(run, (*REFERENCES, [["a()"]]))[0].responder == 2


def test_without_an_answer_the_one_who_knows_the_requests_is_the_responder() -> None:
    texts = {0: frozenset({"x()"}), 1: frozenset({"y()"}), 2: frozenset({"z()"})}
    run = CollaborationRun(((), (), ()), (talk(0, (0, "hi", "request('z()')")),), False, 1)
    event = collaboration_events(run, ([["x()"]], [["y()"]], [["z()"]]), texts)[0]
    assert (event.responder, event.initiated) == (2, True)


def test_missing_seats_are_named() -> None:
    run = run_with(talk(0, (0, "hi", "")))
    with pytest.raises(ValueError, match="vocabularies: seat 1"):
        collaboration_events(run, REFERENCES, {0: WORDS[0]})
    with pytest.raises(ValueError, match="references: agent 1"):
        collaboration_events(run, ([CHEF],), WORDS)


def test_required_collaborations_of_the_paper(paper_references: dict) -> None:
    lengths = [required_collaborations(references) for references in paper_references.values()]
    assert lengths == [n for n in (2, 5, 7, 9, 14, 19) for _ in range(5)]


def test_the_papers_vocabularies_have_332_and_538_strings(paper_foods: list[str]) -> None:
    assert len(set(paper_foods)) == 106
    text = kitchen_vocabularies(paper_foods)
    assert {seat: len(word) for seat, word in text.items()} == {0: 332, 1: 538}


def test_every_reference_action_is_in_its_seats_vocabulary(paper_foods: list[str], paper_references: dict) -> None:
    text = kitchen_vocabularies(paper_foods)
    for task, references in paper_references.items():
        for seat, reference in enumerate(references):
            assert {action for one in reference for action in one} <= text[seat], task


def test_a_vocabulary_follows_the_kitchen() -> None:
    text = kitchen_vocabularies(
        ["egg"], {0: {"pot0": "cook", "pot1": "cook"}, 1: {}, 2: {}}, suppliers=(2,), deliverers=(1,)
    )
    assert {"cook(pot1)", "pickup(egg,pot1)", "put_obj_in_utensil(pot0)"} <= text[0]
    assert "deliver()" in text[1] and "fill_dish_with_food(pot1)" in text[1]
    assert "deliver()" not in text[0] and "pickup(dish,dish_dispenser)" not in text[0]
    assert "pickup(egg,ingredient_dispenser)" in text[2]
    with pytest.raises(ValueError, match="deliverers: seat 0 is unknown"):
        kitchen_vocabularies(["egg"], {1: {}})
