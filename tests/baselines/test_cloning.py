"""Cloning records and people's games."""

from __future__ import annotations

import json
import os
import pickle
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

from collab_overcooked import registry
from collab_overcooked.baselines import human_games
from collab_overcooked.baselines.cloning import Cloning, clone_policy, read_choices, split
from collab_overcooked.baselines.human_games import read_frame
from collab_overcooked.baselines.settings import TrainingSettings, settings_from
from collab_overcooked.baselines.training import train
from collab_overcooked.games.overcooked.suite.human_games import read_actions, read_state
from collab_overcooked.runner.episode import play_episode
from collab_overcooked.runner.records import dump_line
from collab_overcooked.runner.teams import make_team, parse_seats

KITCHEN = {"task": "boiled_egg"}


@pytest.fixture(scope="module")
def records(tmp_path_factory) -> Path:
    """Greedy play of one task, six episodes."""
    path = tmp_path_factory.mktemp("bc") / "greedy.jsonl"
    env = registry.make("CollabOvercooked-v0", **KITCHEN)
    team = make_team(parse_seats(["all=greedy"], 2))
    path.write_bytes(b"".join(dump_line(play_episode(env, team, k, episode=k)) for k in range(6)))
    return path


def test_a_clone_of_greedy_play_delivers_as_greedy_does(records):
    settings = Cloning("CollabOvercooked-v0", (str(records),), KITCHEN, epochs=40, batch_size=16, mode="greedy")
    copy = clone_policy(settings, games=4)
    assert copy.log[-1]["known_agreement"] > 0.95
    assert copy.file.meta["score"]["return"] > 0
    assert copy.file.meta["algorithm"] == "bc" and copy.file.meta["steps"] == copy.choices


def test_observations_need_not_be_those_of_the_records(records):
    grid = registry.load_game("CollabOvercooked-v0", **KITCHEN, obs="grid")
    flat = registry.load_game("CollabOvercooked-v0", **KITCHEN)
    one, other = (read_choices(game, [str(records)], None, print) for game in (grid, flat))
    assert np.array_equal(one.actions, other.actions)
    assert one.observations.shape[1:] == grid.single_observation_space.shape


def test_only_choices_are_learned_and_only_of_the_seats_that_are_asked_for(records):
    game = registry.load_game("CollabOvercooked-v0", **KITCHEN)
    both, chef = (read_choices(game, [str(records)], seats, print) for seats in (None, [0]))
    assert (both.masks.sum(1) > 1).all()
    assert both.masks[np.arange(len(both)), both.actions].all()
    assert 0 < len(chef) < len(both)


def test_whole_episodes_are_held_out(records):
    game = registry.load_game("CollabOvercooked-v0", **KITCHEN)
    choices = read_choices(game, [str(records), str(records)], None, print)
    assert choices.episodes.max() == 11
    known, unseen = split(choices, 0.25, np.random.default_rng(0))
    assert not set(known.episodes) & set(unseen.episodes)
    assert len(set(unseen.episodes)) == 3 and len(known) + len(unseen) == len(choices)


def test_ppo_learns_with_a_cloned_partner(records, tmp_path):
    clone = clone_policy(Cloning("CollabOvercooked-v0", (str(records),), KITCHEN, epochs=1), games=2)
    clone.file.save(tmp_path / "bc.npz")
    small = {"environments": 8, "rollout": 8, "batch_size": 32, "epochs": 1, "trunk": (8,), "heads": (8,)}
    settings = TrainingSettings(
        "CollabOvercooked-v0", 128, "maskable-ppo", KITCHEN, partners=(str(tmp_path / "bc.npz"),), **small
    )
    assert train(settings, tmp_path / "run", bar=False).steps == 128


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"data": []}, "data is missing"),
        ({"data": "runs/greedy"}, "data must be a list"),
        ({"seats": 0}, "seats must be a list"),
        ({"seats": [0, 2]}, "seats must be from 0 to 1"),
        ({"held_out": "none"}, "held_out must be a number, not 'none'"),
        ({"held_out": 1.0}, "held_out must be at least 0 and less than 1"),
        ({"epochs": 0}, "epochs must be an integer"),
        ({"epoch": 3}, "did you mean epochs"),
        ({"env": "CuisineWorld-v0", "options": {}}, "is of CollabOvercooked-v0, not of CuisineWorld-v0"),
        ({"options": {"action_level": "primitive"}}, "the game to learn"),
    ],
)
def test_what_cannot_be_learned_is_refused(records, values, text):
    with pytest.raises(ValueError, match=text):
        clone_policy(
            settings_from(
                Cloning, {"env": "CollabOvercooked-v0", "options": KITCHEN, "data": [str(records)], **values}
            ),
            games=1,
        )


