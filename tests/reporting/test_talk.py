"""How much teams talk, by counts that are known."""

from __future__ import annotations

import numpy as np
import pytest
from support.records import record_of

from collab_overcooked import make
from collab_overcooked.reporting.talk import symbols_of, talk_card
from collab_overcooked.runner.episode import Episode

EVENT = {"label": "", "event": "moved", "reason": "OK", "room": "", "adversary": "", "subject": None}
EVENT |= {"caught": False, "completed": False, "escaped": False}


def record(texts, channel=4, success=True, say=""):
    message = {"agent": 0, "say": say, "plan": ""}
    steps = [{"actions": [0, 0], "action_texts": list(pair), "events": [EVENT, EVENT]} for pair in texts]
    if say:
        steps[0]["messages"] = [message]
    options = {"channel": channel} if channel else {}
    return record_of(env_id="CollabCapture-v0", env_kwargs=options, steps=steps, success=success, task="t")


def numbers(records):
    table = talk_card(records).tables[0]
    return dict(zip([column.name for column in table.columns], table.rows[0], strict=True))


def test_symbols_and_bits_are_counted_by_success():
    """Four symbols in two of four steps, two of them different: 4 times 1 bit for two successes."""
    row = numbers(
        [
            record([("say 1: wait", "say 2: wait"), ("wait", "wait")]),
            record([("say 1: wait", "say 2: wait"), ("wait", "wait")]),
            record([("wait", "wait")] * 4, success=False),
        ]
    )
    assert row["deliveries"] == 2 and row["steps with a symbol %"] == pytest.approx(2 / 8)
    assert row["symbols per delivery"] == 2 and row["bits per delivery"] == pytest.approx(2)
    assert "words per delivery" not in row


def test_a_symbol_that_is_the_only_one_has_no_bits_and_no_success_no_rate():
    row = numbers([record([("say 3: wait", "wait")], success=False)])
    assert row["symbols per delivery"] is None and row["steps with a symbol %"] == 1
    assert numbers([record([("say 3: wait", "wait")])])["bits per delivery"] == 0


def test_words_are_counted_without_a_channel_and_silence_says_nothing():
    assert talk_card([record([("wait", "wait")], channel=0)]) is None
    row = numbers([record([("wait", "wait")], channel=0, say="go to room three")])
    assert row["words per delivery"] == 4 and "symbols per delivery" not in row


def test_refused_acts_say_nothing():
    env, rng, refused = make("KitchenRush-v0", channel=2), np.random.default_rng(0), 0
    n_acts = env.game.quiet.n_actions
    for seed in range(10):
        env.reset(seed=seed)
        chosen, said = [], []
        while env.agents:
            acts = {agent: int(rng.choice(np.flatnonzero(env.action_mask(agent)))) for agent in env.agents}
            env.step(acts)
            chosen.append([*acts.values()])
            said.append(env.arrays[1].spoken[0].tolist())
        assert symbols_of(Episode(env, ["random"] * env.game.n_agents, seed).take(chosen)) == said
        refused += said != [[action // n_acts for action in acts] for acts in chosen]
    assert refused
