"""The commands train and crossplay, and the script that measures trainings."""

from __future__ import annotations

import json
import runpy
import shlex
import shutil
from pathlib import Path

import pytest
from support.cli_runner import CliRunner
from train_results import _variant, curve, main, median_seed, published, table

from collab_overcooked import __version__
from collab_overcooked.baselines.commands import ALGORITHMS
from collab_overcooked.baselines.settings import shipped_configs
from collab_overcooked.cli import app
from collab_overcooked.cli.app import commands
from collab_overcooked.cli.training import kept_command
from collab_overcooked.io.files import file_digest
from collab_overcooked.policies.policy_file import (
    builtin_partners,
    builtin_policies,
    is_stand_in,
    policy_path,
    read_policy,
)
from docs.topics.training import trained_policies

LITTLE = [
    *["--set", "level=level_1", "agents=2"],
    *["--hyper", "environments=16", "rollout=20", "batch_size=128", "epochs=1", "trunk=[8]", "heads=[8]"],
]


def run(*text):
    return CliRunner().invoke(app, [str(word) for word in text], catch_exceptions=False)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    done = run("train", "ppo", "CuisineWorld-v0", *LITTLE, "--steps", 320, "--out", folder / "cuisine-0")
    assert done.exit_code == 0, done.output
    return folder, done


def test_train_fills_a_folder_and_says_how_it_went(trained):
    folder, done = trained
    names = {path.name for path in (folder / "cuisine-0").iterdir()}
    assert names == {"settings.json", "log.jsonl", "log.csv", "tensorboard", "checkpoint.pt", "policy.npz"}
    assert "320 steps; collecting took" in done.stderr and "mean return over 100 games" in done.stderr
    assert json.loads((folder / "cuisine-0" / "settings.json").read_text())["options"] == {
        "level": "level_1",
        "agents": 2,
    }


def test_a_folder_with_a_training_is_not_overwritten(trained):
    folder, _ = trained
    text = ("train", "ppo", "CuisineWorld-v0", *LITTLE, "--out", folder / "cuisine-0")
    before = (folder / "cuisine-0" / "checkpoint.pt").read_bytes()
    done = run(*text, "--steps", 320)
    assert done.exit_code == 0 and "320 of 320 steps are there, it is finished" in done.stderr
    done = run(*text, "--steps", 160)
    assert done.exit_code == 2 and "steps was 320, now 160; it can only be extended" in done.stderr
    done = run(*text, "--steps", 320, "--seed", 5)
    assert done.exit_code == 2 and "seed was 0, now 5" in done.stderr
    assert (folder / "cuisine-0" / "checkpoint.pt").read_bytes() == before


def test_a_finished_training_is_extended(trained, tmp_path):
    folder, _ = trained
    shutil.copytree(folder / "cuisine-0", tmp_path / "longer-0")
    text = ("train", "ppo", "CuisineWorld-v0", *LITTLE, "--out", tmp_path / "longer-0")
    done = run(*text, "--steps", 640)
    assert done.exit_code == 0 and "320 of 640 steps are there, continuing" in done.stderr
    steps = [json.loads(line)["steps"] for line in (tmp_path / "longer-0" / "log.jsonl").read_text().splitlines()]
    assert steps[-1] == 640 and steps == sorted(set(steps)) and 320 in steps
    done = run(*text, "--steps", 640)
    assert "640 of 640 steps are there, it is finished" in done.stderr