# ------------------------------------------------------------------------------------------- people's games


def player(x, y, facing, held=None):
    return {"position": [x, y], "orientation": facing, "held_object": held}


def a_state(x, held=None, objects=()):
    players = [player(x, 2, [0, -1], held), player(3, 1, [0, -1])]
    return {"players": players, "objects": list(objects), "bonus_orders": [], "timestep": 700}


def the_rows() -> dict[str, list]:
    """Two games on cramped_room with states of today and of 2019, one on another layout, and a damaged row."""
    soup = {
        "name": "soup",
        "position": [2, 0],
        "_ingredients": [{"name": "onion", "position": [2, 0]}] * 3,
        "cooking_tick": 7,
        "is_cooking": True,
        "is_ready": False,
        "cook_time": 20,
    }
    old_soup = {"name": "soup", "position": [2, 0], "state": ["onion", 3, 20]}
    onion = {"name": "onion", "position": [1, 2]}
    states = [
        json.dumps(a_state(1)),
        json.dumps(a_state(1, onion, [soup])),
        json.dumps({**a_state(2), "objects": {"a": old_soup}}),
        json.dumps(a_state(1)),
        "{",
    ]
    return {
        "state": states,
        "joint_action": [
            "[[0, -1], [0, 0]]",
            '["INTERACT", [1, 0]]',
            "[[-1, 0], 'interact']",
            "[[0, 0], [0, 0]]",
            "[]",
        ],
        "layout_name": ["cramped_room", "cramped_room", "simple", "random3", "cramped_room"],
        "trial_id": [4, 4, 9, 11, 9],
        "player_0_is_human": [True, True, True, True, True],
        "player_1_is_human": [True, True, False, True, True],
    }


def forged(monkeypatch, name: str, attribute: str, maker):
    """Put a module of pandas' name and form in place for as long as a pickle is written."""
    parts = name.split(".")
    for k in range(1, len(parts)):
        parent = ".".join(parts[:k])
        if parent not in sys.modules:
            monkeypatch.setitem(sys.modules, parent, types.ModuleType(parent))
    module = sys.modules.get(name) or types.ModuleType(name)
    maker.__module__, maker.__qualname__, maker.__name__ = name, attribute, attribute
    monkeypatch.setattr(module, attribute, maker, raising=False)
    monkeypatch.setitem(sys.modules, name, module)
    return maker


@pytest.fixture
def old_frame(tmp_path) -> Path:
    """A pickle as pandas before 1.3 wrote it, made without pandas."""
    path = tmp_path / "2019_hh_trials.pickle"
    with pytest.MonkeyPatch.context() as patch:
        path.write_bytes(pickle.dumps(old_form(patch, the_rows()), protocol=4))
    return path


