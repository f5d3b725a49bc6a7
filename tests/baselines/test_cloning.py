"""Cloning records and people's games."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from support.cli_runner import CliRunner

from collab_overcooked import registry
from collab_overcooked.baselines import human_games
from collab_overcooked.baselines.cloning import Cloning, clone_policy, read_choices, split
from collab_overcooked.baselines.human_games import read_rows
from collab_overcooked.baselines.settings import settings_from
from collab_overcooked.cli import app
from collab_overcooked.games.overcooked.human_games import read_actions, read_state
from collab_overcooked.io.files import MAX_BYTES
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


def test_a_clone_leaves_torch_as_it_was_and_does_not_depend_on_it(records):
    settings = Cloning("CollabOvercooked-v0", (str(records),), KITCHEN, epochs=2, batch_size=16)
    files, before = [], torch.get_num_threads()
    for threads, seed in ((1, 0), (3, 99)):
        torch.set_num_threads(threads)
        torch.manual_seed(seed)
        state = torch.get_rng_state()
        files.append(clone_policy(settings, games=2).file)
        kept = torch.get_num_threads()
        torch.set_num_threads(before)
        assert kept == threads and torch.equal(torch.get_rng_state(), state)
    one, other = (file.network.layers for file in files)
    for (kind, *arrays), (name, *others) in zip(one, other, strict=True):
        assert kind == name and all(map(np.array_equal, arrays, others))


def test_observations_need_not_be_those_of_the_records(records):
    grid = registry.load_game("CollabOvercooked-v0", **KITCHEN, obs="grid")
    flat = registry.load_game("CollabOvercooked-v0", **KITCHEN)
    one, other = (read_choices(game, [str(records)], None) for game in (grid, flat))
    assert np.array_equal(one.actions, other.actions)
    assert one.observations.shape[1:] == grid.single_observation_space.shape


def test_only_choices_are_learned_and_only_of_the_seats_that_are_asked_for(records):
    game = registry.load_game("CollabOvercooked-v0", **KITCHEN)
    both, chef = (read_choices(game, [str(records)], seats) for seats in (None, [0]))
    assert (both.masks.sum(1) > 1).all()
    assert both.masks[np.arange(len(both)), both.actions].all()
    assert 0 < len(chef) < len(both)


def test_whole_episodes_are_held_out(records, tmp_path):
    game = registry.load_game("CollabOvercooked-v0", **KITCHEN)
    others = shutil.copy(records, tmp_path / "others.jsonl")
    choices = read_choices(game, [str(records), str(others)], None)
    assert choices.episodes.max() == 11
    known, unseen = split(choices, 0.25, np.random.default_rng(0))
    assert not set(known.episodes) & set(unseen.episodes)
    assert len(set(unseen.episodes)) == 3 and len(known) + len(unseen) == len(choices)


def test_filtered_cloning_learns_from_the_episodes_with_the_highest_returns(tmp_path):
    game = registry.load_game("Overcooked-v0", layout="cramped_room", obs="features")
    env = registry.make("Overcooked-v0", layout="cramped_room", max_cycles=120)
    teams = [make_team(parse_seats([text], 2)) for text in ("all=random", "all=greedy", "all=noisy:0.8:greedy")]
    records = [play_episode(env, team, 3, episode=k) for k, team in enumerate(teams)]
    returns = [sum(step.rewards[0] for step in record.steps) for record in records]
    assert max(returns) == returns[1] > max(returns[0], returns[2])
    path = tmp_path / "mixed.jsonl"
    path.write_bytes(b"".join(map(dump_line, records)))
    whole, filtered = (read_choices(game, [str(path)], None, best) for best in (1.0, 0.3))
    assert np.array_equal(filtered.observations, whole.observations[whole.episodes == 1])
    with pytest.raises(ValueError, match="best must be a number above 0 and at most 1, not 0"):
        Cloning("Overcooked-v0", (str(path),), best=0.0)


def test_a_minari_dataset_teaches_what_its_records_teach(records, tmp_path):
    pytest.importorskip("minari")
    done = CliRunner().invoke(app, ["export", "minari", str(records), "--out", str(tmp_path)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    (folder,) = (data.parent for data in (tmp_path / "collab-overcooked").glob("*/data"))
    game = registry.load_game("CollabOvercooked-v0", **KITCHEN)
    for seats, best in ((None, 1.0), ([1], 0.5)):
        one, other = (read_choices(game, [str(path)], seats, best) for path in (folder, records))
        for name in ("observations", "masks", "actions", "episodes", "seats"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), name
    with pytest.raises(ValueError, match=r"is of collab_overcooked/CollabOvercooked-v0, not of Overcooked-v0"):
        read_choices(registry.load_game("Overcooked-v0"), [str(folder)], None)
    with pytest.raises(ValueError, match=r"has observations of shape \(2, .*\), the game to learn \(2, .*\)"):
        read_choices(registry.load_game("CollabOvercooked-v0", **KITCHEN, obs="grid"), [str(folder)], None)


COUNTING = """
class Counting:
    name = "counting"

    def reset(self, seat, info, seed):
        self.asked = 0

    def act(self, seen):
        self.asked += 1
        return 4 if self.asked % 2 else 1

    def reply(self, seen):
        return None