def test_a_trained_policy_is_evaluated_like_any_other(trained, tmp_path):
    folder, _ = trained
    team = f"all=ppo:{folder}/cuisine-0/policy.npz"
    text = ("--levels", "level_1", "--agents", 2, "--alphas", 2.5, "--episodes", 1, "--workers", 1, "--no-report")
    done = run("evaluate", "cuisineworld", "--team", team, *text, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output


def test_crossplay_prints_a_matrix_and_fills_a_folder(trained, tmp_path):
    folder, _ = trained
    pool = ("--pool", "greedy", f"mine=ppo:{folder}/cuisine-0/policy.npz")
    text = ("--env", "CuisineWorld-v0", "--set", "level=level_1", "agents=2", "--episodes", 1)
    done = run("crossplay", *pool, *text, "--out", tmp_path / "x")
    assert done.exit_code == 0, done.output
    assert "| seat 0, others | greedy | mine |" in done.stdout
    assert {path.name for path in (tmp_path / "x").iterdir()} == {
        "config.json",
        "returns.jsonl",
        ".lock",
        "crossplay.json",
        "crossplay.md",
        "crossplay.png",
    }


def test_cloning_by_command(tmp_path):
    text = ("--levels", "level_1", "--agents", 2, "--alphas", 2.5, "--episodes", 1, "--workers", 1, "--no-report")
    assert run("evaluate", "cuisineworld", *text, "--out", tmp_path / "greedy").exit_code == 0
    bc = ("train", "bc", "CuisineWorld-v0", "--set", "level=level_1", "agents=2", "--data", tmp_path / "greedy")
    done = run(*bc, "--hyper", "epochs=2", "--out", tmp_path / "bc")
    assert done.exit_code == 0, done.output
    assert "choices" in done.stderr and (tmp_path / "bc" / "policy.npz").exists()
    partner = f"partners=[{tmp_path}/bc/policy.npz]"
    done = run("train", "ppo-bc", "CuisineWorld-v0", *LITTLE, partner, "--steps", 320, "--out", tmp_path / "with-bc")
    assert done.exit_code == 0, done.output
    assert "mean return over" not in done.stderr  # a pair's score is cross-play's


def test_a_finished_clone_is_kept_and_one_of_other_settings_refused(tmp_path):
    playing = ("evaluate", "overcooked", "--layouts", "cramped_room", "--episodes", 2, "--no-report", "--workers", 1)
    done = run(*playing, "--out", tmp_path / "games")
    assert done.exit_code == 0, done.output
    clone = ("train", "bc", "Overcooked-v0", "--set", "layout=cramped_room", "obs=features")
    clone += ("--data", tmp_path / "games", "--out", tmp_path / "clone", "--hyper")
    first = run(*clone, "epochs=2", "trunk=[8]")
    assert first.exit_code == 0 and "written" in first.stderr, first.output
    again = run(*clone, "trunk=[8]", "epochs=2", "learning_rate=0.001")  # in another order, with a default
    assert again.exit_code == 0 and "the policy is there" in again.stderr, again.output
    other = run(*clone, "epochs=3", "trunk=[8]")
    assert other.exit_code == 2 and "epochs was 2, now 3" in other.stderr


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ("train ppo --config c --out runs/a --seed 1", "train ppo --config c --seed 1"),
        ("train ppo --seeds 0 1 2 --workers=4 --config /home/me/c.yaml --log wandb", "train ppo --config c.yaml"),
        ("train --out=/x/a ppo E --pool a/b/pool.yaml ../fcp.yaml", "train ppo E --pool pool.yaml fcp.yaml"),
        ("train --out /x/a ppo E --data a/b c", "train ppo E --data b c"),
        ("train ppo --hyper partners=[a/p.npz,b/q#n] start=/c/r", "train ppo --hyper 'partners=[p.npz,q#n]' start=r"),
    ],
)  # fmt: skip
def test_commands_in_policy_files_do_not_say_where_and_how_many_trainings_ran(arguments, kept):
    assert kept_command(arguments.split()) == f"collab-overcooked {kept}"


def test_the_same_training_elsewhere_has_the_same_digest(trained, tmp_path, monkeypatch):
    """By which pools and policies know whom a policy has met."""
    digests = set()
    for place in ("here", "there"):
        folder = tmp_path / place
        shutil.copytree(trained[0] / "cuisine-0", folder / "partner")
        text = ("train", "ppo", "CuisineWorld-v0", *LITTLE, f"start={folder}/partner/policy.npz")
        text += (f"partners=[{folder}/partner/policy.npz]", "--steps", "320", "--out", str(folder / "ego"))
        monkeypatch.setattr("sys.argv", ["collab-overcooked", *text])
        done = run(*text)
        assert done.exit_code == 0, done.output
        digests.add(file_digest(folder / "ego" / "policy.npz"))
    assert len(digests) == 1


