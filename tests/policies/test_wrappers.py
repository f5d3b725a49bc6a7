"""Wrappers play every game within its masks, and do what their names say."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from support.covers import cover

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.policies.api import PolicyBase
from collab_overcooked.policies.specs import PolicySpec, make_policy
from collab_overcooked.policies.wrappers import DIRECTIONS, MAKERS
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.teams import Team, make_team

SPECS = (
    "slow:3",
    "late:5",
    "switch:6:late:9:random+random",
    "forgetful:0.5",
    "short_sighted:2",
    "role:put+pot+goto+moved+walked:random",
    "convention:avoid=1:random",
    "convention:clockwise:random",
)
RING = {"layout": "coordination_ring"}


def play(env_id: str, specs: list[str], seed: int = 3, ends_after: int | None = None, **options: Any) -> dict[str, Any]:
    env = collab_overcooked.make(env_id, **options)
    team = make_team([specs[seat % len(specs)] for seat in range(env.game.n_agents)])
    return play_episode(env, team, seed, ends_after=ends_after)


def actions_of(record: dict[str, Any], seat: int) -> list[str]:
    return [step.action_texts[seat] for step in record.steps]


@pytest.mark.parametrize("wrapper", ["noisy:0.1", "slow:2", "late:5", "forgetful:0.1", "switch:9:greedy+"])
def test_wrapped_players_share_a_plan_and_report_it(wrapper: str) -> None:
    spec = f"{wrapper}cots" if wrapper.endswith("+") else f"{wrapper}:cots"
    team = make_team([spec] * 2)
    one, other = (policy.players[-1] for policy in team.policies)
    assert one.team is other.team
    assert make_team([spec, "cots"]).policies[1].team is not one.team
    record = play_episode(collab_overcooked.make("Housework-v0", task="set_table"), team, 3, ends_after=14)
    assert record.plan_updates["agent_0"]


class Watched:
    """A policy that notes what it is asked and what it answers."""

    def __init__(self, policy: Any) -> None:
        self.policy, self.asked = policy, []

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self.policy, attribute)

    def act(self, seen: Any) -> Any:
        self.asked.append((seen, self.policy.act(seen)))
        return self.asked[-1][1]


GAMES = [record.id for record in registry.games()]
PLAYS = [  # every wrapper and every game in the commit run, every pair of them at night
    pytest.param(spec, env_id, marks=() if (k - n) % len(SPECS) == 2 else pytest.mark.nightly)
    for n, env_id in enumerate(GAMES)
    for k, spec in enumerate(SPECS)
]


@pytest.mark.parametrize(("spec", "env_id"), PLAYS)
def test_it_plays_every_game_within_the_masks(env_id: str, spec: str) -> None:
    game = registry.load_game(env_id)
    if "clockwise" in spec and not grid(game):
        with pytest.raises(ValueError, match=f"agents of {env_id} have no coordinates to go round"):
            play(env_id, ["greedy", spec], ends_after=1)
        return
    first, second = (play(env_id, ["greedy", spec], ends_after=25) for _ in range(2))
    assert first == second and first.team["agent_1"] == spec
    env = collab_overcooked.make(env_id)
    team = make_team([spec if spec.endswith("random") else f"{spec}:random"] * env.game.n_agents)
    watched = tuple(map(Watched, team.policies))
    play_episode(env, replace(team, policies=watched), 5, ends_after=25)
    answers = [(seen.mask, answer) for policy in watched for seen, answer in policy.asked]
    assert answers and all(mask[answer] for mask, answer in answers)


def grid(game: Any) -> bool:
    state, out = game.alloc(1)
    game.reset(state, out, np.ones(1, bool))
    scene = game.scene(state, 0)
    agents = scene.get("players", scene.get("agents"))
    return isinstance(agents, list) and bool({"position", "at"} & set(agents[0]))


def test_wrappers_can_be_wrapped() -> None:
    assert play("Overcooked-v0", ["slow:2:forgetful:0.5:noisy:0.2", "greedy"], ends_after=20).timesteps == 20


def test_a_slow_policy_acts_at_every_third_step() -> None:
    slow, quick = (play("Overcooked-v0", [spec, "random"], ends_after=60, **RING) for spec in ("slow:3", "greedy"))
    acts = [t for t, action in enumerate(actions_of(slow, 0)) if action != "stay"]
    assert acts and all(t % 3 == 0 for t in acts)
    assert any(action != "stay" for t, action in enumerate(actions_of(quick, 0)) if t % 3)


def test_a_late_policy_comes_at_its_timestep() -> None:
    late = actions_of(play("Overcooked-v0", ["late:20", "random"], ends_after=40, **RING), 0)
    assert set(late[:20]) == {"stay"} and late[20] != "stay"


def test_a_policy_switches_at_its_timestep() -> None:
    record = play("Overcooked-v0", ["switch:20:greedy+late:30:greedy", "random"], ends_after=40, **RING)
    plain = play("Overcooked-v0", ["greedy", "random"], ends_after=40, **RING)
    switched = actions_of(record, 0)
    assert switched[:20] == actions_of(plain, 0)[:20]
    assert set(switched[20:30]) == {"stay"} and switched[30] != "stay"


def test_a_forgetful_policy_repeats_itself() -> None:
    always, never = (
        actions_of(play("Overcooked-v0", [f"forgetful:{p}:random", "greedy"], ends_after=60, **RING), 0) for p in (1, 0)
    )
    assert len(set(always)) == 1 and len(set(never)) > 2


def test_a_short_sighted_policy_wanders_after_steps_without_an_event() -> None:
    """Behind it is somebody who never does anything, so there is no event and what it does is wandering."""
    wanders = actions_of(play("Overcooked-v0", ["short_sighted:5:late:400", "late:400"], ends_after=30, **RING), 0)
    events = play("Overcooked-v0", ["short_sighted:5:late:400", "late:400"], ends_after=10, **RING).history
    assert set(wanders[:5]) == {"stay"} and set(wanders[5:10]) != {"stay"}
    assert events[0] or set(wanders[10:15]) == {"stay"}


@pytest.mark.parametrize("inner", ["greedy", "random", "ppo:coordination_ring"])
def test_a_role_takes_no_other_action(inner: str) -> None:
    record = play("Overcooked-v0", [f"role:onion:{inner}", "greedy"], **RING)
    events = {step.events[0].event for step in record.steps if step.events[0]}
    assert events and all("onion" in event for event in events)


def test_a_role_looks_at_the_end_of_a_macro_action() -> None:
    """The walk to a dispenser has no event, the pickup at its end has."""
    may, may_not = (play("CollabOvercooked-v0", [spec, spec], level=1) for spec in ("role:pickup", "role:put"))
    assert "PICKUP" in {e.event for step in may.steps for e in step.events if e}
    assert "PICKUP" not in {e.event for step in may_not.steps for e in step.events if e}


@pytest.mark.parametrize(("name", "inner"), cover(DIRECTIONS, ["greedy", "ppo:coordination_ring"]))
def test_a_convention_goes_round_one_way(name: str, inner: str) -> None:
    sign = DIRECTIONS[name]
    env = collab_overcooked.make("Overcooked-v0", **RING)
    team = make_team([f"convention:{name}:{inner}", "greedy"])
    watched = Watched(team.policies[0])
    play_episode(env, replace(team, policies=(watched, team.policies[1])), 3)
    places = [np.array(seen.scene["players"][0]["position"], float) - 2 for seen, _ in watched.asked]  # round 2, 2
    turns = [a[0] * b[1] - a[1] * b[0] for a, b in pairwise(places)]
    assert len(turns) > 300 and all(turn * sign >= 0 for turn in turns) and sum(turn * sign > 0 for turn in turns) > 8


def test_a_place_can_be_left_to_others() -> None:
    """The pots of the ring are in cells 3, 0 and 4, 1."""
    used = pots_used("greedy"), pots_used("convention:avoid=3.0:greedy"), pots_used("convention:avoid=4.1:greedy")
    assert used == ({(3, 0), (4, 1)}, {(4, 1)}, {(3, 0)})
    texts = play("CuisineWorld-v0", ["convention:avoid=storage0:random"], ends_after=30)
    assert "storage0" not in str([step.action_texts for step in texts.steps])


def pots_used(spec: str) -> set[tuple[int, int]]:
    env, used = collab_overcooked.make("Overcooked-v0", **RING), set()
    team = make_team([spec, "greedy"])
    record = play_episode(env, team, 3)
    env.reset(seed=3)
    for step in record.steps:
        agent = env.scene()["players"][0]
        dx, dy = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}[agent["facing"]]
        env.step(dict(zip(env.agents, step.actions, strict=True)))
        if step.events[0] and step.events[0].event == "potting_onion":
            used.add((agent["position"][0] + dx, agent["position"][1] + dy))
    return used


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("slow", "period must be an integer of at least 1, not ''"),
        ("slow:0", "period must be an integer of at least 1, not '0'"),
        ("slow:2:greedi", "unknown policy 'greedi'; did you mean greedy"),
        ("switch:5:greedy", r"switch:200:greedy\+random, not 'greedy'"),
        ("switch:5", r"switch:200:greedy\+random, not ''"),
        ("forgetful:2", "probability must be a number from 0 to 1"),
        ("role::greedy", r"role:onion\+potting:greedy, not ''"),
        ("convention:clockwize", "unknown convention 'clockwize'; did you mean clockwise"),
        ("convention:avoid=", "avoid needs a place"),
        ("slow:2:llm:model", "'slow' cannot change how 'llm:model' plays"),
        ("late:2:person", "'late' cannot change how 'person' plays"),
    ],
)
def test_a_wrong_spec_says_what_is_allowed(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_policy(spec)


def test_files_behind_wrappers_are_part_of_a_runs_identity(tmp_path: Any) -> None:
    spec = PolicySpec.parse("switch:9:ppo:a.npz+slow:2:ppo:aa.npz,greedy")
    assert spec.weight_files == ["a.npz", "aa.npz"] == [str(path) for path in spec.paths]
    assert spec.resolve(tmp_path).text == f"switch:9:ppo:{tmp_path}/a.npz+slow:2:ppo:{tmp_path}/aa.npz,greedy"
    assert PolicySpec.parse("slow:2:my_policy.py:Mine").modules == ["my_policy.py"]


@pytest.mark.parametrize("wrapper", ["forgetful:1.0", "role:put+pot+goto+moved", "convention:avoid=1", "slow:1"])
@pytest.mark.parametrize("answer", [-3, 5_000, 1.5, True, None, "no such action"])
def test_answers_are_judged_as_in_an_episode(wrapper: str, answer: Any) -> None:
    class Fixed(PolicyBase):
        name = "fixed"

        def reset(self, seat: int, info: Any, seed: int) -> None:
            pass

        def act(self, seen: Any) -> Any:
            return answer

    kind, _, parameter = wrapper.partition(":")
    env = collab_overcooked.make("Overcooked-v0", max_cycles=4)
    team = Team((wrapper, "random"), (MAKERS[kind](parameter, Fixed()), make_policy("random")))
    if isinstance(answer, int | str) and not isinstance(answer, bool):
        record = play_episode(env, team, 0)
        assert len(record.steps) == 4
    else:
        with pytest.raises(ValueError, match="it must be an action id, a text or a Decision"):
            play_episode(env, team, 0)
