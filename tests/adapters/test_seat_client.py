"""Clients of seats: the caller's texts play the same episodes as policies in the same seats, and nothing ends them."""

from __future__ import annotations

import gc
import json
import subprocess
import sys

import pytest
from support.records import as_json

from collab_overcooked import registry
from collab_overcooked.adapters.results import outcome_of, request_counts
from collab_overcooked.adapters.seat_client import SeatClient, Turn
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.policies.api import AgentView, Decision, PolicyBase
from collab_overcooked.runner.episode import derive_seed

CHOOSE = "llm:x?agent=choose,patience=off,order=game,menu=legal"  # offers the actions of the game alone
QUICK = ("collab-capture", "collab-escape", "collab-overcooked", "rush")
SUITES = sorted({suite for record in registry.GAMES for suite in list(record.suites)[:1]})
COSTS = ("accounts", "decisions")


def pick(legal: tuple[str, ...], timestep: int, seat: int) -> str:
    """Choose an action that depends on nothing but the moment."""
    return legal[derive_seed(7, timestep, seat) % len(legal)]


class Picker(PolicyBase):
    """Answers as the caller of a seat client does in the tests below."""

    name = "picker"

    def reset(self, seat, info, seed):
        self.talking = info.game.talk_actions(seat)

    def act(self, seen: AgentView) -> Decision:
        legal = tuple(text for text, action in seen.legal_actions.items() if action not in self.talking)
        return Decision(action=seen.legal_actions[pick(legal, seen.timestep, seen.seat)])


def match_of(suite: str, team: str = f"all={CHOOSE}", **options):
    return plan_evaluation(suite, team.split(), episodes=1, **options).matches[0]


def play(client: SeatClient, seed: int | None = None) -> tuple[Turn, dict[int, float]]:
    """Play to the end; returns the last turn and the sum of the rewards by open seat."""
    turn, paid = client.start(seed), dict.fromkeys(client.seats, 0.0)
    while not turn.done:
        numbered = turn.text.rpartition("Actions:\n")[2].splitlines()
        offered = [line.split(". ", 1)[1] for line in numbered if line.split(".")[0].isdigit()]
        assert set(offered) <= set(turn.legal)
        number = offered.index(pick(tuple(offered), turn.info["timestep"], turn.seat)) + 1
        turn = client.step(json.dumps({"action": number}))
        if not turn.done:
            paid[turn.seat] += turn.reward
    return turn, {seat: paid[seat] + turn.info["rewards"][seat] for seat in paid}


def without_costs(record):
    costs = ("tokens", "exchanges")
    values = as_json(record)
    steps = [{name: value for name, value in step.items() if name not in costs} for step in values["steps"]]
    return {name: value for name, value in values.items() if name not in COSTS} | {"steps": steps}


@pytest.mark.parametrize("suite", [pytest.param(s, marks=() if s in QUICK else pytest.mark.slow) for s in SUITES])
def test_texts_from_outside_play_the_record_of_a_policy(suite):
    match = match_of(suite)
    expected = match.run(lambda spec: Picker())
    with SeatClient(match, reward="return") as client:
        last, paid = play(client)
    assert [without_costs(record) for record in client.records] == [without_costs(record) for record in expected]
    assert last.info["metrics"] == client.metrics and last.seat == -1 and not last.legal
    steps = [step.rewards for record in expected for step in record.steps]
    assert paid == {seat: pytest.approx(sum(rewards[seat] for rewards in steps)) for seat in range(len(match.team))}


@pytest.mark.parametrize("reward", ["outcome", "progress"])
@pytest.mark.parametrize("team", [f"agent_0={CHOOSE} agent_1=greedy", f"all={CHOOSE}"])
@pytest.mark.parametrize("suite", ["collab-capture", "rush", "collab-overcooked"])
def test_rewards_add_up_to_the_outcome(suite, team, reward):
    with SeatClient(match_of(suite, team), reward=reward) as client:
        _, paid = play(client)
    by_steps = (suite, reward) == ("collab-overcooked", "progress")
    scores = [record.metrics["pc"] if by_steps else outcome_of(record) for record in client.records]
    assert paid == dict.fromkeys(paid, pytest.approx(sum(scores) / len(scores)))


def test_another_seed_is_another_episode_and_the_same_seed_the_same():
    match = match_of("rush")
    with SeatClient(match) as client:
        play(client, seed=5)
        first = client.record
        play(client, seed=6)
        other = client.record
        play(client, seed=5)
    assert (first.seed, other.seed) == (5, 6)
    assert without_costs(client.record) == without_costs(first)


HOSTILE = [
    "",
    "\x00\x1b[2J",
    "9" * 10_000,
    "{" * 5_000,
    "<script>alert(1)</script>",
    '{"action": 1e999}',
    "\\" * 20_000,
]


