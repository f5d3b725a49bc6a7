from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pydantic  # noqa: F401  cyclopts checks types by it as soon as any library has imported it
import pytest
from support.cli_runner import CliRunner

from collab_overcooked import __version__, registry
from collab_overcooked.cli import app


def run(*text):
    return CliRunner().invoke(app, [str(word) for word in text], catch_exceptions=False)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "run"
    command = ["evaluate", "collab-overcooked", "--team", "agent_0=random", "agent_1=random", "--tasks", "boiled_egg"]
    done = run(*command, "--episodes", "2", "--seed", "0", "--workers", "1", "--out", folder)
    assert done.exit_code == 0, done.output
    return folder, done


def test_evaluate_prints_the_table_and_fills_the_folder(finished):
    folder, done = finished
    assert "all=random" in done.stdout
    assert "Timesteps" in done.stdout
    names = {path.name for path in folder.iterdir()}
    assert names == {".lock", "config.json", "records.jsonl", "table.md", "table.csv", "table.json", "report.html"}
    assert json.loads((folder / "config.json").read_text())["team"] == ["random", "random"]


def test_evaluate_goes_on_where_it_stopped(finished):
    folder, _ = finished
    before = (folder / "records.jsonl").read_bytes()
    (folder / "records.jsonl").write_bytes(before[:-10])
    team = ["--team", "agent_1=random", "agent_0=random"]
    done = run(
        *EVALUATE[:2],
        *team,
        "--tasks",
        "boiled_egg",
        "--episodes",
        "2",
        "--workers",
        "1",
        "--out",
        folder,
        "--no-report",
    )
    assert done.exit_code == 0, done.output
    assert "1 of 2 episodes are there" in done.stderr
    assert (folder / "records.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "team",
    [
        ["--team", "agent_0=random", "agent_1=random"],
        ["--team", "agent_0=random", "--team", "agent_1=random"],
        ["--team=agent_0=random", "agent_1=random"],
    ],
)
def test_teams_and_settings_may_be_written_in_several_ways(tmp_path, team):
    settings = ["--set", "knowledge=full", "stuck_limit=4"]
    rest = ["--tasks", "boiled_egg", "--out", tmp_path, "--workers", "1", "--no-report"]
    done = run("evaluate", "collab-overcooked", *team, *settings, *rest)
    assert done.exit_code == 0, done.output
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["team"] == ["random", "random"]
    assert config["options"] == {"kitchen": "paper", "gamma": 1.5, "knowledge": "full", "stuck_limit": 4}


def test_score_gives_the_table_of_the_run(finished):
    folder, done = finished
    again = run("score", folder)
    assert again.exit_code == 0
    assert again.stdout.strip() in done.stdout
    written = run("score", folder / "records.jsonl", "--format", "markdown", "--denominator", "required").stdout
    assert "| Level | Runs | SR % |" in written
    assert json.loads(run("score", folder, "--format", "json").stdout)[0]["team"] == "all=random"
    assert run("score", folder, "--format", "csv").stdout.startswith("title,team,group,name")


def test_replay_steps_through_an_episode(finished):
    folder, _ = finished
    done = run("replay", folder, "--episode", "1")
    assert done.exit_code == 0
    assert "boiled_egg, episode 1" in done.stdout
    assert done.stdout.count("agent_1: ") >= 25
    assert "not delivered after 25 timesteps" in done.stdout


def test_replay_check_believes_the_record(finished):
    done = run("replay", finished[0], "--check")
    assert done.exit_code == 0
    assert "2 of 2 episodes replay to the same events and rewards (50 steps)" in done.stdout


