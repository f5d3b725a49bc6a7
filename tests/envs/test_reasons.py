"""Reasons of refusals: codes with sentences, in every game."""

from __future__ import annotations

import numpy as np
import pytest
from support.option_sets import OPTIONS

from collab_overcooked.kernels.reasons import ReasonCode
from collab_overcooked.kernels.rng import seed_states
from collab_overcooked.registry import game_class, game_options, load_game, registered


class Reason(ReasonCode):
    """Why a door stays shut."""

    OK = 0
    F_TOO_FAR = 2
    LOCKED = 3, "{name} is locked."
    SILENT = 4, ""


def test_a_reason_is_a_code_with_a_sentence_or_its_name_as_one():
    sentences = ["Accepted.", "Too far.", "{name} is locked.", ""]
    assert [(int(reason), reason.sentence) for reason in Reason] == list(zip((0, 2, 3, 4), sentences, strict=True))
    assert Reason(3) is Reason.LOCKED and Reason["F_TOO_FAR"] == 2
    named = ReasonCode("Named", "OK F_WALL", start=0)
    assert [reason.sentence for reason in named] == ["Accepted.", "Wall."]


@pytest.mark.parametrize("env_id", registered())
def test_every_reason_of_a_game_has_a_sentence_of_its_own_and_0_accepts(env_id):
    reasons = game_class(env_id).reason_codes
    assert issubclass(reasons, ReasonCode) and reasons(0).name == "OK" and reasons(0).sentence == "Accepted."
    silent = [reason.name for reason in reasons if not reason.sentence]
    assert silent == (["TIRED"] if "TIRED" in reasons.__members__ else [])


@pytest.mark.parametrize(
    ("env_id", "options"), [(env_id, options) for env_id, sets in OPTIONS.items() for options in ({}, sets[0])]
)
def test_check_fills_the_sentence_of_what_the_game_would_refuse(env_id, options):
    """Every action in a few states; where masks are exact, they and the codes agree."""
    known = game_options(env_id)
    game = load_game(env_id, **{name: value for name, value in options.items() if name in known})
    state, out = game.alloc(1)
    state.rng[:] = seed_states([3])
    game.reset(state, out, np.ones(1, bool))
    rng = np.random.default_rng(0)
    for _ in range(6):
        for seat in range(game.n_agents):
            for action in range(game.n_actions):
                name, sentence = game.check(state, 0, seat, action)
                assert (name == "OK") == (sentence == "Accepted.") and "{" not in sentence.replace("{'", ""), sentence
                assert not game.exact_masks or (name == "OK") == bool(out.masks[0, seat, action])
        legal = out.masks[0].astype(bool)
        actions = [rng.choice(np.flatnonzero(row)) if row.any() else 0 for row in legal]
        game.step(state, np.array([actions], np.int32), out)