@pytest.fixture
def measure(monkeypatch, capsys):
    """Run the script that measures trainings, and return what it prints."""

    def measured(*arguments):
        monkeypatch.setattr("sys.argv", ["train_results.py", *map(str, arguments)])
        capsys.readouterr()
        main()
        return capsys.readouterr().out

    return measured


def test_results_are_gathered_beside_published_numbers(trained, tmp_path, measure):
    folder, _ = trained
    printed = measure(folder, "--out", tmp_path / "baselines.json", "--games", 4)
    (entry,) = json.loads((tmp_path / "baselines.json").read_text())["cuisine"].values()
    assert entry["steps"] == 320 and entry["sample"]["games"] == 4 and 0 <= entry["greedy"]["success"] <= 1
    row = "| cuisine | CuisineWorld-v0, level level_1, agents 2 | return | 0 | 320 |"
    assert row in " ".join(printed.split())
    with pytest.raises(SystemExit):
        measure(tmp_path / "nowhere")


def test_trainings_that_others_start_from_are_no_results(trained, tmp_path, measure):
    folder, _ = trained
    shutil.copytree(folder / "cuisine-0", tmp_path / "first-0")
    start = f"start={tmp_path}/first-0/policy.npz"
    done = run("train", "ppo", "CuisineWorld-v0", *LITTLE, start, "--steps", 320, "--out", tmp_path / "then-0")
    assert done.exit_code == 0, done.output
    printed = measure(tmp_path, "--games", 2, "--ship", tmp_path / "weights")
    assert "| then |" in printed and f"{tmp_path}/first" not in printed and "| first" not in printed
    assert [path.name for path in (tmp_path / "weights").iterdir()] == ["then.npz"]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (("train", "pppo", "CuisineWorld-v0"), "unknown algorithm 'pppo'; did you mean ppo"),
        (("train", "ppo", "--steps", 5), "env is missing"),
        (("train", "ppo", "CuisineWorld-v0"), "steps is missing"),
        (("train", "ppo", "--config", "cramped_rom"), "did you mean cramped_room"),
        (("train", "ppo-bc", "CuisineWorld-v0", "--steps", 5), "partners is missing"),
        (("train", "bc", "CuisineWorld-v0"), "data is missing"),
        (("train", "bc", "CuisineWorld-v0", "--steps", 5), "cloning goes by epochs"),
        (("train", "pbt", "CuisineWorld-v0", "--steps", 5, "--hyper", "population=1"), "population must be"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text, answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = run(*text)
    assert done.exit_code == 2 and answer in done.stderr and done.stderr.count("\n") == 1


def a_run(value: float) -> dict:
    scores = {"return": value, "success": value / 300}
    return {"steps": 1000, "version": __version__, "sample": scores, "greedy": scores}


def test_the_table_says_where_published_numbers_are_reached_and_where_not():
    results = {
        "counter_circuit": {"0": a_run(130.0)},
        "cramped_room": {"0": a_run(200.0), "1": a_run(210.0)},
        "mine": {"0": a_run(1.0)},
        "pbt_locked": {"0": a_run(170.0)},
    }
    lines = table(results).splitlines()
    assert lines[2].startswith("| cramped_room | Overcooked-v0 | return | 0, 1 | 1,000 | 205.0 (200.0, 210.0) |")
    assert lines[2].endswith("| PPO_SP: yes, PBT: no |")
    assert "PPO_SP 122.3, PBT 140.1" in lines[3] and lines[3].endswith("| PPO_SP: yes, PBT: no |")
    assert lines[4].startswith("| pbt_locked |") and lines[4].endswith("| PBT 175.8 | PBT: no |")
    assert lines[5].endswith("| none |  |")


def test_results_of_other_versions_are_marked():
    results = {"mine": {"0": a_run(1.0), "1": a_run(2.0) | {"version": "0.9.0"}}}
    rows = [row.split(" | ") for row in table(results).splitlines()[2:]]
    assert [(row[0], row[3]) for row in rows] == [("| mine", "0"), ("| mine (version 0.9.0)", "1")]


def test_the_median_seed_is_shipped():
    runs = {str(seed): a_run(value) for seed, value in enumerate((5.0, 1.0, 9.0, 3.0, 4.0))}
    assert median_seed(runs, "return") == "4"
    assert median_seed({"3": a_run(2.0), "1": a_run(2.0), "2": a_run(1.0), "0": a_run(7.0)}, "return") == "1"


def test_every_option_that_differs_is_named_and_has_a_row_without_published_numbers():
    plain = {"env_id": "Overcooked-v0", "env_kwargs": {"layout": "cramped_room"}}
    other = {"env_id": "Overcooked-v0", "env_kwargs": {"layout": "cramped_room", "lexicon": "alien"}}
    results = {"cramped_room": {"0": a_run(200.0), "1": a_run(210.0) | plain, "2": a_run(900.0) | other}}
    rows = [row.split(" | ") for row in table(results).splitlines()[2:]]
    assert [row[1] for row in rows] == ["Overcooked-v0", "Overcooked-v0, lexicon alien"]
    assert [row[3] for row in rows] == ["0, 1", "2"] and rows[0][5].startswith("205.0")
    assert "PPO_SP" in rows[0][7] and rows[1][7] == "none"


ROOT = Path(__file__).resolve().parents[2]
BUILTIN = {name: read_policy(policy_path(name)).meta for name in (*builtin_policies(), *builtin_partners())}


@pytest.mark.parametrize("name", [name for name, meta in BUILTIN.items() if meta.get("version") == __version__])
def test_commands_in_builtin_policies_are_those_of_this_version(name):
    program, *arguments = shlex.split(BUILTIN[name]["command"])
    if program == "python":  # a partner of a pool that nobody met
        script, *words = arguments
        options = runpy.run_path(str(ROOT / script))["make_parser"]().parse_args(words)
        assert name.startswith(f"partners/{options.pool}_") and options.stage == ["apart"]
        return
    assert (program, arguments[0]) == ("collab-overcooked", "train")
    _, bound, _ = commands.parse_args(arguments, exit_on_error=False, print_error=False)
    assert bound.arguments["algorithm"] in ALGORITHMS
    assert bound.arguments.get("config", "cramped_room") in shipped_configs()


def test_builtin_policies_of_other_versions_are_marked():
    page = trained_policies()
    for name in builtin_policies():
        version = BUILTIN[name].get("version", "before 1.1.0")
        if version != __version__ and not is_stand_in(name):
            (row,) = (line for line in page.splitlines() if f"`ppo:{name}`" in line)
            assert f"(version {version})" in row


def test_builtin_policies_were_trained_with_the_options_of_their_configurations():
    for name in {*builtin_policies()} & {*shipped_configs()}:
        meta = read_policy(policy_path(name)).meta
        assert _variant(name, meta) == _variant(name, {}), name


def test_published_numbers_are_those_of_the_papers():
    numbers = published()
    assert [numbers[name]["PPO_SP"] for name in list(numbers)[:5]] == [198.8, 167.2, 190.8, 151.9, 122.3]
    populations = {
        name: numbers[name]["PBT"] for name in shipped_configs() if name.startswith("pbt_") and name in numbers
    }
    assert populations == {f"pbt_{layout}": numbers[layout]["PBT"] for layout in list(numbers)[:7]}, "one for each"
    assert [numbers[f"cuisineworld_level_{k}"]["masked PPO"] for k in (1, 4)] == [0.451, 0.598]


def test_curves_are_thinned_and_keep_their_ends():
    log = [{"steps": k, "return": None if k < 3 else float(k)} for k in range(500)]
    points = curve(log)
    assert len(points) <= 40 and points[0] == [3, 3.0] and points[-1] == [499, 499.0]
    assert curve([]) == []