def test_replay_check_finds_a_changed_record(finished, tmp_path):
    lines = (finished[0] / "records.jsonl").read_text().splitlines()
    record = json.loads(lines[1])
    record["steps"][7]["rewards"] = [1.0, 1.0]
    path = tmp_path / "changed.jsonl"
    path.write_text(lines[0] + "\n" + json.dumps(record) + "\n")
    done = run("replay", path, "--check")
    assert done.exit_code == 1
    assert "boiled_egg, episode 1: steps[7].rewards[0]: recorded 1.0, replayed 0.0" in done.stdout
    assert "1 of 2 episodes" in done.stdout


@pytest.mark.parametrize(("name", "start"), [("film.gif", b"GIF8"), ("last.png", b"\x89PNG")])
def test_render_draws_an_episode(finished, tmp_path, name, start):
    done = run("render", finished[0], "--episode", "0", "--out", tmp_path / name)
    assert done.exit_code == 0, done.output
    assert (tmp_path / name).read_bytes().startswith(start)


def test_report_is_made_again(finished):
    folder, _ = finished
    before = (folder / "report.html").read_bytes()
    (folder / "report.html").unlink()
    assert run("report", folder).exit_code == 0
    assert (folder / "report.html").read_bytes() == before


def test_all_of_several_files_are_checked_each_as_its_kind(tmp_path):
    good, broken, level = (tmp_path / name for name in ("good.yaml", "broken.yaml", "level.yaml"))
    good.write_text("extends: cramped_room\nname: good\n")
    broken.write_text("grid: [")
    level.write_text("extends: level_1\nname: level\n")
    done = run("check", broken, good, tmp_path / "absent.yaml", level, "--par", "none")
    assert done.exit_code == 2
    for text in ("CANNOT BE READ", "broken.yaml", "good: 5 x 4", "absent.yaml: No such file", "level"):
        assert text in done.stdout, done.stdout
    values = json.loads(run("check", broken, good, "--par", "none", "--json").stdout)
    assert sorted(values[0]) == ["error", "file"] and len(values) == 2
    assert run("check", "layouts", good, "--par", "none").exit_code == 0


def test_list_alone_names_what_can_be_listed():
    names = run("list").stdout.split()
    assert {"envs", "suites", "policies", "tasks", "layouts"} <= set(names)
    assert "collab-escape" in run("list", "suites").stdout


@pytest.mark.parametrize(
    ("what", "text"),
    [
        ("envs", ["CollabOvercooked-v0"]),
        ("tasks", ["boiled_egg", "level 6, reference time 64"]),
        ("kitchens", ["paper", "shared_floor", "three_agents"]),
        ("policies", ["random", "planner", "noisy"]),
        ("levels", ["1  baked_bell_pepper, ", "6  "]),
        ("maps", ["collab-capture:\n", "collab-escape:\n", "ten_rooms "]),  # every suite that has some
    ],
)
def test_list_shows_what_there_is(what, text):
    done = run("list", what)
    assert done.exit_code == 0
    assert all(word in done.stdout for word in text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("CollabOvercooked-v0", ["Discrete(234)", "gamma: Time limit"]),
        (
            "boiled_egg",
            ["Cook egg in the pot", "Time limit: 25 timesteps", "agent_1 (Alice): pickup(egg,ingredient_dispenser)"],
        ),
        ("three_agents", ["1 X 0", "agent_2: Carol", "Level 6"]),
        ("craft", ["craft: Orders with deadlines", "CraftKitchen-v0:", "pace: Pace of orders"]),
        ("questions", ["questions: Questions with proven answers", "A suite of several games."]),
    ],
)
def test_describe_tells_about_it(name, text):
    done = run("describe", name)
    assert done.exit_code == 0
    assert all(word in done.stdout for word in text), done.stdout


def test_describe_a_task_in_a_kitchen_without_references():
    assert "No reference trajectories" in run("describe", "boiled_egg", "--set", "kitchen=three_agents").stdout


def test_kitchen_files_are_checked(tmp_path):
    assert run("check", "paper").stdout.startswith("OK: paper, 2 agents, 30 tasks")
    file = tmp_path / "mine.yaml"
    file.write_text("extends: paper\nname: mine\ngravity: 9.81\n")
    done = run("check", file)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: mine.yaml, line 3: unknown key 'gravity'")


