"""Games in other words: one to one on everything that they print, strict in what they read, the same game beneath."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import collab_overcooked
from collab_overcooked import registry
from collab_overcooked.envs.api import ActionError
from collab_overcooked.envs.lexicon import Lexicon, inflect, lexicons, load_lexicon, plain, split_text
from collab_overcooked.game_spec import PLAIN
from collab_overcooked.games.collab_overcooked.suite.scoring import score_record
from collab_overcooked.games.cuisineworld.engine.spec import levels
from collab_overcooked.games.rush.engine.spec import scenarios
from collab_overcooked.io.documents import DocumentError
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.records import without_lexicon
from collab_overcooked.runner.replay import first_difference
from collab_overcooked.runner.teams import make_team

ROOT = Path(__file__).resolve().parents[2]
ALIEN = load_lexicon("alien")
GAMES = [
    *(("CuisineWorld-v0", {"level": level, "agents": 2}) for level in levels()),
    *(("CollabOvercooked-v0", {"kitchen": kitchen}) for kitchen in ("paper", "shared_floor", "three_agents")),
    ("CollabOvercooked-v0", {"action_level": "primitive", "knowledge": "full"}),
    *(
        ("Overcooked-v0", {"action_level": "medium", "layout": layout})
        for layout in ("gated_delivery", "counter_circuit")
    ),
    *(("KitchenRush-v0", {"scenario": scenario, "episode": e}) for scenario in scenarios() for e in range(3)),
]


def named(case):
    env_id, options = case
    return "-".join([env_id, *map(str, options.values())])


@pytest.mark.parametrize(
    ("actual", "reference"),
    [
        ("Fettucine Alfredo", "Zarnorblat Alfrek"),
        ("TAKE_INGREDIENTS, TAKE_SPICES, COOK_MEAL", "TAKE_AYPLIXS, TAKE_PLURNS, JANTROX_POKEM"),
        ("cooking and cooked, pantries", "jantroxing and jantroxed, drovuss"),
        ("{'value': {'order': 'Pasta 2, carrot 1'}}", "{'value': {'irenkel': 'Grintal 2, fluxin 1'}}"),
        ("frenchFries", "drerumSmuzenks"),
        ("COOK_MEAL of Mac and Cheese", "JANTROX_POKEM of Fuzkiq vrel Brentix"),
        ("nothing here is about food0 or NO_ACTION", "nothing here is about yertuk0 or NO_ACTION"),
    ],
)
def test_words_are_exchanged_both_ways(actual, reference):
    assert ALIEN.exchange(actual) == reference
    assert ALIEN.exchange(reference) == actual


PIECES = st.sampled_from([*ALIEN.table, "and", "x", "agent", "0", "_", " ", "'", "é", "\n"])
SPELLINGS = st.sampled_from([str.lower, str.upper, str.capitalize, str])


@given(st.lists(st.tuples(PIECES, SPELLINGS)))
def test_exchanging_twice_changes_nothing(parts):
    text = "".join(spell(piece) for piece, spell in parts)
    assert ALIEN.exchange(ALIEN.exchange(text)) == text


def test_no_foreign_word_begins_with_another():
    stems = load_stems()
    assert not [(a, b) for a in stems for b in stems if a != b and b.startswith(a)]
    assert not set(stems) & {word for word, other in ALIEN.table.items() if other in stems}


def load_stems():
    from collab_overcooked.io.documents import load_layout

    return list(load_layout("alien", "lexicons")["words"].values())


def test_english_endings():
    texts = {"dish": "dishes", "potato": "potatoes", "fry": "fries", "mix": "mixes", "egg": "eggs", "turkey": "turkeys"}
    assert {stem: inflect(stem, "s") for stem in texts} == texts
    assert [inflect("fry", "ed"), inflect("bake", "ed"), inflect("boil", "ed")] == ["fried", "baked", "boiled"]
    assert [inflect("bake", "ing"), inflect("fry", "ing")] == ["baking", "frying"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("words: {meat: zar}", "name must be a text; it is missing"),
        ("name: x", "words must hold .* lines; it is missing"),
        ("name: x\nwords: {meat: zar, egg: zarnik}", "line 2: 'zarnik' begins with 'zar'"),
        ("name: x\nwords: {meat: Zar}", "'Zar' is not a word"),
        ("name: x\nwords: {meat: a}", "'a' is not a word of at least two"),
        ("name: x\nwords: {egg: meat, meat: zar}", "'meat' is ambiguous"),
        ("name: x\nwords: {meat: zar}\nkept: [on]", "line 3: True is not a word; put it in quotes"),
        ("name: x\nwords: {meat: zar}\nirregular: {egg: {s: eggs}}", "line 3: 'egg' has irregular endings but"),
        ("name: x\nwords: {meat: zar}\nirregular: {meat: {er: meater}}", "irregular endings are s, ed, ing"),
        ("name: x\nwords: {meat: zar}\nword: {}", "unknown key 'word'"),
    ],
)
def test_damaged_lexicons_are_refused(tmp_path, text, message):
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(DocumentError, match=message):
        load_lexicon(path)


def printed(env, rng):
    """Yield every text of a random episode."""
    game = env.game
    env.reset(seed=int(rng.integers(1000)))
    yield from game.names()
    if hasattr(game, "manual"):
        yield game.manual()
    for _ in range(12):
        if not env.agents:
            return
        yield from game.action_texts(env.arrays[0])
        for seat, agent in enumerate(env.agents):
            yield env.describe(agent)
            for action in rng.choice(game.n_actions, size=min(game.n_actions, 20), replace=False):
                yield game.check(env.arrays[0], 0, seat, int(action))[1]
                if hasattr(game, "command_text"):
                    yield game.command_text(seat, int(action))
        env.step({agent: int(rng.choice(np.flatnonzero(env.action_mask(agent)))) for agent in env.agents})


def stray_links(text, names):
    """Return the foreign linking words of a translated text outside identifiers and the names of the game."""
    text = re.sub(r"\w*_\w*", "", text)
    for name in sorted(map(ALIEN.exchange, names), key=len, reverse=True):
        text = text.replace(name, "")
    return set(split_text(text)) & {ALIEN.links[word] for word in ("of", "and", "in", "on", "the", "with", "de", "e")}


@pytest.mark.parametrize("case", GAMES, ids=named)
def test_everything_a_game_prints_survives_the_round_trip(case):
    env_id, options = case
    actual = printed(collab_overcooked.make(env_id, **options), np.random.default_rng(0))
    reference = printed(collab_overcooked.make(env_id, **options, lexicon="alien"), np.random.default_rng(0))
    seen, names = 0, registry.load_game(env_id, **options).names()
    for text, their in zip(actual, reference, strict=True):
        seen += 1
        assert not stray_links(their, names)
        if text == their:
            continue
        assert ALIEN.exchange(text) == their
        assert ALIEN.exchange(their) == text
        assert not [word for word in split_text(their) if word in split_text(text) and word in ALIEN.table]
    assert seen > 100


@pytest.mark.parametrize("case", GAMES, ids=named)
def test_actions_are_read_in_foreign_words_only(case):
    env_id, options = case
    game = registry.load_game(env_id, **options, lexicon="alien")
    for action, (action_text, reference) in enumerate(
        zip(plain(game).action_texts(), game.action_texts(), strict=True)
    ):
        assert game.parse(reference) == action
        if action_text != reference and env_id != "Overcooked-v0":  # its directives are read by verb and object alone
            with pytest.raises(ActionError):
                game.parse(action_text)


def test_a_refusal_names_the_word_that_was_meant():
    game = registry.load_game("CuisineWorld-v0", level="level_9", lexicon="alien")
    with pytest.raises(ValueError, match="unknown location 'pan0'"):
        game.parse("goto pan0")
    assert game.parse("goto lirun0") == plain(game).parse("goto pan0")


def test_a_word_that_the_lexicon_lacks_is_named(tmp_path):
    path = tmp_path / "short.yaml"
    path.write_text("name: short\nwords: {lobster: trimpil}\n")
    with pytest.raises(ValueError, match=r"lexicon 'short' has no word for '\w+' in '\w+' \(and for .*; add it to its"):
        registry.load_game("CuisineWorld-v0", level="level_0", lexicon=str(path))
    with pytest.raises(DocumentError, match="unknown lexicon 'elvish'; built-in lexicons: alien"):
        registry.load_game("CuisineWorld-v0", lexicon="elvish")
    assert Lexicon("x", {"meat": "zar"}, ["and"]).missing(["meat and egg", "eggs"]) == {
        "egg": "meat and egg",
        "eggs": "eggs",
    }


def test_own_levels_find_their_missing_words():
    level = ROOT / "docs" / "examples" / "levels" / "brunch.yaml"
    with pytest.raises(ValueError, match="lexicon 'alien' has no word for 'shakshuka'"):
        registry.load_game("CuisineWorld-v0", level=level, lexicon="alien")


def test_every_shipped_lexicon_speaks_every_game():
    assert lexicons() == ["alien"]
    for record in registry.GAMES:
        game = registry.load_game(record.id, lexicon="alien")
        assert game.id == record.id and game.kwargs["lexicon"] == "alien"
        assert "lexicon" not in plain(game).kwargs


def test_alien_rush_speaks_alien_unless_told_otherwise():
    alien, kitchen = registry.load_game("AlienRush-v0"), registry.load_game("AlienRush-v0", lexicon=PLAIN)
    assert alien.kwargs["lexicon"] == "alien" and kitchen.kwargs["lexicon"] == PLAIN
    assert alien.action_texts() == [ALIEN.exchange(text) for text in kitchen.action_texts()]
    assert kitchen.action_texts() == registry.load_game("KitchenRush-v0").action_texts()


@pytest.mark.parametrize("kind", ["native", "gymnasium", "sb3"])
def test_vector_forms_take_a_lexicon(kind):
    if kind == "sb3":
        pytest.importorskip("stable_baselines3")
    vec = collab_overcooked.make_vec("CuisineWorld-v0", num_envs=2, kind=kind, lexicon="alien")
    vec.reset()


def test_copies_and_pickles_speak_the_same():
    env = collab_overcooked.make("CuisineWorld-v0", level="level_9", lexicon="alien", text_info=True)
    _, infos = env.reset(seed=1)
    assert "lirun0" in infos["agent_0"]["text"]
    for other in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        assert other.describe("agent_0") == env.describe("agent_0")
        assert other.game.kwargs == env.game.kwargs
    assert copy.deepcopy(env.game) is env.game


def test_commands_are_exchanged_too():
    env = collab_overcooked.make("CuisineWorld-v0", level="level_9", agents=2, lexicon="alien")
    env.reset(seed=0)
    state = env.command(["goto_agent0_lirun0", "activate_agent1_lirun0"])
    assert state.obeyed == (True, False)
    assert state.feedback == ("agent1 is not located in lirun0",)
    state = env.command(["goto_agent0_pan0"])
    assert state.obeyed == (False,) and "pan0 is not in the current game level" in state.feedback[0]


def both(env_id, specs, seed=3, **options):
    """Return the records of the same episode in plain and in alien words."""
    records = []
    for language in ({}, {"lexicon": "alien"}):
        env = collab_overcooked.make(env_id, **options, **language)
        task = options.get("task", "")
        records.append(play_episode(env, make_team(specs), seed, task=task))
    return records


@pytest.mark.parametrize(
    ("env_id", "specs", "options"),
    [
        ("CuisineWorld-v0", ("greedy", "greedy"), {"level": "level_9", "agents": 2}),
        ("CuisineWorld-v0", ("greedy", "random"), {"level": "level_3", "agents": 2, "max_cycles": 20}),
        ("CollabOvercooked-v0", ("greedy", "greedy"), {"task": "boiled_egg"}),
        ("CollabOvercooked-v0", ("reference", "reference"), {"task": "baked_pumpkin_slices"}),
        ("CollabOvercooked-v0", ("noisy:0.3", "noisy:0.3"), {"task": "baked_pumpkin_slices"}),
        ("CollabOvercooked-v0", ("planner:width=50", "greedy"), {"task": "boiled_egg"}),
    ],
    ids=lambda value: str(value[0]) if isinstance(value, tuple) else None,
)
def test_scripted_policies_play_as_ever(env_id, specs, options):
    actual, reference = both(env_id, specs, **options)
    assert [step.actions for step in actual.steps] == [step.actions for step in reference.steps]
    assert actual.history == reference.history  # records of what happened are plain
    replies = [[ALIEN.exchange(text) for text in step.action_texts] for step in reference.steps]
    assert replies == [step.action_texts for step in actual.steps]
    assert first_difference(reference) is None


@pytest.mark.parametrize(
    "specs", [("reference", "reference"), ("noisy:0.3:reference", "noisy:0.3:reference")], ids=lambda s: s[0]
)
def test_metrics_understand_what_was_said(specs):
    actual, reference = both("CollabOvercooked-v0", specs, task="baked_pumpkin_slices")
    assert any(step.messages for step in reference.steps)
    assert score_record(actual) == score_record(reference)
    messages = [[step.messages for step in record.steps] for record in (actual, without_lexicon(reference))]
    assert [[m.plan for m in step] for step in messages[0]] == [[m.plan for m in step] for step in messages[1]]
    spoken = [message.plan for step in reference.steps for message in step.messages]
    assert not any(re.search("egg|pumpkin|pot0", plan) for plan in spoken)
