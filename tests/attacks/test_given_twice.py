"""The same run, name or setting given twice: refused in a line that names it, never counted or ignored in silence."""

from __future__ import annotations

import shutil
import threading
from typing import Any

import pytest
from attacks.records import write_records
from support.cli_runner import CliRunner

from collab_overcooked.baselines.cloning import read_choices
from collab_overcooked.baselines.curves import training_folders
from collab_overcooked.cli import app
from collab_overcooked.evaluation.suites import plan_evaluation
from collab_overcooked.io.file_lock import FileLock
from collab_overcooked.io.files import check_distinct_files
from collab_overcooked.policies.llm.budget import parse_budget, parse_prices
from collab_overcooked.policies.llm.settings import parse_settings
from collab_overcooked.policies.specs import make_policy
from collab_overcooked.registry import load_game
from collab_overcooked.reporting.frame import frame
from collab_overcooked.reporting.results_file import run_folders
from collab_overcooked.runner.records import CONFIG, RECORDS, read_records
from collab_overcooked.runner.run import LOCK, only_writer

pytestmark = pytest.mark.attacks


@pytest.fixture(scope="module")
def ways(donors, tmp_path_factory):
    """A run folder, and the ways that lead to it or to its records."""
    root = tmp_path_factory.mktemp("ways")
    run = write_records(root / "run", [donors["rush"] | {"suite": ""}])
    (run / CONFIG).write_text("{}")
    (root / "link").symlink_to(run)
    (root / "file.jsonl").hardlink_to(run / RECORDS)
    ways = [run, root / "." / ".." / root.name / "run", root / "link", run / RECORDS, root / "link" / RECORDS]
    return [*ways, root / "file.jsonl"]


def invoke(*words: object) -> Any:
    return CliRunner(env={"COLUMNS": "300"}).invoke(app, list(map(str, words)), catch_exceptions=False)


@pytest.mark.parametrize("number", range(6))
def test_a_run_that_is_given_twice_is_refused_on_every_way(ways, number, tmp_path):
    run, other = ways[0], ways[number]
    for words in (
        ("score", run, other),
        ("score", "--compare", run, other),
        ("significance", run, other),
        *(("export", form, run, other, "--out", tmp_path / form) for form in ("npz", "chat")),
    ):
        done = invoke(*words)
        assert done.exit_code == 2 and not done.stdout and "it would count twice" in done.stderr, (words, done.output)
        assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match=r"frame: .*name it once, as it would count twice"):
        frame(run, other)
    with pytest.raises(ValueError, match=r"data: .*name it once"):
        read_choices(load_game("KitchenRush-v0"), [str(run), str(other)], None)


def test_a_copy_is_another_run(ways, tmp_path):
    shutil.copytree(ways[0], tmp_path / "copy")
    check_distinct_files("runs", [ways[0], tmp_path / "copy"], within=RECORDS)
    assert len(frame(ways[0], tmp_path / "copy")) == 2 * len(frame(ways[0]))


def test_a_record_in_memory_is_given_once(ways):
    records = read_records(ways[0])
    for played in ((records, records), ([*records, *records],)):
        with pytest.raises(ValueError, match="is given twice"):
            frame(*played)


def test_folders_that_are_searched_count_once(ways, tmp_path):
    assert run_folders([ways[0], ways[0].parent / "run", ways[0]]) == [ways[0]]
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "log.jsonl").write_text('{"steps": 1}\n')
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert training_folders([tmp_path / "a", tmp_path / "b", tmp_path]) == [tmp_path / "a"]