def test_version_is_printed():
    assert run("--version").stdout == f"collab-overcooked {__version__}\n"


TEAM = ["--team", "agent_0=random", "agent_1=random"]
EVALUATE = ["evaluate", "collab-overcooked", "--out", "OUT"]


@pytest.mark.parametrize(
    ("texts", "named"),
    [
        ([*EVALUATE, "--team", "agent_0=randm", "agent_1=random"], "unknown policy 'randm'; did you mean random"),
        ([*EVALUATE, "--team", "agent_0=random"], "no policy for agent_1"),
        ([*EVALUATE, "--team", "agent_0=random", "agent_7=random"], "unknown seat 'agent_7'"),
        ([*EVALUATE, "--team", "random"], "'random' should read seat=policy"),
        ([*EVALUATE, *TEAM, "--tasks", "boiled_eg"], "unknown task 'boiled_eg'; did you mean boiled_egg"),
        ([*EVALUATE, *TEAM, "--levels", "1-7"], "unknown level 7; known: 1, 2, 3, 4, 5, 6"),
        ([*EVALUATE, *TEAM, "--levels", "one"], "cannot read 'one'"),
        ([*EVALUATE, *TEAM, "--levels", "1", "--tasks", "boiled_egg"], "either levels or tasks"),
        ([*EVALUATE, *TEAM, "--episodes", "0"], "episodes must be"),
        ([*EVALUATE, *TEAM, "--episodes", "many"], "--episodes"),
        ([*EVALUATE, *TEAM, "--seed", "-4"], "seed must be"),
        ([*EVALUATE, *TEAM, "--gamma", "0"], "gamma must be"),
        ([*EVALUATE, *TEAM, "--workers", "0"], "workers must be"),
        ([*EVALUATE, *TEAM, "--workers", "0"], "workers must be"),
        ([*EVALUATE, *TEAM, "--max-messages", "0"], "max_messages must be"),
        ([*EVALUATE, *TEAM, "--kitchen", "palace"], "unknown kitchen 'palace'"),
        ([*EVALUATE, *TEAM, "--kitchen", "absent.yaml"], "absent.yaml: No such file"),
        ([*EVALUATE, *TEAM, "--set", "knowlege=full"], "unknown option 'knowlege'; did you mean knowledge"),
        ([*EVALUATE, *TEAM, "--set", "knowledge=[full"], "cannot read the value of 'knowledge=[full'"),
        ([*EVALUATE, *TEAM, "--set", "knowledge"], "should read key=value"),
        (
            ["evaluate", "collab-overcooked", *TEAM, "--tasks", "boiled_egg", "--out", "FILE/run"],
            "run: Not a directory",
        ),
        (["evaluate", "collab-overcooked", *TEAM, "--tasks", "boiled_egg", "--out", "FILE"], "file.txt: File exists"),
        (
            ["evaluate", "collab-overcooked", *TEAM, "--tasks", "boiled_egg", "--out", "RUN"],
            "another configuration: matches[0].env_kwargs.task was 'boiled_corn', now 'boiled_egg'",
        ),
        (["score", "absent.jsonl"], "absent.jsonl: cannot be read: No such file"),
        (["score", "OUT"], "OUT"),
        (["score", "CUT"], "cut.jsonl, line 2: is truncated or no JSON"),
        (["score", "RUN", "--denominator", "all"], "unknown denominator 'all'; known: conversations, required"),
        (["score", "RUN", "--format", "tabel"], "unknown format 'tabel'; did you mean table"),
        (["replay", "absent"], "absent: cannot be read"),
        (["replay", "CUT"], "cut.jsonl, line 2"),
        (["replay", "RUN", "--episode", "5"], "5 does not exist; the episodes are 0 to 0"),
        (["replay", "RUN", "--task", "boiled_eg"], "unknown task in this file 'boiled_eg'; did you mean boiled_egg"),
        (["render", "RUN", "--out", "film.avi"], "film.avi should end in .png, .gif or .mp4"),
        (["render", "RUN", "--out", "absent/film.gif"], "no folder absent"),
        (["render", "RUN", "--episode", "-1", "--out", "x.gif"], "-1 does not exist"),
        (["report", "absent"], "absent: no such run folder"),
        (["list", "task"], "unknown listing 'task'; did you mean tasks"),
        (["list", "tasks", "--set", "kitchen=palace"], "unknown kitchen 'palace'"),
        (
            ["describe", "boiled_eg"],
            "unknown environment, task, kitchen, level, craft-level, layout, scenario or map 'boiled_eg'",
        ),
        (["describe", "absent.yaml"], "absent.yaml: No such file"),
        (["check", "absent.yaml"], "absent.yaml: No such file"),
        (["evaluat"], "evaluat"),
        (["--nope"], "--nope"),
        (["evaluate", "--seed", "1"], "name what it is about before --seed: one of collab-overcooked, "),
        (["evaluate", "overcoked"], 'Did you mean "overcooked"?'),
        ([*EVALUATE, *TEAM, "--tasks", ",,"], "tasks: cannot read ',,'"),
        ([*EVALUATE, *TEAM, "--workers", "many"], "workers must be an integer of at least 1, ray or ray:ADDRESS"),
        (["evaluate", "rush", "--attribution", "late"], "unknown attribution 'late'"),
        (["list", "tasks", "--colour"], "--colour"),
    ],
)
def test_what_users_get_wrong_is_one_line(finished, tmp_path, texts, named):
    line = (finished[0] / "records.jsonl").read_text().splitlines()[0]
    run_folder = tmp_path / "one"
    run_folder.mkdir()
    (run_folder / "records.jsonl").write_text(line + "\n")
    config = (finished[0] / "config.json").read_text().replace("boiled_egg", "boiled_corn")
    (run_folder / "config.json").write_text(config)
    (tmp_path / "cut.jsonl").write_text(line + "\n" + line[:200])
    (tmp_path / "file.txt").write_text("here")
    places = {"OUT": "new", "FILE": "file.txt", "RUN": "one", "CUT": "cut.jsonl"}
    for key, name in places.items():
        texts = [word.replace(key, str(tmp_path / name)) if word.startswith(key) else word for word in texts]
    done = run(*texts)
    assert done.exit_code == 2
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith("error: ")
    assert named.replace("OUT", str(tmp_path / "new")) in done.stderr
    assert "Traceback" not in done.output


