"""Lists of all actions of a seat: games whose possible actions alone guide a player offer the impossible ones too."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

import collab_overcooked as co
from collab_overcooked import registry
from collab_overcooked.game_spec import LEGAL, MENUS, VOCABULARY
from collab_overcooked.policies.api import AgentView
from collab_overcooked.policies.listed import ActionList, offered
from collab_overcooked.policies.specs import make_policy

pytest.importorskip("jinja2", reason="needs the extra llm")
WHOLE = [spec.id for spec in registry.games() if spec.menu == VOCABULARY]
NUMBERED = re.compile(r"^\d+\. (\S+.*)$", re.MULTILINE)
LOST = "The game refuses an impossible one, and the step is lost."


def listed(request: Any) -> list[str]:
    return NUMBERED.findall(request.turns[-1].content.rpartition("Actions:")[2])


def test_menus_are_declared_by_games_whose_possible_actions_guide() -> None:
    assert {"KitchenRush-v0", "Housework-v0", "Transport-v0", "CraftKitchen-v0", "CollabCapture-v0"} <= set(WHOLE)
    assert all(spec.menu in MENUS for spec in registry.games())


@pytest.mark.parametrize("env_id", WHOLE)
def test_an_impossible_choice_costs_the_step_and_its_reason_is_shown_next(play_team: Any, env_id: str) -> None:
    env = co.make(env_id)
    env.reset(seed=1)
    legal, idle = env.legal_actions(env.agents[0]), env.game.seen(env.arrays[0], 0, 0).idle_action
    chosen: list[str] = []

    def answer(request: Any) -> Any:
        """Choose an impossible action, or the same possible one until it has become impossible."""
        texts = listed(request)
        chosen.append(chosen[0] if chosen else next((text for text in texts if text not in legal), texts[-1]))
        return {"action": texts.index(chosen[-1]) + 1}

    team = ["llm:m?agent=choose,order=game"] + ["always:nothing"] * (env.game.n_agents - 1)
    record, client = play_team(team, answer, env_id, max_cycles=6)
    assert all(LOST in request.turns[-1].content for request in client.asked)
    lost = [step for step in record.steps if step.errors]
    assert lost and all(step.actions[0] == idle for step in lost)
    assert all([error.agent for error in step.errors] == [0] for step in lost)
    error = lost[0].errors[0]
    assert any(f"was refused: {error.message}" in request.turns[-1].content for request in client.asked)


@pytest.mark.parametrize("env_id", WHOLE)
def test_no_prompt_tells_which_actions_are_possible(play_team: Any, env_id: str) -> None:
    spec = "llm:m?agent=choose,check=1,intention=on,reflection=2"
    _, client = play_team(spec, lambda request: {"action": 1}, env_id, max_cycles=4)
    for request in client.asked:
        text = "\n".join(turn.content for turn in request.turns)
        assert "alid actions" not in text and "You can:" not in text and "possible actions" not in text


@pytest.mark.parametrize("env_id", WHOLE)
def test_legal_menus_list_what_is_possible(play_team: Any, env_id: str) -> None:
    record, client = play_team("llm:m?agent=choose,menu=legal", lambda request: {"action": 1}, env_id, max_cycles=4)
    assert all(LOST not in request.turns[-1].content for request in client.asked)
    assert not any(step.errors for step in record.steps)


@pytest.mark.parametrize("env_id", [spec.id for spec in registry.games()])
def test_all_possible_actions_are_in_the_vocabulary_and_nothing_that_a_seat_has_not_found(env_id: str) -> None:
    env = co.make(env_id)
    env.reset(seed=3)
    for _ in range(6):
        if not env.agents:
            break
        for seat, agent in enumerate(env.agents):
            seen = AgentView.of(env.game, *env.arrays, seat)
            menu = offered(seen, env.game, VOCABULARY)
            assert set(offered(seen, env.game, LEGAL)) <= set(menu)
            assert all(seen.view.action_texts[action] == text for text, action in menu.items())
            unknown = [text for text, reason in seen.view.refusals.items() if "do not know where" in reason]
            assert not set(unknown) & set(seen.view.vocabulary), agent
        actions = {agent: env.game.seen(env.arrays[0], 0, seat).idle_action for seat, agent in enumerate(env.agents)}
        for seat, agent in enumerate(env.agents):
            legal = [k for k, allowed in enumerate(env.action_mask(agent)) if allowed]
            actions[agent] = legal[(seat + 1) % len(legal)]
        env.step(actions)


@pytest.mark.parametrize(
    ("text", "menu"), [("always:2", None), ("always:2,legal", LEGAL), ("always:newest,game,vocabulary", VOCABULARY)]
)
def test_blind_rules_read_the_menu_that_they_are_given(text: str, menu: str | None) -> None:
    assert make_policy(text)._menu == menu


def test_a_legal_choice_that_the_game_refuses_is_asked_for_again() -> None:
    """Lists of legal actions go out of date where an earlier seat of the same step takes the last one."""
    env = co.make("KitchenRush-v0")
    env.reset(seed=0)
    seen = AgentView.of(env.game, *env.arrays, 0)
    refused = replace(seen, error=("NO_SPACE", "The pantry has no action space left in this turn."))
    for menu, is_lost in ((LEGAL, False), (VOCABULARY, True)):
        listed = ActionList(env.game, 0, "game", menu=menu)
        assert listed.is_lost(refused) == is_lost and not listed.is_lost(seen)