@pytest.mark.parametrize("text", [*HOSTILE, "a" * 10_000_000], ids=range(len(HOSTILE) + 1))
def test_hostile_texts_end_nothing(text):
    with SeatClient(match_of("collab-capture", f"agent_0={CHOOSE} agent_1=greedy")) as client:
        turn = client.start()
        while not turn.done:
            turn = client.step(text)
    assert client.record.timesteps > 0


def test_an_answer_that_cannot_be_read_is_asked_for_again_once():
    with SeatClient(match_of("collab-capture")) as client:
        turn = client.start()
        again = client.step("I am not sure.")
        assert again.seat == turn.seat and again.info == turn.info
        assert "number of one action" in again.text
        assert [message["role"] for message in again.messages] == ["system", "user", "assistant", "user"]


def test_partners_talk_and_plan_as_the_papers_agents_do():
    with SeatClient(match_of("collab-overcooked", "agent_0=llm:x agent_1=llm:y")) as client:
        turn = client.start()
        turn = client.step(json.dumps({"analysis": "", "plan": "wait(1)", "say": "Bring me an egg, please."}))
        assert turn.seat == 1
        assert "Bring me an egg, please." in turn.text
        while not turn.done:
            turn = client.step(json.dumps({"analysis": "", "plan": "wait(5)", "say": "[NOTHING]"}))
    assert client.record.steps[0].messages[0].say == "Bring me an egg, please."


def test_a_seat_is_shown_what_its_policy_may_know_and_no_more():
    """The recipe is the chef's: no message to the helper has it, and the chef's opening does."""
    with SeatClient(match_of("collab-overcooked", f"all={CHOOSE}")) as client:
        turn, chats = client.start(), {0: "", 1: ""}
        while not turn.done:
            chats[turn.seat] += "\n".join(message["content"] for message in turn.messages)
            turn = client.step('{"action": 1}')
    assert "Recipe" in chats[0] and "Recipe" not in chats[1]


def test_leaving_early_and_starting_again():
    with SeatClient(match_of("collab-capture")) as client:
        client.start()
        with pytest.raises(ValueError, match="no episode is finished yet"):
            _ = client.record
        turn, _ = play(client)
        assert turn.done
        with pytest.raises(ValueError, match="nothing is asked"):
            client.step("1")
        client.start()


@pytest.mark.slow
def test_a_program_may_end_while_a_seat_is_asked():
    code = (
        "from collab_overcooked.adapters.seat_client import SeatClient\n"
        f"SeatClient.of_suite('collab-capture', 'all={CHOOSE}', episodes=1).start()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="no seat is open"):
        SeatClient(match_of("collab-capture", "all=greedy"))
    with pytest.raises(ValueError, match="match must be an integer from 0 to 19, not 20"):
        SeatClient.of_suite("collab-capture", f"all={CHOOSE}", 20, episodes=20)
    with pytest.raises(ValueError, match="unknown reward 'sparse'"):
        SeatClient(match_of("collab-capture"), reward="sparse")
    with SeatClient(match_of("collab-capture")) as client:
        client.start()
        with pytest.raises(TypeError, match="must be a string or a Reply, not int"):
            client.step(1)


@pytest.mark.parametrize(
    ("switch", "team", "plain"),
    [
        ("see=picture", "all=llm:x?agent=choose,see=picture", "see=text"),
        ("see=both", "agent_0=llm:x?agent=choose,see=both agent_1=greedy", "see=text"),
        ("channel=tools", "agent_1=llm:x?channel=tools agent_0=greedy", "channel=text"),
    ],
)
def test_what_a_harness_does_not_pass_on_is_refused(switch, team, plain):
    match = match_of("collab-overcooked", team, levels="1")
    with pytest.raises(ValueError, match=f"{switch} needs .*, which this harness does not pass on; allowed is {plain}"):
        SeatClient(match)
    with SeatClient(match, carries=("pictures", "tools")) as client:
        client.start()
        assert bool(client.request.pictures) == ("see" in switch) and bool(client.request.tools) == (
            "see" not in switch
        )


def test_a_client_that_nobody_holds_ends_its_thread():
    client = SeatClient(match_of("collab-capture"))
    client.start()
    thread = client._worker._thread
    del client
    gc.collect()
    thread.join(60)
    assert not thread.is_alive()


def test_questions_are_answered_and_counted():
    (match, *_) = plan_evaluation("questions", ["all=llm:x"], items="overcooked-p001-own").matches
    letter = "ABCDEFGH"[match.item.correct[0]]
    for answers, outcome, unusable in (([letter], 1.0, 0), (["hm", "hm"], 0.0, 2)):
        with SeatClient(match) as client:
            turn = client.start()
            for answer in answers:
                turn = client.step(json.dumps({"answer": answer}))
            assert turn.done and turn.reward == outcome
            assert request_counts(client.records) == {"requests": len(answers), "unusable": unusable}