def test_a_traceback_is_there_for_those_who_ask():
    with pytest.raises(ValueError, match="unknown policy"):
        run("--traceback", "evaluate", "overcooked", "--team", "all=gredy", "--out", "never")


def test_help_loads_no_compiler_and_no_charts():
    code = (
        "import sys\nfrom collab_overcooked.cli import app\n"
        "for words in (['evaluate', '--help'], ['compare', '--help']):\n"
        "    try:\n        app(words)\n    except SystemExit:\n        pass\n"
        "print('LOADED', *({'numba', 'matplotlib', 'torch', 'PIL'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED"
    assert "--policies" in done.stdout and all(name in done.stdout for name in registry.suites())


@pytest.mark.parametrize("suite", registry.suites())
def test_help_of_a_suite_shows_its_own_options_and_the_common_ones(suite):
    done = run("evaluate", suite, "--help")
    assert done.exit_code == 0
    displayed = set(re.findall(r"--[a-z][a-z-]*", done.stdout))
    flags = {
        name: {
            field.metadata["flag"] or "--" + field.name.replace("_", "-")
            for field in fields(registry.load_suite_options(name).play)
        }
        for name in registry.suites()
    }
    entry, others = flags[suite], set().union(*flags.values())
    assert (
        entry | {"--team", "--seed", "--out", "--workers", "--set", "--max-messages", "--base-url", "--budget"}
        <= displayed
    )
    assert not displayed & (others - entry)


def test_an_option_of_another_suite_is_refused_with_near_matches():
    done = run("evaluate", "overcooked", "--layout", "cramped_room")
    assert done.exit_code == 2 and len(done.stderr.splitlines()) == 1
    assert "--layout" in done.stderr and "--layouts" in done.stderr
    assert run("evaluate", "overcooked", "--alphas", "1").exit_code == 2


def test_the_command_is_installed():
    command = Path(sys.executable).with_name("collab-overcooked")
    if not command.exists():
        pytest.skip("the package is not installed as a command here")
    done = subprocess.run([str(command), "list", "envs"], capture_output=True, text=True, check=True)
    assert "CollabOvercooked-v0" in done.stdout


def test_evaluate_without_a_team_plays_greedy_in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("evaluate", "collab-overcooked", "--tasks", "boiled_egg", "--no-report", "--workers", "1")
    assert result.exit_code == 0, result.output
    record = json.loads((tmp_path / "runs" / "collab-overcooked" / "records.jsonl").read_text().splitlines()[0])
    assert set(record["team"].values()) == {"greedy"}


# ------------------------------------------------------------------------------------------- files of one's own


def test_check_recognises_every_kind_of_file(tmp_path):
    (tmp_path / "mine.layout").write_text("{'grid': 'XXPXX\\nO1 2O\\nX   X\\nXDXSX'}")
    (tmp_path / "level.yaml").write_text("extends: base.yaml\nname: mine\n")
    (tmp_path / "base.yaml").write_text("extends: level_1\n")
    (tmp_path / "words.yaml").write_text("name: few\nwords: {pot: zorb}\n")
    (tmp_path / "own.yaml").write_text("name: own\ngrid: |\n  XXPXX\n  O1 2O\n  X   X\n  XDXSX\n")
    replies = {
        "mine.layout": "mine: 5 x 4, 2 players",
        "level.yaml": "mine (very simple)",
        "words.yaml": "few: 4 words, one to one",
        "own.yaml": "own: 5 x 4, 2 players",
    }
    for name, text in replies.items():
        options = ["--par", "none"] if "players" in text else []
        done = run("check", tmp_path / name, *options)
        assert text in done.stdout, done.output
    assert "no word for" in run("check", tmp_path / "words.yaml").stdout
    assert run("check", tmp_path / "words.yaml").exit_code == 1
    assert run("check", tmp_path / "own.yaml", "--par", "none").exit_code == 0


def test_check_says_with_its_exit_code_whether_a_file_holds(tmp_path):
    assert run("check", "level_12", "--alphas", "1.0").exit_code == 1  # a dish that cannot be made
    assert run("check", "levels", "--alphas", "1.0").exit_code == 0  # which the built-in set holds on purpose
    result = json.loads(run("check", "level_1", "--json", "--alphas", "2.0").stdout)
    assert result["name"] == "level_1" and list(result["times"]) == ["2.0"] and result["ok"]
    assert [one["name"] for one in json.loads(run("check", "level_1", "level_2", "--json").stdout)] == [
        "level_1",
        "level_2",
    ]
    (tmp_path / "odd.yaml").write_text("colour: red\n")
    for text, message in (
        (["check", "papper"], "unknown file or name 'papper'; did you mean paper"),
        (["check", tmp_path / "odd.yaml"], "odd.yaml: has no key of a kitchen, level, craft-level, layout,"),
        (["check", "level_1", "--par", "none"], "--par is not for levels, which take --alphas"),
        (["check", "--json"], "requires an argument"),
        (["check", "level_1", "--alphas", "0"], "must be numbers above 0"),
        (["generate", "Housework-v0", "--out", "x"], 'Unknown command "Housework-v0"'),
        (["generate", "Overcookd-v0", "--out", "x"], 'Did you mean "Overcooked-v0"?'),
        (
            ["generate", "Overcooked-v0", "--out", tmp_path / "x", "--pots", "3,1"],
            "pots must be a number or a pair [least, most], not (3, 1)",
        ),
    ):
        done = run(*text)
        assert done.exit_code == 2 and message in done.stderr, (text, done.output)


def test_generate_writes_layouts_as_wished(tmp_path):
    texts = [
        "generate",
        "Overcooked-v0",
        "--count",
        "2",
        "--rooms",
        "2",
        "--pots",
        "1,3",
        "--par",
        "none",
        "--seed",
        "4",
    ]
    done = run(*texts, "--out", tmp_path)
    assert done.exit_code == 0 and done.stdout.split() == ["procedural_4_0", "procedural_4_1"], done.output
    files = sorted(tmp_path.glob("*.yaml"))
    assert len(files) == 2 and run("check", *files, "--par", "none").exit_code == 0


# ------------------------------------------------------------------------------------------- first steps


def test_without_a_command_the_first_steps_are_shown():
    done = run()
    assert done.exit_code == 0
    commands = re.findall(r"collab-overcooked ((?:train|evaluate|play) .*)", done.stdout)
    assert len(commands) == 3
    for command in commands:
        name, *_ = command.split()
        assert set(re.findall(r"--[a-z]+", command)) <= set(re.findall(r"--[a-z-]+", help_of(*command.split())))
        assert name in done.stdout


def help_of(name: str, suite: str, *_: str) -> str:
    return run(name, *(() if name == "train" else (suite,)), "--help").stdout


def test_help_groups_every_command():
    from collab_overcooked.cli import PANELS

    listed = run("--help").stdout
    for panel, names in PANELS.items():
        assert f"─ {panel} ─" in listed
        assert all(re.search(rf"│ {name} +[A-Z]", listed) for name in names), "each says what it does"


def test_steps_may_be_written_with_an_exponent(tmp_path):
    done = run("train", "ppo", "--steps", "2.5", "--out", tmp_path)
    assert done.exit_code == 2 and "--steps: '2.5' is not an integer such as 20000 or 2e4" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("text", ["compare", "evaluate overcooked", "check levels", "study run", "score"])
def test_help_of_every_command_lists_import(text):
    assert "--import" in run(*text.split(), "--help").output


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("describe Overcooked-v0 --set agents=99", "agents must be an integer from 1 to 4, not 99"),
        ("describe cramped_room --set foo=1", "unknown option 'foo'"),
        ("describe level_9 --set agents=0", "agents must be an integer from 1 to 100, not 0"),
        ("describe rush --set foo=1", "unknown option 'foo'"),
        ("list levels --set foo=1", "unknown option 'foo'"),
        ("list envs --set foo=1", "--set is for names that a game has"),
        ("evaluate rush --team all=llm:x --dry-run --rate nan", "rate must be a number above 0, not nan"),
        ("evaluate rush --team all=llm:x --dry-run --timeout -1", "timeout must be a number above 0, not -1.0"),
        ("evaluate rush --team all=llm:x --dry-run --local-threads 0", "local-threads must be a number above 0, not 0"),
        ("evaluate rush --team all=llm:x --dry-run --max-unusable -1", "max-unusable must be at least 0, not -1"),
        ("evaluate rush --team all=llm:x --dry-run --max-corrections 99999999999", "an integer from 0 to 1000"),
        ("evaluate rush --team all=llm:x --dry-run --max-messages 99999999999", "an integer from 1 to 1000"),
    ],
)
def test_values_are_checked_where_they_are_given(command: str, problem: str) -> None:
    """Also by commands that need none of them for what they print."""
    done = run(*command.split())
    assert done.exit_code == 2 and problem in done.output, done.output