def old_form(monkeypatch, rows):
    """Return rows as an object that is pickled as old pandas did."""

    def _new_Index(kind, values):
        raise AssertionError("only its name is written")

    new_index = forged(monkeypatch, "pandas.core.indexes.base", "_new_Index", _new_Index)
    index_class = forged(monkeypatch, "pandas.core.indexes.range", "RangeIndex", type("RangeIndex", (), {}))
    other_class = type("Index", (), {"__module__": "pandas.core.indexes.base", "__qualname__": "Index"})
    monkeypatch.setattr(sys.modules["pandas.core.indexes.base"], "Index", other_class, raising=False)

    class Labels:
        def __init__(self, kind, values):
            self.made_by = (new_index, (kind, values))

        def __reduce__(self):
            return self.made_by

    class BlockManager:
        def __getstate__(self):
            return self.kept

    class DataFrame:
        def __getstate__(self):
            return {"_data": self.manager, "_typ": "dataframe", "_metadata": [], "attrs": {}}

    forged(monkeypatch, "pandas.core.internals.managers", "BlockManager", BlockManager)
    forged(monkeypatch, "pandas.core.frame", "DataFrame", DataFrame)
    axes = [
        Labels(other_class, {"data": np.array(list(rows), object), "name": None}),
        Labels(index_class, {"name": None, "start": 0, "stop": 5, "step": 1}),
    ]
    texts = np.array([rows[name] for name in ("state", "joint_action", "layout_name")], object)
    blocks = [
        {"values": texts, "mgr_locs": slice(0, 3, 1)},
        {"values": np.array([rows["trial_id"]]), "mgr_locs": np.array([3])},
        {"values": np.array([rows[f"player_{k}_is_human"] for k in (0, 1)]), "mgr_locs": slice(4, 6, 1)},
    ]
    manager, frame = BlockManager(), DataFrame()
    manager.kept = (axes, [], [], {"0.14.1": {"axes": axes, "blocks": blocks}})
    frame.manager = manager
    return frame


def test_frames_of_old_pandas_are_read_without_pandas(old_frame, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "pandas"]:
        monkeypatch.delitem(sys.modules, name)
    columns = read_frame(old_frame)
    assert {name: column.tolist() for name, column in columns.items()} == the_rows()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_frames_of_the_installed_pandas_are_read(tmp_path):
    pandas = pytest.importorskip("pandas", reason="writes a frame with pandas, which the package itself does not need")
    path = tmp_path / "new.pickle"

    def save():
        columns = {
            name: np.array(column, object) if isinstance(column[0], str) else column
            for name, column in the_rows().items()
        }
        pandas.DataFrame(columns).to_pickle(path)

    with pandas.option_context("mode.string_storage", "pyarrow"):
        save()
    with pytest.raises(ValueError, match=re.escape("pandas.set_option('mode.string_storage', 'python')")):
        read_frame(path)
    with pandas.option_context("mode.string_storage", "python"):  # as the message advises
        save()
    assert {name: column.tolist() for name, column in read_frame(path).items()} == the_rows()


def test_choices_of_people_are_seen_as_the_game_shows_them(old_frame):
    game = registry.load_game("Overcooked-v0", layout="cramped_room", axes="chw")
    messages = []
    choices = read_choices(game, [str(old_frame)], None, messages.append)
    assert choices.actions.tolist() == [0, 4, 5, 2, 3]  # the partner of the last was a program
    assert choices.episodes.tolist() == [0, 0, 0, 0, 1]
    assert messages == [f"{old_frame}: 3 of 4 rows of 2 games are of use"]
    result = choices.observations[2]  # the first player of the second row: at (1, 2), an onion in hand, a soup cooking
    assert result[0, 2, 1] == 1 and result[23, 2, 1] == 1 and result[18, 0, 2] == 3 and result[20, 0, 2] == 13
    assert choices.observations[4][21, 0, 2] == 1  # the soup of the 2019 form is ready


@pytest.mark.parametrize(
    ("state", "actions"),
    [
        ("{", "[[0, 0], [0, 0]]"),
        ("[]", "[[0, 0], [0, 0]]"),
        ('{"players": [3]}', "[[0, 0], [0, 0]]"),
        ('{"players": [], "objects": [3]}', "[[0, 0], [0, 0]]"),
        ("[" * 100_000, "[[0, 0], [0, 0]]"),
        (None, "[[0, 0]]"),
        (None, "[[0, 0], [5, 5]]"),
        (None, "3"),
        (None, "[[[]], [0, 0]]"),
        (None, "(" * 1000),
    ],
)
def test_damaged_rows_are_left_out(monkeypatch, state, actions):
    good = json.dumps(a_state(1))
    rows = {
        "state": [good, good if state is None else state],
        "joint_action": ["[[0, 0], [0, 0]]", actions],
        "layout_name": ["cramped_room"] * 2,
        "trial_id": [1, 1],
    }
    columns = {name: np.array(column, object) for name, column in rows.items()}
    monkeypatch.setattr(human_games, "read_frame", lambda path: columns)
    messages = []
    game = registry.load_game("Overcooked-v0", layout="cramped_room")
    assert len(read_choices(game, ["a.pickle"], None, messages.append)) == 2
    assert messages == ["a.pickle: 1 of 2 rows of 1 games are of use"]