TWICE = {
    "evaluate rush --set max_cycles=2 max_cycles=3": "set: 'max_cycles' is given twice",
    "evaluate rush --set max_cycles=2 --set max_cycles=2": "set: 'max_cycles' is given twice",
    "evaluate overcooked --max-cycles 2 --set max_cycles=5": "max_cycles: is given twice",
    "evaluate overcooked --max-cycles 400 --set max_cycles=5": "max_cycles: is given twice",
    "evaluate overcooked-v2 --max-cycles 400 --set max_cycles=5": "max_cycles: is given twice",
    "evaluate overcooked --set layout=cramped_room": "'layout' is set by --layouts",
    "evaluate collab-overcooked --gamma 1.2 --set gamma=2": "'gamma' is set by --gamma",
    "evaluate overcooked --layouts cramped_room cramped_room": "layouts: 'cramped_room' is given twice",
    "evaluate overcooked --layouts cramped_room,cramped_room": "layouts: 'cramped_room' is given twice",
    "evaluate overcooked --layouts cramped_room --layouts cramped_room": "layouts: 'cramped_room' is given twice",
    "evaluate overcooked --layouts all cramped_room": "layouts: 'cramped_room' is given twice",
    "evaluate overcooked-v2 --layouts all paper": "layouts: ",
    "evaluate overcooked-v2 --views all all": "views: 'all' is given twice",
    "evaluate collab-overcooked --levels 1,1": "levels: '1' is given twice",
    "evaluate collab-overcooked --levels 1-3,2": "levels: 2 is given twice",
    "evaluate collab-overcooked --tasks boiled_egg boiled_egg": "tasks: 'boiled_egg' is given twice",
    "evaluate initiations --levels 2,1-2": "levels: 2 is given twice",
    "evaluate cuisineworld --levels 1 level_1": "levels: 'level_1' is given twice",
    "evaluate cuisineworld --agents 2 2": "agents: 2 is given twice",
    "evaluate cuisineworld --alphas 1 1.0": "alphas: 1.0 is given twice",
    "evaluate rush --scenario easy easy": "scenario: 'easy' is given twice",
    "evaluate rush --teacher none none": "teacher: 'none' is given twice",
    "evaluate craft --paces 1,2,1": "paces: 1 is given twice",
    "evaluate housework --tasks set_table,set_table": "tasks: 'set_table' is given twice",
    "evaluate transport --rooms 6 6": "rooms: 6 is given twice",
    "evaluate collab-escape --maps own own": "maps: 'own' is given twice",
    "evaluate questions --kinds own own": "kinds: 'own' is given twice",
    "questions list --kinds own own": "kinds: 'own' is given twice",
    "evaluate rush --team all=greedy all=random": "team: seat all is given twice",
    "evaluate rush --team all=llm:m?agent=choose,agent=partner": "policy 'llm': 'agent' is given twice",
    "evaluate rush --team all=mcts:depth=2,depth=3": "policy 'mcts': 'depth' is given twice",
    "evaluate rush --team all=llm:m --price 1/2,1/3": "price: that of every model is given twice",
    "evaluate rush --team all=llm:m --price m=1/2 --price m=1/2": "--price specified multiple times",
    "evaluate rush --team all=llm:m --budget calls=1,calls=2": "budget: 'calls' is given twice",
    "evaluate rush --team all=llm:m --budget-total calls=1 calls=2": "budget-total: 'calls' is given twice",
    "evaluate rush --seed 1 --seed 2": "--seed specified multiple times",
    "compare --games rush --budget small --budget full": "--budget specified multiple times",
    "train ppo KitchenRush-v0 --out NEW --steps 1 --steps 2": "--steps specified multiple times",
    "play rush --no-open --set max_cycles=2 max_cycles=3": "set: 'max_cycles' is given twice",
    "compare --games rush --policies random random": "policies: 'random' is given twice",
    "compare --games rush rush": "games: 'rush' is given twice",
    "compare --games rush --set rush.max_cycles=2 rush.max_cycles=3": "set: 'rush.max_cycles' is given twice",
    "crossplay --env KitchenRush-v0 --pool random random": "pool: 'random' is given twice",
    "crossplay --env KitchenRush-v0 --pool random greedy --set agents=2 agents=2": "set: 'agents' is given twice",
    "list tasks --set kitchen=paper kitchen=paper": "set: 'kitchen' is given twice",
    "describe boiled_egg --set gamma=1 gamma=2": "set: 'gamma' is given twice",
    "score RUN --counting steps --set counting=orders": "counting is given twice, by --counting and by --set",
    "score RUN --counting orders --set counting=steps": "counting is given twice, by --counting and by --set",
    "score RUN --set counting=orders counting=steps": "set: 'counting' is given twice",
    "score RUN --metrics return return": "metrics: 'return' is given twice",
    "report RUN --counting steps --set counting=orders": "counting is given twice",
    "significance RUN OTHER --metrics return return": "metrics: 'return' is given twice",
    "export npz RUN --set obs=features obs=features --out NEW": "set: 'obs' is given twice",
    "export npz RUN --tasks a a --out NEW": "tasks: 'a' is given twice",
    "study rehearse cots_partner 1 --partner x=greedy x=random": "partner: 'x' is given twice",
    "train ppo KitchenRush-v0 --out NEW --steps 100 --hyper steps=200": "steps is given twice, by --steps and by",
    "train ppo KitchenRush-v0 --out NEW --seed 1 --hyper seed=1": "seed is given twice, by --seed and by --hyper",
    "train ppo KitchenRush-v0 --out NEW --hyper env=Overcooked-v0": "env is given twice",
    "train ppo KitchenRush-v0 --out NEW --hyper steps=1 steps=2": "hyper: 'steps' is given twice",
    "train ppo KitchenRush-v0 --out NEW --set agents=2 agents=2": "set: 'agents' is given twice",
    "train ppo KitchenRush-v0 --out NEW --set agents=2 --hyper options={agents:2}": "options is given twice, by --set",
    "train ppo KitchenRush-v0 --out NEW --seeds 1 2 --seed 3": "seeds: --seeds has the seed of every training",
    "train ppo KitchenRush-v0 --out NEW --seeds 1 2 --hyper seed=3": "seeds: --seeds has the seed of every training",
    "train ppo KitchenRush-v0 --out NEW --seeds 1 1": "seeds: 1 is given twice",
    "train population KitchenRush-v0 --out NEW --method fcp --hyper method=mep": "method is given twice",
    "train bc KitchenRush-v0 --out NEW --data RUN RUN": "data: ",
    "train bc KitchenRush-v0 --out NEW --data RUN --hyper data=[RUN]": "data is given twice",
    "train ego KitchenRush-v0 --out NEW --steps 100 --pool kitchen_rush kitchen_rush": "pool: ",
}