"""


def test_a_clone_with_memory_learns_what_observations_do_not_tell(tmp_path):
    """Players that stay and turn to a wall in turn, whose observations are the same at all steps."""
    (tmp_path / "counting.py").write_text(COUNTING)
    options = {"layout": "cramped_room", "obs": "features"}
    envs = [registry.make("Overcooked-v0", **options, max_cycles=steps) for steps in (24, 17, 24, 24)]
    team = make_team(parse_seats([f"all={tmp_path}/counting.py:Counting"], 2))
    records = [play_episode(env, team, k, episode=k) for k, env in enumerate(envs)]
    path = tmp_path / "counting.jsonl"
    path.write_bytes(b"".join(map(dump_line, records)))
    values = {"options": options, "data": [str(path)], "epochs": 200, "batch_size": 50, "learning_rate": 0.003}
    values |= {"env": "Overcooked-v0", "held_out": 0, "trunk": [16], "heads": [16], "mode": "greedy"}
    clones = {
        memory: clone_policy(settings_from(Cloning, values | {"memory": memory}), games=1) for memory in ("", "gru:16")
    }
    agreed = {memory: max(entry["known_agreement"] for entry in clone.log) for memory, clone in clones.items()}
    assert agreed["gru:16"] == 1 and agreed[""] < 0.7
    clones["gru:16"].file.save(tmp_path / "clone.npz")
    team = make_team(parse_seats([f"all=ppo:{tmp_path}/clone.npz"], 2))
    played = play_episode(envs[0], team, 0)
    assert [step.actions for step in played.steps] == [step.actions for step in records[0].steps]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"data": []}, "data is missing"),
        ({"data": "runs/greedy"}, "data must be a list"),
        ({"seats": 0}, "seats must be a list"),
        ({"seats": [0, 2]}, "seats must be from 0 to 1"),
        ({"held_out": "none"}, "held_out must be a number of at least 0 and below 1, not 'none'"),
        ({"held_out": 1.0}, "held_out must be a number of at least 0 and below 1"),
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


def write_table(path: Path) -> Path:
    """Write the rows in the format of the file's ending."""
    columns = the_rows()
    rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
    if path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path)
    elif path.suffix == ".csv":
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(columns))
            writer.writeheader()
            writer.writerows(rows)
    else:
        lines = [json.dumps(row) for row in rows]
        path.write_text("".join(f"{line}\n" for line in lines) if path.suffix == ".jsonl" else f"[{','.join(lines)}]")
    return path


@pytest.fixture(params=["csv", "json", "jsonl", "parquet"])
def people(request, tmp_path) -> Path:
    return write_table(tmp_path / f"2019_hh_trials.{request.param}")