def test_a_game_of_people_can_be_cloned(old_frame):
    settings = Cloning("Overcooked-v0", (str(old_frame),), {"layout": "cramped_room", "obs": "features"}, epochs=2)
    copy = clone_policy(settings, note=lambda text: None, games=1)
    assert copy.choices == 5


def test_other_layouts_and_games_are_refused(old_frame):
    ring = registry.load_game("Overcooked-v0", layout="coordination_ring")
    with pytest.raises(ValueError, match="no game on coordination_ring; it has counter_circuit, cramped_room"):
        read_choices(ring, [str(old_frame)], None, print)
    with pytest.raises(ValueError, match="they teach no other"):
        read_choices(registry.load_game("CuisineWorld-v0"), [str(old_frame)], None, print)


class Call:
    """A pickle that calls something, and gives what it returns a state."""

    def __init__(self, *call, state=None):
        self.call, self.state = call, state

    def __reduce__(self):
        return self.call[0], self.call[1:], self.state


@pytest.mark.parametrize(
    "call",
    [
        (os.system, "touch {}"),
        (open, "{}", "w"),
        (eval, "open({!r}, 'w')"),
        (__import__, "os"),
        (getattr, np.ndarray, "tofile"),
        (np.memmap, "{}", "uint8", "w+", 0, 8),
    ],
    ids=lambda call: call[0].__name__,
)
def test_pickles_that_do_anything_else_are_refused_before_they_do_it(tmp_path, call):
    target = tmp_path / "made"
    function, *rest = call
    arguments = [part.format(str(target)) if isinstance(part, str) else part for part in rest]
    path = tmp_path / "evil.pickle"
    path.write_bytes(pickle.dumps(Call(function, *arguments)))
    with pytest.raises(ValueError, match=r"is no pickled frame of games: it asks for .*; refused"):
        read_frame(path)
    assert not target.exists()


def test_bytes_are_never_taken_for_the_addresses_of_objects(tmp_path):
    """numpy itself does so for a type whose words are forged, or when an array is made over a buffer."""
    address = id(None).to_bytes(8, sys.byteorder)
    an_object = (3, "|", None, ("a",), {"a": (np.dtype("O"), 0)}, 8, 1, 0)
    fill = (1, (1,), Call(np.dtype, "V8", False, True, state=an_object), False, address)
    created = np.zeros(0).__reduce__()[0]
    path = tmp_path / "evil.pickle"
    for evil, text in (
        (Call(np.ndarray, (1,), np.dtype("O"), address), "calls what is no function"),
        (Call(created, np.ndarray, (0,), b"b", state=(1, (1,), np.dtype("O"), False, address)), "holds a _reconstruct"),
        (
            Call(created, np.ndarray, (0,), b"b", state=fill),
            "holds a _reconstruct, not a frame",
        ),  # eight bytes, no objects
    ):
        path.write_bytes(pickle.dumps(evil))
        with pytest.raises(ValueError, match=text):
            read_frame(path)


def test_files_that_are_no_frames_are_refused(tmp_path, old_frame):
    path = tmp_path / "a.pickle"
    with pytest.raises(ValueError, match="cannot be read"):
        read_frame(path)
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ValueError, match="holds a dict, not a frame"):
        read_frame(path)
    path.write_bytes(old_frame.read_bytes()[:-20])
    with pytest.raises(ValueError, match="is no pickled frame"):
        read_frame(path)
    path.write_bytes(old_frame.read_bytes().replace(b"trial_id", b"trail_id"))
    with pytest.raises(ValueError, match="has no column trial_id"):
        read_frame(path)


def test_actions_and_states_in_all_their_forms():
    assert read_actions([[0, 1], "INTERACT"], 2) == [1, 5]
    assert read_actions("[[1, 0], 'interact']", 2) == [2, 5]
    with pytest.raises(ValueError):
        read_actions("__import__('os').system('true')", 2)
    scene = read_state(a_state(1, {"name": "dish", "position": [1, 2]}), "cramped_room")
    assert scene["players"][0] == {"position": [1, 2], "facing": "north", "holding": {"item": "dish"}}