@pytest.mark.parametrize("words", TWICE)
def test_what_is_set_twice_is_refused_by_its_name(words, ways, donors, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = write_records(tmp_path / "other", [donors["rush"]])
    places = {"RUN": str(ways[0]), "OTHER": str(other), "NEW": str(tmp_path / "new")}
    filled = words
    for key, place in places.items():
        filled = filled.replace(key, place)
    done = invoke(*filled.split())
    assert done.exit_code == 2, done.output
    assert TWICE[words] in done.stderr and done.stderr.startswith("error: "), done.stderr
    assert len(done.stderr.splitlines()) == 1 and not (tmp_path / "new").exists() and not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("suite", "options"),
    [
        ("overcooked", {"layouts": "cramped_room,cramped_room"}),
        ("overcooked", {"layouts": ["cramped_room", "cramped_room"]}),
        ("overcooked", {"layouts": "cramped_room", "max_cycles": 400, "options": {"max_cycles": 5}}),
        ("cuisineworld", {"agents": [2, 2]}),
        ("rush", {"scenario": ["easy", "easy"]}),
        ("transport", {"containers": (2, 2)}),
    ],
)
def test_callers_in_python_are_told_the_same(suite, options):
    with pytest.raises(ValueError, match="is given twice"):
        plan_evaluation(suite, ["all=random"], **options)


def test_switches_of_two_teachers_may_be_equal():
    teacher = "teacher_group:llm:m?tokens=9,repairs=2,teacher_individual:llm:n?tokens=9,repairs=2"
    plan = plan_evaluation("rush", ["all=greedy"], scenario=["easy"], domain=["kitchen"], teacher=teacher, runs=1)
    assert len(plan.teams()) and [spec for kind in plan.templates for spec in kind.teachers()] == [
        "llm:m?tokens=9,repairs=2",
        "llm:n?tokens=9,repairs=2",
    ]


def test_readers_of_texts_refuse_what_they_would_overwrite():
    for read, text in (
        (parse_prices, "m=1/2,m=1/2"),
        (parse_budget, "tokens=1,tokens=2"),
        (parse_settings, "m?seed=1,seed=2"),
        (make_policy, "planner:width=3,width=4"),
        (make_policy, "sb3:x.zip,obs=features,obs=lossless"),
        (make_policy, "sb3:x.zip,sample,greedy"),
    ):
        with pytest.raises(ValueError, match="given twice"):
            read(text)


def test_two_processes_do_not_write_to_one_dataset(ways, tmp_path):
    out = tmp_path / "dataset"
    with only_writer(out, "busy"):
        done = invoke("export", "npz", ways[0], "--out", out)
        assert done.exit_code == 2 and "another export writes to this folder" in done.stderr
        assert [path.name for path in out.iterdir()] == [LOCK]
    assert not out.exists(), "a folder into which nothing was written is left"


def test_two_processes_do_not_train_in_one_folder(tmp_path):
    out = tmp_path / "training"
    for algorithm in ("ppo", "pbt", "population", "sa", "bc"):
        data = ["--data", tmp_path] if algorithm == "bc" else ["--steps", 100]
        for seeds in ([], ["--seeds", 1, 2, "--workers", 1]):
            if seeds and algorithm != "ppo":
                continue
            with only_writer(out, "busy"):
                done = invoke("train", algorithm, "KitchenRush-v0", "--out", out, *data, *seeds)
            assert done.exit_code == 2 and "another training writes to this folder" in done.stderr, done.output
    assert not out.exists()


def test_of_many_writers_one_has_the_folder_at_a_time(tmp_path):
    inside, most, refused, done = [], [], [], []

    def write() -> None:
        for _ in range(50):
            try:
                with only_writer(tmp_path / "x", "busy"):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
                    done.append(1)
            except OSError as error:
                refused.append(error)

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done and max(most) == 1 and all("busy" in str(error) for error in refused), refused


def test_a_temporary_lock_is_that_of_the_file_that_is_there(tmp_path):
    path = tmp_path / "lock"
    first = FileLock(path, temporary=True)
    with pytest.raises(BlockingIOError):
        FileLock(path, temporary=True)
    first.release()
    assert not path.exists()
    with FileLock(path, temporary=True):
        with pytest.raises(BlockingIOError):
            FileLock(path)
    assert not path.exists()