def test_public_pickles_are_converted_by_the_line_of_the_documentation(tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    page = Path(human_games.__file__).parents[2] / "docs" / "how_to" / "train.md"
    pandas.DataFrame(the_rows()).to_pickle("2019_hh_trials_train.pickle")
    (line,) = re.findall(r'^python -c "(.*read_pickle.*)"$', page.read_text(), re.M)
    exec(line)
    rows = read_rows(tmp_path / "2019_hh_trials_train.jsonl")
    assert {name: [row[name] for row in rows] for name in rows[0]} == the_rows()


def test_choices_of_people_are_seen_as_the_game_shows_them(people, caplog):
    game = registry.load_game("Overcooked-v0", layout="cramped_room", axes="chw")
    choices = read_choices(game, [str(people)], None)
    assert choices.actions.tolist() == [0, 4, 5, 2, 3]  # the partner of the last was a program
    assert choices.episodes.tolist() == [0, 0, 0, 0, 1]
    assert caplog.messages == [f"{people}: 3 of 4 rows of 2 games are of use"]
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
def test_damaged_rows_are_left_out(monkeypatch, state, actions, caplog):
    good = json.dumps(a_state(1))
    rows = {
        "state": [good, good if state is None else state],
        "joint_action": ["[[0, 0], [0, 0]]", actions],
        "layout_name": ["cramped_room"] * 2,
        "trial_id": [1, 1],
    }
    table = [dict(zip(rows, values, strict=True)) for values in zip(*rows.values(), strict=True)]
    monkeypatch.setattr(human_games, "read_rows", lambda path: table)
    game = registry.load_game("Overcooked-v0", layout="cramped_room")
    assert len(read_choices(game, ["a.json"], None)) == 2
    assert caplog.messages == ["a.json: 1 of 2 rows of 1 games are of use"]


def test_games_of_people_are_filtered_by_their_rewards(tmp_path):
    game = registry.load_game("Overcooked-v0", layout="cramped_room")
    rows = [dict(zip(the_rows(), values, strict=True)) for values in zip(*the_rows().values(), strict=True)]
    paid = [{**row, "reward": 20 * (row["trial_id"] == rows[-1]["trial_id"])} for row in rows]
    people = tmp_path / "paid.json"
    people.write_text(json.dumps(paid))
    assert len(read_choices(game, [str(people)], None, 0.5)) == 1, "the one choice of the last trial"
    people.write_text(json.dumps(rows))
    with pytest.raises(ValueError, match=r"best=0.5 goes by returns, and .*paid.json has no column reward"):
        read_choices(game, [str(people)], None, 0.5)


def test_a_game_of_people_can_be_cloned(tmp_path):
    people = write_table(tmp_path / "people.jsonl")
    settings = Cloning("Overcooked-v0", (str(people),), {"layout": "cramped_room", "obs": "features"}, epochs=2)
    copy = clone_policy(settings, games=1)
    assert copy.choices == 5


def test_other_layouts_and_games_are_refused(tmp_path):
    people = write_table(tmp_path / "people.jsonl")
    ring = registry.load_game("Overcooked-v0", layout="coordination_ring")
    with pytest.raises(ValueError, match="no game on coordination_ring; it has counter_circuit, cramped_room"):
        read_choices(ring, [str(people)], None)
    with pytest.raises(ValueError, match="they teach no other"):
        read_choices(registry.load_game("CuisineWorld-v0"), [str(people)], None)


def test_files_that_are_no_tables_are_refused(tmp_path):
    for name, text, problem in (
        ("absent.csv", None, "cannot be read"),
        ("object.json", "{}", "is not a table of games: it is not a list of rows"),
        ("numbers.jsonl", "1\n2\n", "it is not a list of rows"),
        ("torn.jsonl", '{"trial_id"', "is not a table of games: is truncated"),
        ("other.csv", "trail_id,layout_name,state,joint_action\n1,a,b,c\n", "has no column trial_id"),
        ("text.parquet", "text", "text.parquet: "),
    ):
        if text is not None:
            (tmp_path / name).write_text(text)
        with pytest.raises(ValueError, match=problem):
            read_rows(tmp_path / name)
    os.truncate(tmp_path / "object.json", MAX_BYTES + 1)
    with pytest.raises(ValueError, match="cannot be read: has 1,073,741,825 bytes"):
        read_rows(tmp_path / "object.json")


def test_actions_and_states_in_all_their_forms():
    assert read_actions([[0, 1], "INTERACT"], 2) == [1, 5]
    assert read_actions("[[1, 0], 'interact']", 2) == [2, 5]
    with pytest.raises(ValueError):
        read_actions("__import__('os').system('true')", 2)
    scene = read_state(a_state(1, {"name": "dish", "position": [1, 2]}), "cramped_room")
    assert scene["players"][0] == {"position": [1, 2], "facing": "north", "holding": {"item": "dish"}}


CRAMPED = [list("XXPXX"), list("O   O"), list("X   X"), list("XDXSX")]


def a_table(path: Path, *rows: dict) -> Path:
    path.write_text(json.dumps(list(rows)))
    return path


def a_row(trial: int = 1, name: str = "cramped_room", **more) -> dict:
    row = {"trial_id": trial, "layout_name": name, "state": json.dumps(a_state(1)), "joint_action": "[[0, 0], [0, 0]]"}
    return {**row, **more}


@pytest.mark.parametrize("grid", [json.dumps(CRAMPED), CRAMPED, str(CRAMPED), "XXPXX\nO1  O\nX  2X\nXDXSX"])
def test_games_of_people_are_matched_by_their_grids(tmp_path, grid, caplog):
    game = registry.load_game("Overcooked-v0", layout="cramped_room")
    other = json.dumps([*CRAMPED[:3], list("XDSXX")])
    rows = [a_row(layout=grid), a_row(2, "kitchen_of_theirs", layout=grid), a_row(3, layout=other), a_row(4, "ring")]
    people = a_table(tmp_path / "a.json", *rows)
    assert len(read_choices(game, [str(people)], None)) == 4
    assert caplog.messages == [
        f"{people}: 1 rows are of cramped_room with another grid, and are left out",
        f"{people}: 2 of 2 rows of 2 games are of use",
    ]
    with pytest.raises(ValueError, match="no game on cramped_room; it has cramped_room with another grid"):
        read_choices(game, [str(a_table(tmp_path / "b.json", rows[2]))], None)


def test_games_on_another_layout_of_the_name_are_left_out_as_a_whole(tmp_path, caplog):
    game = registry.load_game("Overcooked-v0", layout="cramped_room")
    far = json.dumps({**a_state(1), "players": [player(7, 3, [0, -1]), player(3, 1, [0, -1])]})
    people = a_table(tmp_path / "a.json", a_row(1), a_row(2), a_row(2, state=far), a_row(2, state=far), a_row(1))
    assert len(read_choices(game, [str(people)], None)) == 4
    assert "2 of 3 states of a game on cramped_room do not fit it: another layout?" in caplog.messages[0]


def test_a_layout_file_with_a_name_of_2019_finds_its_games(tmp_path):
    path = tmp_path / "simple.layout"
    path.write_text(repr({"grid": "XXPXX\nO1  O\nX  2X\nXDXSX"}))
    game = registry.load_game("Overcooked-v0", layout=str(path))
    for name in ("simple", "cramped_room"):
        people = a_table(tmp_path / "a.json", a_row(1, name))
        assert len(read_choices(game, [str(people)], None)) == 2


def test_saved_games_of_the_demo_server_are_read(tmp_path):
    row = {"state": json.dumps(a_state(1)), "joint_action": json.dumps([[0, -1], "interact"])}
    named = {"layout_name": "cramped_room"}
    for saved, trials in (
        ({"uid": "1.5", **named, "trajectory": [row, row]}, ["1.5", "1.5"]),
        ([{**named, "trajectory": [row]}, {**named, "trajectory": [row]}], ["/0/trajectory", "/1/trajectory"]),
        ({"a": [{**row, **named}], "b": [{**row, **named, "trial_id": 7}]}, ["/a", 7]),
        ([[{**row, **named}], [{**row, **named}]], ["/0", "/1"]),
    ):
        path = tmp_path / "saved.json"
        path.write_text(json.dumps(saved))
        rows = read_rows(path)
        assert [one["trial_id"] for one in rows] == trials
        assert all(one["layout_name"] == "cramped_room" for one in rows)
